package inspect

import (
	"context"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// tensor describes a tensor as a whole, or each of its columns.
func (d *describer) tensor(p Profile, x *tensor.Tensor, mask tdict.Value) error {
	m, _ := mask.(*tensor.Tensor)
	if d.opt.ByColumn {
		return d.columns(p, x, m)
	}
	return d.whole(p, x, m)
}

// whole describes all elements of a tensor.
func (d *describer) whole(p Profile, x, mask *tensor.Tensor) error {
	in, err := newSeries(x, mask)
	if err != nil {
		return err
	}
	p.Total = x.Size()
	return d.numbers(p, d.dense(in, x.ByteSize(), blockBytes/x.DType().Size()), -1)
}

// numbers describes the numbers of a source as a whole. If a mask hides rows, hidden is their
// number, otherwise -1.
func (d *describer) numbers(p Profile, in source, hidden int) error {
	made, histograms, err := d.measured([]source{in}, partSize, numeralsOf(p.DType, false))
	if err != nil {
		return err
	}
	p.Read, p.Values = in.size(), histograms[0]
	if hidden >= 0 {
		made[0].missing = hidden
	}
	return d.add(p, made[0])
}

// measured returns the tallies of the sources of a tile and, for Profiles, their histograms.
func (d *describer) measured(tile []source, size int, n numerals) ([]*tally, []*Histogram, error) {
	if d.profile == nil {
		made, err := d.tallies(tile, size, nil)
		return made, make([]*Histogram, len(tile)), err
	}
	made, err := d.tallies(tile, size, &n)
	if err != nil {
		return nil, nil, err
	}
	histograms, err := d.histograms(tile, size, made)
	return made, histograms, err
}

// columns describes each feature of a tensor, columnTile of them at a time.
func (d *describer) columns(p Profile, x, mask *tensor.Tensor) error {
	batch, err := d.batchDims(p.Key)
	if err != nil {
		return err
	}
	all, err := newSeries(x, mask)
	if err != nil {
		return err
	}
	features := x.Shape()[batch:]
	row := max(1, features.Size()*x.DType().Size()) // bytes
	first, last := d.columnRange(features.Size())
	for ; first < last; first += columnTile {
		tile := make([]source, min(columnTile, last-first))
		for i := range tile {
			column, err := all.column(batch, features.Position(first+i))
			if err != nil {
				return err
			}
			tile[i] = d.dense(column, x.ByteSize(), max(1, blockBytes/row))
		}
		made, histograms, err := d.measured(tile, columnPart, numeralsOf(p.DType, false))
		if err != nil {
			return err
		}
		for i, t := range made {
			p.Column, p.Values = features.Position(first+i), histograms[i]
			p.Read, p.Total = tile[i].size(), x.Shape()[:batch].Size()
			if err := d.add(p, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// column returns the series of one feature of tensors with batch dims.
func (s series) column(batch int, feature []int) (series, error) {
	at := slices.Repeat([]ix.Index{ix.All}, batch)
	for _, k := range feature {
		at = append(at, ix.At(k))
	}
	return indexed(s, at...)
}

// columnRange returns which of n columns are described: first <= i < last.
func (d *describer) columnRange(n int) (first, last int) {
	if d.profile == nil {
		return 0, n
	}
	first = min(d.profile.First, n)
	if d.profile.Columns == 0 {
		return first, n
	}
	return first, first + min(d.profile.Columns, n-first)
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

// add adds p, completed from t, to the result.
func (d *describer) add(p Profile, t *tally) error {
	s := &p.Summary
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
	d.all = append(d.all, p)
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
func (d *describer) data(p Profile, v *tdict.Data, mask tdict.Value) error {
	present, err := rowMask(mask, v)
	if err != nil {
		return err
	}
	kinds := map[string]int{}
	count := func(value any, rows int) {
		kinds[kindOfJSON(value)] += rows
		if value == nil {
			p.Missing += rows
		} else {
			p.Count += rows
		}
	}
	p.Total = v.Shape().Size()
	p.Read = p.Total
	if value, ok := v.Uniform(); ok {
		shown := len(keep(nil, present, present))
		if present == nil {
			shown = p.Total
		}
		count(value, shown)
		p.Missing += p.Total - shown
		return d.countedKinds(p, kinds)
	}
	row := 0
	for value := range v.All() {
		if row%textRows == 0 && d.ctx.Err() != nil {
			return context.Cause(d.ctx)
		}
		if present == nil || present[row] {
			count(value, 1)
		} else {
			p.Missing++
		}
		row++
	}
	return d.countedKinds(p, kinds)
}

// countedKinds adds p with kinds to the result.
func (d *describer) countedKinds(p Profile, kinds map[string]int) error {
	for kind, n := range kinds {
		if n > 0 {
			p.Kinds = append(p.Kinds, TextCount{kind, n})
		}
	}
	slices.SortFunc(p.Kinds, byFrequency)
	d.all = append(d.all, p)
	return nil
}

// kindOfJSON returns the kind of a value of Data.
func kindOfJSON(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "bool"
	case int64, float64:
		return "number"
	case string:
		return "text"
	case []any:
		return "list"
	}
	return "object"
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
