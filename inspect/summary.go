package inspect

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// tensor describes a tensor as a whole, or each of its columns.
func (d *describer) tensor(s Summary, x *tensor.Tensor, mask tdict.Value) error {
	m, _ := mask.(*tensor.Tensor)
	if d.opt.ByColumn {
		return d.columns(s, x, m)
	}
	return d.whole(s, x, m)
}

// whole describes all elements of a tensor.
func (d *describer) whole(s Summary, x, mask *tensor.Tensor) error {
	t, err := d.tally(x, mask)
	if err != nil {
		return err
	}
	return d.add(s, t)
}

// tally returns the tally of all elements of a tensor.
func (d *describer) tally(x, mask *tensor.Tensor) (*tally, error) {
	in, err := newSeries(x, mask)
	if err != nil {
		return nil, err
	}
	made, err := d.tallies([]series{in}, partSize)
	if err != nil {
		return nil, err
	}
	return made[0], nil
}

// columns describes each feature of a tensor, columnTile of them at a time.
func (d *describer) columns(s Summary, x, mask *tensor.Tensor) error {
	batch, err := d.batchDims(s.Key)
	if err != nil {
		return err
	}
	all, err := newSeries(x, mask)
	if err != nil {
		return err
	}
	features := x.Shape()[batch:]
	for first := 0; first < features.Size(); first += columnTile {
		tile := make([]series, min(columnTile, features.Size()-first))
		for i := range tile {
			at := slices.Repeat([]ix.Index{ix.All}, batch)
			for _, k := range features.Position(first + i) {
				at = append(at, ix.At(k))
			}
			if tile[i], err = indexed(all, at...); err != nil {
				return err
			}
		}
		made, err := d.tallies(tile, columnPart)
		if err != nil {
			return err
		}
		for i, t := range made {
			s.Column = features.Position(first + i)
			if err := d.add(s, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// batchDims returns the number of batch dims of the dictionary that has the leaf key.
func (d *describer) batchDims(key nestedkey.Key) (int, error) {
	outer, nested := key.Parent()
	if !nested {
		return len(d.td.Shape()), nil
	}
	td, err := d.td.Dict(outer)
	if err != nil {
		return 0, err
	}
	return len(td.Shape()), nil
}

// add adds s, completed from t, to the result.
func (d *describer) add(s Summary, t *tally) error {
	s.Count, s.Missing = t.count, t.missing
	s.NaN, s.Inf, s.Zeros = t.nan, t.inf, t.zeros
	if s.DType == tensor.Bool {
		s.True = t.count - t.zeros
	}
	if t.numbers > 0 {
		s.Min, s.Max = t.extremes(s.DType)
		s.Mean, s.Std = t.sum/float64(t.numbers), math.Sqrt(t.m2/float64(t.numbers))
		if t.min == t.max && (t.low == t.high || t.low > t.high) && !math.IsInf(t.min, 0) {
			s.Mean, s.Std = t.min+0, 0 // the mean of equal numbers is that number
		}
		if len(d.opt.Quantiles) > 0 {
			var err error
			if s.Quantiles, err = t.sketch.quantiles(d.opt.Quantiles, t.min, t.max); err != nil {
				return err
			}
		}
	}
	d.all = append(d.all, s)
	return nil
}

// extremes returns the least and the greatest number.
func (t *tally) extremes(dtype tensor.DType) (low, high any) {
	switch {
	case dtype == tensor.Int64:
		return t.low, t.high
	case dtype == tensor.Uint64:
		return uint64(t.low) ^ 1<<63, uint64(t.high) ^ 1<<63
	case dtype.IsInteger() || dtype == tensor.Bool:
		return int64(t.min), int64(t.max)
	}
	return t.min, t.max
}

// data counts the rows of Data that the mask does not hide.
func (d *describer) data(s Summary, v *tdict.Data, mask tdict.Value) error {
	present, err := rowMask(mask, v)
	if err != nil {
		return err
	}
	row := 0
	for value := range v.All() {
		if value == nil || present != nil && !present[row] {
			s.Missing++
		} else {
			s.Count++
		}
		row++
	}
	d.all = append(d.all, s)
	return nil
}

// rowMask returns, for each batch row of v, whether the mask shows it. It returns nil for a mask
// that is not one of rows.
func rowMask(mask, v tdict.Value) (present []bool, err error) {
	m, ok := mask.(*tensor.Tensor)
	if !ok {
		return nil, nil
	}
	wide, err := expanded(m, v.Shape())
	if err != nil {
		return nil, err
	}
	err = tensor.Read(wide, func(bits []bool) { present = append([]bool{}, bits...) })
	return present, err
}

// rows describes a ragged leaf: the lengths of its rows, and its values or texts.
func (d *describer) rows(s Summary, v *ragged.Tensor, mask tdict.Value) error {
	present, err := rowMask(mask, v)
	if err != nil {
		return err
	}
	x, layout, err := values(v)
	if err != nil {
		return err
	}
	hidden := len(present) - len(keep(nil, present, present))
	for level := range layout.Depth() {
		lengths, err := layout.Lengths(level + 1)
		if err != nil {
			return err
		}
		if level+1 == layout.Depth() {
			s.Rows = lengthsOf(shown(lengths, present))
			if s.Kind == tdict.KindText {
				s.Missing = hidden
				return d.texts(s, x, lengths, present)
			}
		}
		present = spread(present, lengths)
	}
	bits, err := valueMask(mask, present)
	if err != nil {
		return err
	}
	t, err := d.tally(x, bits)
	if err != nil {
		return err
	}
	if present != nil {
		t.missing = hidden
	}
	return d.add(s, t)
}

// valueMask returns the mask of the values of a ragged leaf: present, or the values of a ragged
// mask, or nil if there is no mask.
func valueMask(mask tdict.Value, present []bool) (*tensor.Tensor, error) {
	if present != nil {
		return tensor.From(present, len(present))
	}
	m, ok := mask.(*ragged.Tensor)
	if !ok {
		return nil, nil
	}
	bits, _, err := values(m)
	return bits, err
}

// shown returns the elements of x that are present.
func shown[T any](x []T, present []bool) []T {
	if present == nil {
		return x
	}
	return keep(nil, x, present)
}

// spread returns which rows of the next level are present. lengths are the lengths of the rows of
// this level.
func spread(present []bool, lengths []int64) []bool {
	if present == nil {
		return nil
	}
	inner := []bool{}
	for i, n := range lengths {
		inner = append(inner, slices.Repeat(present[i:i+1], int(n))...)
	}
	return inner
}

// lengthsOf describes lengths.
func lengthsOf(lengths []int64) *Lengths {
	l := &Lengths{Count: len(lengths), Mean: math.NaN()}
	if len(lengths) == 0 {
		return l
	}
	sum := 0
	for _, n := range lengths {
		sum += int(n)
	}
	l.Min, l.Max = int(slices.Min(lengths)), int(slices.Max(lengths))
	l.Mean = float64(sum) / float64(len(lengths))
	return l
}

const (
	mostTexts     = 1024    // bound on the distinct texts that are counted
	mostTextBytes = 1 << 16 // bound on their bytes
)

// texts counts the texts that are present, and the distinct ones among them if these are few.
func (d *describer) texts(s Summary, x *tensor.Tensor, lengths []int64, present []bool) error {
	known, size := map[string]bool{}, 0
	few := func() bool { return len(known) <= mostTexts && size <= mostTextBytes }
	err := tensor.Read(x, func(b []uint8) {
		for i, n := range lengths {
			if !few() || i%textRows == 0 && d.ctx.Err() != nil {
				return
			}
			if text := b[:n]; (present == nil || present[i]) && !known[string(text)] {
				known[string(text)] = true
				size += len(text)
			}
			b = b[n:]
		}
	})
	s.Count = s.Rows.Count
	if s.Distinct = len(known); !few() {
		s.Distinct = -1
	}
	d.all = append(d.all, s)
	return cmp.Or(err, context.Cause(d.ctx))
}
