package inspect

import (
	"context"
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// ProfileOptions are the options of [Profiles]. The zero value reads every leaf in full.
type ProfileOptions struct {
	// Keys, Schema and Mask select leaves and their masks, as in [DescribeOptions].
	Keys   []nestedkey.Key
	Schema tdict.Schema
	Mask   nestedkey.Key
	// ByColumn profiles each feature of a tensor separately.
	ByColumn bool
	// First and Columns select the columns of each tensor, with ByColumn: Columns of them, from
	// First on. 0 Columns means all that follow.
	First, Columns int
	// MaxBytes is the number of bytes beyond which a leaf is sampled; 0 means never. The section
	// Samples of the package documentation describes a sample.
	MaxBytes int64
	// Workers is how many blocks are read at a time; 0 means GOMAXPROCS. It does not change the
	// result.
	Workers int
}

// A Profile is the [Summary] of a leaf, or of a column of one, with the histograms of its values.
type Profile struct {
	Summary // Quantiles are at 0.01, 0.25, 0.5, 0.75 and 0.99

	Values  *Histogram // of numbers, of complex ones the absolute values; nil for text and Data
	Lengths *Histogram // of the rows of the last level of a ragged leaf, of text in bytes; or nil

	Texts     []TextCount // the most frequent texts, at most 20, ties in the order of their bytes
	Others    int         // rows whose text is not among Texts
	Different int         // number of different texts; -1 if TooMany, or no texts
	TooMany   bool        // more than 10,000 different texts, or 1 MiB of them: Texts is nil
	NotUTF8   int         // texts that are not UTF-8

	// Kinds counts the kinds of the rows of Data, by frequency: null, bool, number, text, list and
	// object.
	Kinds []TextCount

	// Read is how many positions were read: values of a tensor or ragged leaf, texts, or rows of
	// Data. Total is how many there are. Read is less than Total in a sample: then all counts,
	// extremes and quantiles are of the sample.
	Read, Total int
}

// A TextCount says how often a text occurs.
type TextCount struct {
	Text  string
	Count int
}

// profiled are the quantiles of a Profile.
var profiled = []float64{0.01, 0.25, 0.5, 0.75, 0.99}

// Profiles returns a Profile of each selected leaf, or of each selected column, in the order of the
// keys. Each leaf is read once or twice. Profiles must not run while td is changed.
//
// The package documentation says how bins are chosen. Results do not depend on opt.Workers.
//
// Profiles returns the errors of [Describe], and tdict.ErrKind if First, Columns or MaxBytes is
// negative.
func Profiles(ctx context.Context, td tdict.Dictionary, opt ProfileOptions) ([]Profile, error) {
	if opt.First < 0 || opt.Columns < 0 || opt.MaxBytes < 0 {
		return nil, fmt.Errorf("profiles: %w: got First %d, Columns %d and MaxBytes %d, want none negative",
			tdict.ErrKind, opt.First, opt.Columns, opt.MaxBytes)
	}
	d := newDescriber(ctx, "profiles", td, DescribeOptions{
		Keys: opt.Keys, Mask: opt.Mask, Schema: opt.Schema, ByColumn: opt.ByColumn, Quantiles: profiled, Workers: opt.Workers,
	})
	d.profile = &opt
	err := d.run()
	return d.all, err
}

// A HistogramForm is a kind of bars of a [Histogram].
type HistogramForm uint8

const (
	NoValue     HistogramForm = iota // no finite value, no bars
	OneValue                         // all finite values are equal: one bar
	EachValue                        // a bar for each value that occurs
	EachInteger                      // a bar for each integer from the minimum to the maximum
	EqualBins                        // bins of one width, and perhaps tails
)

// String returns the name of the form.
func (f HistogramForm) String() string {
	names := [...]string{"NoValue", "OneValue", "EachValue", "EachInteger", "EqualBins"}
	if int(f) < len(names) {
		return names[f]
	}
	return fmt.Sprintf("HistogramForm(%d)", uint8(f))
}

// A Histogram counts values. The counts of its bars, Below, Above, NaN, NegInf, PosInf and Missing
// add up to the number of values that were read.
type Histogram struct {
	Form HistogramForm
	Bars []Bar // ascending; EachInteger and EqualBins have empty bars too

	// Below and Above count the finite values in the tails, outside all bars.
	Below, Above int

	NaN, NegInf, PosInf int

	// Missing counts the values, or the lengths, that a mask hides. Of a ragged leaf it counts the
	// values of hidden rows, while Summary.Missing counts these rows.
	Missing int

	Count    int // finite values
	Min, Max any // of the finite values: int64, uint64 or float64; nil without one
	// Quantiles of the finite values, at 0.01, 0.25, 0.5, 0.75 and 0.99; nil without a value. They
	// are exact unless the bars are EqualBins.
	Quantiles []float64
	Width     any // of EqualBins: int64, uint64 or float64; else nil
}

// A Bar counts the values from From to To, which are int64, uint64 or float64, as Summary.Min is.
//
//   - For integers, and if From equals To, both belong to the bar.
//   - Other floats are at least From and less than To. If To is the maximum, To belongs to the bar.
type Bar struct {
	From, To any
	Count    int
}
