package tdict

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/tensor"
)

// commit adds to tr: d = out.
func (d *Data) commit(tr *tensor.Transfer, out *Data) error {
	if err := d.Shape().CheckEqual(out.Shape()); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	if d.fixed {
		return d.checkFixed(d, out)
	}
	tr.Commit(func() { d.rows, d.values = out.rows, out.values })
	return nil
}

// AddExecute adds to tr: dst = d with p.Plan applied.
func (v *dataOps) AddExecute(tr *tensor.Transfer, dst *Data, p *plan.Pass) error {
	d := (*Data)(v)
	if !dst.valid() {
		return errNoData
	}
	out, err := (*dataOps)(d).Execute(p)
	if err != nil {
		return err
	}
	return dst.commit(tr, out)
}

// AddWrite adds to tr: the rows of d that p.Plan selects = the rows of src, broadcast. If a list
// names a row twice, the last value stays.
func (v *dataOps) AddWrite(tr *tensor.Transfer, src *Data, p *plan.Pass) error {
	d := (*Data)(v)
	if !src.valid() {
		return errNoData
	}
	if err := d.rows.CheckWrite(p, src.rows); err != nil {
		return err
	}
	planned, err := plan.Expand(src.Shape(), p.Extend(d.Shape())...)
	if err != nil {
		return err
	}
	from, err := (*dataOps)(src).Execute(plan.NewPass(planned)) // src as it is now
	if err != nil {
		return err
	}
	if d.fixed {
		part, err := (*dataOps)(d).Execute(p)
		if err != nil {
			return err
		}
		return d.checkFixed(part, from)
	}
	tr.Commit(func() { d.write(from, p) })
	return nil
}

// write is AddWrite at once, of rows that were checked.
func (d *Data) write(src *Data, p *plan.Pass) {
	d.values = append(d.values, src.values...)
	if err := d.rows.Write(p, src.rows); err != nil {
		panic("tdict: impossible: " + err.Error())
	}
	if d.crowded() {
		d.compact()
	}
}

// crowded reports whether d has many more values than rows.
func (d *Data) crowded() bool { return len(d.values)/2-8 > d.Shape().Size() }

// trim drops values that no row has, so that a few rows of many do not keep all values. It does not
// compare values.
func (d *Data) trim() {
	number := map[int]int{}
	var kept []any
	for row := range d.rows.Distinct() {
		if _, ok := number[row]; !ok {
			number[row] = len(kept)
			kept = append(kept, d.values[row])
		}
	}
	d.keep(kept, func(row int) int { return number[row] })
}

// keep replaces the values of d by kept, and numbers its rows by number.
func (d *Data) keep(kept []any, number func(row int) int) {
	d.values = kept
	if len(kept) == 1 {
		d.rows, _ = plan.OneRow(d.Shape()...) // the shape is valid already
		return
	}
	if err := d.rows.Renumber(len(kept), number); err != nil {
		panic("tdict: impossible: " + err.Error()) // callers have listed the rows, or have few
	}
}

// compact drops values that no row has, and merges equal neighbours.
func (d *Data) compact() {
	number := make([]int, len(d.values)) // the new number plus one, or 0
	var kept []any
	for row := range d.rows.Distinct() {
		if number[row] > 0 {
			continue
		}
		if n := len(kept); n == 0 || !same(kept[n-1], d.values[row]) {
			kept = append(kept, d.values[row])
		}
		number[row] = len(kept)
	}
	d.keep(kept, func(row int) int { return number[row] - 1 })
}
