package ragged

import (
	"fmt"
	"iter"
	"strings"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Dense is a [Joint] after padding: a dense tensor for each field and, if [DensifyOptions].Masks
// is set, masks that say where there are values.
type Dense struct {
	names  []string
	values map[string]*tensor.Tensor
	masks  map[string][]*tensor.Tensor
}

// Names returns the names of the fields, in order. The caller must not change the slice.
func (d *Dense) Names() []string { return d.names }

// Tensor returns a field, or nil if there is no field of that name.
func (d *Dense) Tensor(name string) *tensor.Tensor { return d.values[name] }

// All returns an iterator over the names and tensors of the fields, in order.
func (d *Dense) All() iter.Seq2[string, *tensor.Tensor] {
	return func(yield func(string, *tensor.Tensor) bool) {
		for _, name := range d.names {
			if !yield(name, d.values[name]) {
				return
			}
		}
	}
}

// String returns the dtype, shape and number of masks of each field, one on each line.
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

// Masks returns the masks of a field, one for each level that was padded, true where there is a row
// or a value: bool [N L], then [N L M]. There are none unless [DensifyOptions].Masks was set, and
// none for a field without levels.
func (d *Dense) Masks(name string) []*tensor.Tensor { return d.masks[name] }

// Densify returns all fields as dense tensors, padded as in [Tensor.Densify]: [N] for a field of
// depth 0, [N L] for depth 1, and so on; scalars do not change. For a single row without rows
// inside, the dim N is missing. Fields that share a layout are padded by one plan. opt.Rows lists
// rows of j. Densify returns the errors of Tensor.Densify, with the name of the field, and
// shapeops.ErrDim if opt.Rows is set but j has no rows.
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

// densifyRow is Densify of a single row without rows inside, or with rows of several trees.
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

// wanted returns the runs of the rows of j that list names, or of all rows if list is nil, and
// their number n.
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

// scalar returns the value of t, a field of the base that is a scalar in j.
func (j *Joint) scalar(t *Tensor) (*tensor.Tensor, error) {
	return t.values.Index(ix.At(j.rowOf(t)))
}

// rowOf returns the row of t that contains j. t is a field of the base that is a scalar in j.
func (j *Joint) rowOf(t *Tensor) int {
	if len(t.Shape()) == 0 {
		return 0
	}
	return j.path.at(t.Depth())
}

// dense returns all fields, padded by d; fields above the level of d are scalar(field).
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

// each replaces each tensor x of d, masks included, by fn(x).
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
