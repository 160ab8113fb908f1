package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// The methods of this file are for package joint. Results of tensors that share a layout share one
// too, within a pass or from one editor.

// InsideIn returns the part of a compact tensor at a spot, which shares memory: the rows of the
// spot or, if it is a single row, the rows inside it.
func (v ops) InsideIn(p *plan.Pass, at plan.Spot) (*Tensor, error) {
	l, err := inside(p, v.layout, at)
	if err != nil {
		return nil, err
	}
	return &Tensor{l, v.values, true}, nil
}

// FlattenIn is [Tensor.FlattenLevel], of a level that the tensor has.
func (v ops) FlattenIn(p *plan.Pass, level int) (*Tensor, error) {
	return relayout(p, v.Tensor, func(l *Layout) (*Layout, error) { return flattened(p, l, level) })
}

// CheckLike returns an error unless x has the depth, features and dtype of the tensor.
func (v ops) CheckLike(x *Tensor) error { return v.checkLike(x) }

// ConcatIn is [ConcatLevel]. The level may be 0.
func (v ops) ConcatIn(p *plan.Pass, xs []*Tensor, level int) (*Tensor, error) {
	compact, err := alike(p, xs)
	if err != nil {
		return nil, err
	}
	return concat(p, compact, level)
}

// IndexLevels returns the editor that applies [Tensor.IndexLevel] to tensors with the layout of v,
// or with its outer levels.
func (v ops) IndexLevels(level int, x ix.Index) (func(t *Tensor) (*Tensor, error), error) {
	e, err := indexed(level, x)
	return v.editor(e, err)
}

// Picks is IndexLevels for [Tensor.Pick].
func (v ops) Picks(index *Tensor) (func(t *Tensor) (*Tensor, error), error) {
	e, err := v.layout.picks(index)
	return v.editor(e, err)
}

// MaskedSelects is IndexLevels for [Tensor.MaskedSelect]. It returns nil if mask has no level.
func (v ops) MaskedSelects(mask *Tensor) (func(t *Tensor) (*Tensor, error), error) {
	e, err := masked(v.layout, mask)
	return v.editor(e, err)
}

// editor returns the function that applies an edit. A tensor without its level does not change.
func (v ops) editor(e *edit, err error) (func(t *Tensor) (*Tensor, error), error) {
	if err != nil || e == nil {
		return nil, err
	}
	if e.level, err = v.layout.level(e.level); err != nil {
		return nil, err
	}
	return e.tensor, nil
}

// DensifyIn pads parts of tensors, in memory of opt.Buffer. It returns masks if opt.Masks is set.
func (v ops) DensifyIn(x plan.Parts[*Tensor], opt DensifyOptions) (dense []*tensor.Tensor, masks [][]*tensor.Tensor, err error) {
	d := &denser{opt: opt, level: x.Level, outer: x.Level}
	if x.Apart {
		d.outer--
	}
	levels := 0
	for _, t := range x.Values {
		levels = max(levels, t.Depth()-d.outer)
	}
	if err := opt.check(levels); err != nil {
		return nil, nil, err
	}
	opt.Buffer.reset()
	d.start = d.placed(x.Runs, x.Apart)
	dense, masks, d.fills = make([]*tensor.Tensor, len(x.Values)), make([][]*tensor.Tensor, len(x.Values)), make([]fill, 0, 2*len(x.Values))
	for i, t := range x.Values {
		d.name = x.Names[i]
		switch rows := x.Rows[i]; {
		case rows != nil:
			g := &grid{shape: shapeops.Shape{len(rows)}, runs: make([]shape.Run, len(rows))}
			for to, row := range rows {
				g.runs[to] = shape.Run{To: to, From: row, Len: 1}
			}
			dense[i], err = d.laid(t, g)
		default:
			dense[i], err = d.dense(t)
			if err == nil && opt.Masks != "" {
				masks[i], err = d.masks(t.layout)
			}
		}
		if err != nil {
			return nil, nil, fmt.Errorf("field %q: %w", d.name, err)
		}
	}
	if err := d.finish(); err != nil {
		return nil, nil, err
	}
	return dense, masks, nil
}

// placed returns the grid of runs of rows: one after the other or, if apart is set, each as one
// row.
func (d *denser) placed(runs []shape.Run, apart bool) *grid {
	if !apart {
		g := &grid{runs: make([]shape.Run, len(runs))}
		n := 0
		for i, r := range runs {
			g.runs[i] = shape.Run{To: n, From: r.From, Len: r.Len}
			n += r.Len
		}
		g.shape = shapeops.Shape{n}
		return g
	}
	width := d.fixed(d.level)
	if width == 0 {
		for _, r := range runs {
			width = max(width, r.Len)
		}
	}
	g := &grid{shape: shapeops.Shape{len(runs), width}}
	for i, r := range runs {
		g.runs = d.opt.place(g.runs, i*width, r.From, r.Len, width)
	}
	return g
}
