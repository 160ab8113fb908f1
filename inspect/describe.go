package inspect

import (
	"context"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// DescribeOptions say how [Describe] goes about it. The zero value describes every leaf as a whole,
// without quantiles.
type DescribeOptions struct {
	// Keys selects leaves; the key of a dictionary selects all in it. Empty means all.
	Keys []nestedkey.Key
	// Mask is the key of a bool leaf that says which values of all selected leaves are there. ""
	// means that KEY_mask beside KEY says so for KEY, if it is there and fits.
	Mask nestedkey.Key
	// ByColumn describes each feature of a tensor by itself.
	ByColumn bool
	// Quantiles are those wanted, each from 0 to 1.
	Quantiles []float64
	// Workers is how many blocks are read at a time; 0 means GOMAXPROCS. The result does not depend
	// on it.
	Workers int
}

// A Summary describes a leaf, or a column of one.
type Summary struct {
	Key    nestedkey.Key
	Kind   tdict.Kind   // KindText for ragged uint8 without features
	DType  tensor.DType // 0 for Data
	Column []int        // the position among the features; nil for a whole leaf

	Count   int // values that are there: numbers, rows of Data, texts
	Missing int // values that a mask hides, and rows of Data that are nil
	NaN     int
	Inf     int // infinities of either sign
	Zeros   int
	True    int // of a bool leaf

	Min, Max  any       // int64, uint64 or float64; nil if there is no number
	Mean, Std float64   // NaN if there is no number
	Quantiles []float64 // one for each of DescribeOptions.Quantiles; nil if there is no number

	Rows     *Lengths // lengths of ragged rows, in bytes for text; nil for what is dense
	Distinct int      // different texts; -1 if they are too many to count, or not text
}

// Lengths describe how long the rows of the last level of a ragged leaf are.
type Lengths struct {
	Count, Min, Max int
	Mean            float64
}

// Describe returns a Summary of each selected leaf, or of each column, in the order of the keys.
func Describe(ctx context.Context, td *tdict.TensorDict, opt DescribeOptions) ([]Summary, error) {
	return nil, nil
}
