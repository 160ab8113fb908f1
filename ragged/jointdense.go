package ragged

import (
	"fmt"
	"iter"
	"strings"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Dense is what a [Joint] becomes when rows are padded: a dense tensor for each field and, on
// request, masks that say where there are values.
type Dense struct {
	names  []string
	values map[string]*tensor.Tensor
	masks  map[string][]*tensor.Tensor
}

// Names returns the names of the fields, in their order. The caller must not change them.
func (d *Dense) Names() []string { return d.names }

// Tensor returns a field, or nil if there is none of that name.
func (d *Dense) Tensor(name string) *tensor.Tensor { return d.values[name] }

// All returns an iterator over the names and fields, in their order.
func (d *Dense) All() iter.Seq2[string, *tensor.Tensor] {
	return func(yield func(string, *tensor.Tensor) bool) {
		for _, name := range d.names {
			if !yield(name, d.values[name]) {
				return
			}
		}
	}
}

// String returns dtype and shape of each field, one a line, and how many masks it has.
func (d *Dense) String() string {
	var b strings.Builder
	b.WriteString("dense {")
	for _, name := range d.names {
		x := d.values[name]
		fmt.Fprintf(&b, "\n  %s: %v %v", name, x.DType(), x.Shape())
		if n := len(d.masks[name]); n > 0 {
			fmt.Fprintf(&b, ", masks of %d levels", n)
		}
	}
	if len(d.names) > 0 {
		b.WriteString("\n")
	}
	return b.String() + "}"
}

// Masks returns where a field has values, for each level that was padded: bool [N L], [N L M].
// There are none without [DensifyOptions].Masks, and none of a field without a level.
func (d *Dense) Masks(name string) []*tensor.Tensor { return d.masks[name] }

// Densify returns all fields as dense tensors, as [Tensor.Densify] does: [N] for a field of depth
// 0, [N L] for depth 1, and so on, scalars as they are; of one row, without the N. Fields that
// share a layout are padded by one plan. opt.Rows are rows of j. Its errors are those of
// Tensor.Densify, with the name of the field, and shapeops.ErrDim for opt.Rows if there are no
// rows.
func (j *Joint) Densify(opt DensifyOptions) (*Dense, error) {
	rows, err := j.inner()
	if err != nil && j.made() && j.at.single && opt.Rows == nil {
		return j.densifyRow(opt)
	}
	if err == nil {
		err = opt.check(rows.depth())
	}
	if err != nil {
		return nil, err
	}
	runs, n, err := rows.wanted(opt.Rows)
	if err != nil {
		return nil, err
	}
	d := &denser{opt: opt, level: rows.at.level, outer: rows.at.level, start: &grid{shapeops.Shape{n}, runs}}
	return rows.dense(d, func(t *Tensor) (*tensor.Tensor, error) { return rows.scalar(t) })
}

// densifyRow is Densify of one row that has no rows, or those of several trees.
func (j *Joint) densifyRow(opt DensifyOptions) (*Dense, error) {
	out, err := Collate([]*Joint{j}, opt)
	if err != nil {
		return nil, err
	}
	if err := out.each(func(t *tensor.Tensor) (*tensor.Tensor, error) { return t.Index(ix.At(0)) }); err != nil {
		return nil, err
	}
	return out, nil
}

// wanted returns which rows of j, or of those that list names, there are.
func (j *Joint) wanted(list []int) (runs []shapeops.Run, n int, err error) {
	if list == nil {
		return []shapeops.Run{{To: 0, From: j.at.first, Len: j.at.n}}, j.at.n, nil
	}
	runs = make([]shapeops.Run, len(list))
	for i, row := range list {
		at := j.at
		if err := at.step(row); err != nil {
			return nil, 0, err
		}
		runs[i] = shapeops.Run{To: i, From: at.first, Len: 1}
	}
	return runs, len(list), nil
}

// scalar returns the value of a field of the base that is a scalar in j.
func (j *Joint) scalar(t *Tensor) (*tensor.Tensor, error) {
	return t.values.Index(ix.At(j.rowOf(t)))
}

// rowOf returns the row of a field of the base that j, where that field is a scalar, is in.
func (j *Joint) rowOf(t *Tensor) int {
	if len(t.Shape()) == 0 {
		return 0
	}
	return j.path.at(t.Depth())
}

// dense returns what d makes of the fields, and scalar of those above its level.
func (j *Joint) dense(d *denser, scalar func(t *Tensor) (*tensor.Tensor, error)) (*Dense, error) {
	d.opt.Buffer.reset()
	out := &Dense{values: make(map[string]*tensor.Tensor, len(j.all().fields))}
	if d.opt.Masks {
		out.masks = map[string][]*tensor.Tensor{}
	}
	for _, f := range j.all().fields {
		var x *tensor.Tensor
		var err error
		d.name = f.Name
		if len(f.Tensor.Shape()) == 0 || f.Tensor.Depth() < d.level {
			x, err = scalar(f.Tensor)
		} else if x, err = d.dense(f.Tensor); err == nil && d.opt.Masks {
			out.masks[f.Name], err = d.masks(f.Tensor.layout)
		}
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		out.names, out.values[f.Name] = append(out.names, f.Name), x
	}
	if err := d.finish(); err != nil {
		return nil, err
	}
	return out, nil
}

// each replaces each tensor by what fn makes of it.
func (d *Dense) each(fn func(t *tensor.Tensor) (*tensor.Tensor, error)) (err error) {
	for name, t := range d.values {
		if d.values[name], err = fn(t); err != nil {
			return err
		}
	}
	for _, masks := range d.masks {
		for i := range masks {
			if masks[i], err = fn(masks[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
