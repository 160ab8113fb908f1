package view

import (
	"fmt"
	"math"
	"strings"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view/internal/chart"
	"github.com/go-tensordict/tensordict/view/internal/shelf"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

const (
	mostValues = 1 << 20 // values of a row that are read
	keptValues = 1200    // values of a row that are kept, unless it is the chosen one
)

// A series is a row of a leaf as a line.
type series struct {
	xs, ys []float64 // NaN for what is missing; xs is nil for positions
	words  string    // "13 values, 1.9 to 16.8"
	last   string    // the last value, "" if no value is present
	hidden bool      // a mask hides the row
	low    float64   // the range of xs; low > high if it is empty
	high   float64
	read   int // values
}

// series returns a row of y over x, or over positions if x is nil. f is the feature of [T F].
func (v *visit) series(y, x *shelf.Node, row, f int) (series, error) {
	s := series{low: math.Inf(1), high: math.Inf(-1)}
	values, mask, err := v.rowValues(y, row, f)
	if err != nil || mask.all {
		s.hidden = mask.all
		s.words = "missing"
		return s, err
	}
	if s.ys, err = floats(values.x); err != nil {
		return s, err
	}
	missing := mask.hide(s.ys)
	if err := s.describe(values, missing); err != nil {
		return s, err
	}
	s.read = len(s.ys)
	if x == nil {
		if len(s.ys) > 0 {
			s.low, s.high = 0, float64(len(s.ys)-1)
		}
		return s, nil
	}
	return s, v.over(&s, x, row)
}

// over sets the positions to the values of x.
func (v *visit) over(s *series, x *shelf.Node, row int) error {
	values, mask, err := v.rowValues(x, row, 0)
	if err != nil {
		return err
	}
	s.xs = make([]float64, len(s.ys))
	if mask.all {
		for i := range s.xs {
			s.xs[i] = math.NaN()
		}
		s.words += "; x is missing"
		return nil
	}
	xs, err := floats(values.x)
	if err != nil {
		return err
	}
	if len(xs) != len(s.ys) {
		return fmt.Errorf("%w: row %d: got %d values of x for %d of y", ragged.ErrLengths, row, len(xs), len(s.ys))
	}
	mask.hide(xs)
	s.xs = xs
	for _, at := range xs {
		if !math.IsInf(at, 0) && !math.IsNaN(at) {
			s.low, s.high = min(s.low, at), max(s.high, at)
		}
	}
	s.read += len(xs)
	return nil
}

// rowVector returns the values of a row, [T], and the number of its values, read or not.
type rowVector struct {
	x   *tensor.Tensor
	all int
}

// A rowMask says which values of a row are present.
type rowMask struct {
	all     bool   // all of the row is hidden
	present []bool // nil if all values are present
}

// hide sets the values that the mask hides to NaN, and returns their number.
func (m rowMask) hide(values []float64) int {
	hidden := 0
	for i, is := range m.present[:min(len(m.present), len(values))] {
		if !is {
			values[i] = math.NaN()
			hidden++
		}
	}
	return hidden
}

// rowValues returns the values of a row of [T], feature f of [T F], and which ones are present.
func (v *visit) rowValues(n *shelf.Node, row, f int) (values rowVector, mask rowMask, err error) {
	part, dense, err := v.part(n, ix.At(row))
	if err != nil {
		return values, mask, err
	}
	if values.x, err = steps(part); err != nil {
		return values, mask, err
	}
	if values.all = values.x.Shape()[0]; values.all > mostValues {
		if values.x, err = values.x.Index(ix.Range(0, mostValues)); err != nil {
			return values, mask, err
		}
	}
	if values.x, err = feature(values.x, f); err != nil {
		return values, mask, err
	}
	mask, err = v.rowMask(n, dense, row, f)
	return values, mask, err
}

// steps returns the values of a row as [T] or [T F].
func steps(part tdict.Value) (*tensor.Tensor, error) {
	switch x := part.(type) {
	case *tensor.Tensor:
		return x, nil
	case *ragged.Tensor:
		return x.Values()
	}
	return nil, fmt.Errorf("%w: got %T, want a leaf with rows", tdict.ErrKind, part)
}

// feature returns x if it is [T], and the feature f if it is [T F].
func feature(x *tensor.Tensor, f int) (*tensor.Tensor, error) {
	if len(x.Shape()) == 1 {
		return x, nil
	}
	return x.Index(ix.All, ix.At(f))
}

// rowMask reads the mask of a row. dense is its part of a dense mask, nil without one.
func (v *visit) rowMask(n *shelf.Node, dense *tensor.Tensor, row, f int) (m rowMask, err error) {
	if n.Mask == 0 {
		return m, nil
	}
	if dense == nil {
		part, _, err := v.part(&v.version.Index.Nodes[n.Mask], ix.At(row))
		if err != nil {
			return m, err
		}
		if dense, err = steps(part); err != nil {
			return m, err
		}
	}
	if len(dense.Shape()) == 0 {
		m.all, err = hidesRow(dense)
		return m, err
	}
	if dense, err = dense.Index(ix.Range(0, mostValues)); err != nil {
		return m, err
	}
	if dense, err = feature(dense, f); err != nil {
		return m, err
	}
	m.present, err = bits(dense)
	return m, err
}

// floats returns the elements of x.
func floats(x *tensor.Tensor) (values []float64, err error) {
	if x, err = x.Cast(tensor.Float64); err != nil {
		return nil, err
	}
	err = tensor.Read(x, func(s []float64) { values = s }) // x is a copy that nobody else has
	return values, err
}

// describe describes a row in words.
func (s *series) describe(values rowVector, missing int) error {
	low, high, last, present := -1, -1, -1, 0
	for i, y := range s.ys {
		if math.IsNaN(y) {
			continue
		}
		if low < 0 || y < s.ys[low] {
			low = i
		}
		if high < 0 || y > s.ys[high] {
			high = i
		}
		last = i
		present++
	}
	words := []string{plural(values.all, "value", "values")}
	if values.all > len(s.ys) {
		words[0] = "the first " + text.Count(len(s.ys)) + " of " + words[0]
	}
	if len(s.ys) == 0 {
		words[0] = "no values"
	}
	nan := len(s.ys) - present - missing
	if present > 0 {
		shown, err := s.ends(values.x, low, high, last)
		if err != nil {
			return err
		}
		words = append(words, shown)
	} else if nan > 0 && missing == 0 {
		words, nan = append(words, "all NaN"), 0
	} else if missing > 0 && nan == 0 {
		words, missing = append(words, "all missing"), 0
	}
	if nan > 0 {
		words = append(words, text.Count(nan)+" NaN")
	}
	if missing > 0 {
		words = append(words, text.Count(missing)+" missing")
	}
	s.words = strings.Join(words, ", ")
	return nil
}

// ends says from where to where values go, and sets the last one. They are read from x, which has
// the digits of its dtype.
func (s *series) ends(x *tensor.Tensor, low, high, last int) (string, error) {
	var shown []string
	for _, at := range []int{low, high, last} {
		one, err := x.Index(ix.Range(at, at+1))
		if err != nil {
			return "", err
		}
		value, err := text.Elements(one)
		if err != nil {
			return "", err
		}
		shown = append(shown, text.Number(value[0], 4))
	}
	s.last = shown[2]
	switch {
	case s.ys[low] < s.ys[high]:
		return shown[0] + " to " + shown[1], nil
	case len(s.ys) == 1:
		return shown[0], nil
	}
	return "all " + shown[0], nil
}

// thin returns at most about most values: the smallest and the largest one of pieces of equal
// length, in their order. NaN is left out, unless a piece has nothing else.
func thin(xs, ys []float64, most int) (thinXs, thinYs []float64) {
	if len(ys) <= most {
		return xs, ys
	}
	pieces := max(1, most/2)
	for i := range pieces {
		from, stop := i*len(ys)/pieces, (i+1)*len(ys)/pieces
		low, high := from, from
		for j := from + 1; j < stop; j++ {
			if ys[j] < ys[low] || math.IsNaN(ys[low]) {
				low = j
			}
			if ys[j] > ys[high] || math.IsNaN(ys[high]) {
				high = j
			}
		}
		at := []int{min(low, high), max(low, high)}
		if low == high {
			at = at[:1]
		}
		for _, at := range at {
			x := float64(at)
			if xs != nil {
				x = xs[at]
			}
			thinXs, thinYs = append(thinXs, x), append(thinYs, ys[at])
		}
	}
	return thinXs, thinYs
}

// A stroke is the line of a row.
type stroke struct {
	D, Dots      string // path data
	End          *chart.Point
	Above, Below bool
}

const pointBytes = 11 // of a point in path data, about

// stroke draws a row in a box. The path data has about at most most bytes: a row that takes more is
// thinned.
func (s *series) stroke(x, y chart.Scale, w, h float64, most int) stroke {
	xs, ys := s.xs, s.ys
	if len(ys) <= 10*keptValues { // chart.Line thins longer ones
		xs, ys = thin(xs, ys, most/pointBytes)
	}
	for left := most / pointBytes; ; left /= 2 {
		line := chart.Line(xs, ys, x, y, w, h)
		if len(line.D) <= most || left < 8 {
			return stroke{D: line.D, Dots: dots(line.Dots), End: line.End, Above: line.Above, Below: line.Below}
		}
		xs, ys = thin(xs, ys, left)
	}
}

// dots returns path data that draws a dot at each point, with round ends of lines.
func dots(points []chart.Point) string {
	var b strings.Builder
	for _, p := range points {
		fmt.Fprintf(&b, "M%v %vh0", p.X, p.Y)
	}
	return b.String()
}
