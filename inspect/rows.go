package inspect

import (
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// rows describes a ragged leaf: the lengths of its rows, and its values or texts.
func (d *describer) rows(p Profile, v *ragged.Tensor, mask tdict.Value) error {
	runs, err := d.rowRuns(v, mask)
	if err != nil {
		return err
	}
	all := make([]opened, len(runs))
	for i, r := range runs {
		if all[i], err = openRows(r.rows, r.mask, p.Kind); err != nil {
			return err
		}
	}
	if v.Depth() > 0 {
		if err := d.lengths(&p, all); err != nil {
			return err
		}
	}
	if p.Kind == tdict.KindText {
		if p.Total, err = v.Layout().NumRows(v.Depth() - 1); err != nil {
			return err
		}
		return d.texts(p, all)
	}
	p.Total = v.NumValues() * v.Features().Size()
	return d.rowValues(p, all)
}

// rowValues describes the values of rows.
func (d *describer) rowValues(p Profile, all []opened) error {
	in := make(source, len(all))
	hidden := 0
	for i, o := range all {
		s, err := newSeries(o.values, o.bits)
		if err != nil {
			return err
		}
		in[i] = run{s, 0, s[0].Size()}
		if len(all) > 1 { // a sample
			in[i].stop = min(in[i].stop, mostOfRun/p.DType.Size())
		}
		hidden += o.hidden
	}
	if !all[0].masked {
		hidden = -1
	}
	return d.numbers(p, in, hidden)
}

// lengths describes the lengths of the rows of the last level.
func (d *describer) lengths(p *Profile, all []opened) error {
	lengths, present := all[0].lengths, all[0].present
	for _, o := range all[1:] {
		lengths, present = append(lengths, o.lengths...), append(present, o.present...)
	}
	p.Rows = lengthsOf(shown(lengths, present))
	if d.profile == nil {
		return nil
	}
	x, err := tensor.From(lengths, len(lengths))
	if err != nil {
		return err
	}
	var mask *tensor.Tensor
	if present != nil {
		if mask, err = tensor.From(present, len(present)); err != nil {
			return err
		}
	}
	in, err := newSeries(x, mask)
	if err != nil {
		return err
	}
	_, histograms, err := d.measured([]source{{{in, 0, len(lengths)}}}, partSize, numeralsOf(tensor.Int64, true))
	if err == nil {
		p.Lengths = histograms[0]
	}
	return err
}

// opened are the rows and values of a ragged leaf.
type opened struct {
	lengths []int64        // of the rows of the last level
	present []bool         // false for a row that a mask of rows hides; nil without such a mask
	values  *tensor.Tensor // of all rows
	bits    *tensor.Tensor // mask of the values; nil without one, and for text
	masked  bool           // there is a mask of rows: batch rows, or texts in lists
	hidden  int            // rows that it hides
}

// openRows opens the rows and values of a leaf of a kind. Its mask is a tensor over the batch dims,
// or a ragged tensor with a bool for each row of a level, or for each value.
func openRows(v *ragged.Tensor, mask tdict.Value, kind tdict.Kind) (o opened, err error) {
	present, err := rowMask(mask, v)
	if err != nil {
		return o, err
	}
	x, layout, err := values(v)
	if err != nil {
		return o, err
	}
	o.values = x
	m, lists := mask.(*ragged.Tensor)
	for level := range layout.Depth() {
		if lists && m.Depth() == level {
			if present, err = bitsOf(m); err != nil {
				return o, err
			}
		}
		if level == 0 || lists && m.Depth() == level {
			o.masked, o.hidden = present != nil, len(present)-len(keep(nil, present, present))
		}
		o.present = present
		if o.lengths, err = layout.Lengths(level + 1); err != nil {
			return o, err
		}
		if kind == tdict.KindText && level+1 == layout.Depth() {
			return o, nil
		}
		present = spread(present, o.lengths)
	}
	o.bits, err = valueMask(mask, present)
	return o, err
}

// bitsOf returns a copy of the values of a ragged mask.
func bitsOf(m *ragged.Tensor) (present []bool, err error) {
	x, _, err := values(m)
	if err == nil {
		err = tensor.Read(x, func(bits []bool) { present = append([]bool{}, bits...) })
	}
	return present, err
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
