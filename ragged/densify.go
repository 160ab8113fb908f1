package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// DensifyOptions say how rows are padded. The zero value pads with zeros after each row, to the
// length of the longest row of its level.
type DensifyOptions struct {
	// Left puts padding before the rows, at every level.
	Left bool
	// Fill is the value of padding: a number or a bool, as tensor.ScalarOf takes it. Nil is zero.
	Fill any
	// Widths are the lengths to which the rows of each level are padded, outermost first. Longer
	// rows are truncated. 0, or no entry for a level, means the length of the longest row in the
	// result: rows that Rows does not list, and rows cut away at an outer level, do not count.
	Widths []int
	// KeepLast truncates rows at their beginning. By default they are truncated at their end.
	KeepLast bool
	// Rows lists the rows of the batch to pad; negative numbers count from the end. The batch must
	// have one dim. Nil means all rows. The rows are not copied before they are padded.
	Rows []int
	// Masks is for padding several tensors, by loader.Pad and package joint: the key of a dictionary
	// of masks in the result; "" means no masks. For a tensor with one level, the mask is under its
	// key, bool [N L], true where there is a value. For one with several levels there is a
	// dictionary under its key, with a mask under the number of each level: "1" is bool [N L], "2"
	// is bool [N L M]. For one [Tensor] see [Tensor.DensifyMasked].
	Masks nestedkey.Key
	// Buffer, if not nil, is the memory for the results.
	Buffer *Buffer
	// Workers is the number of goroutines that copy; 0 means GOMAXPROCS.
	Workers int
}

// Densify returns t as a dense tensor, with each row padded:
//
//	[B... * * F...] -> [B... L M F...]
//
// L and M are opt.Widths, by default the length of the longest row of each level in the result.
// Densify writes the result in one pass, directly from t's values. It returns
//
//   - shapeops.ErrIndex for a row in opt.Rows that t does not have
//   - shapeops.ErrShape if a width is negative, if there are more widths than levels, or if the
//     result has too many elements to count
//   - tensor.ErrDType if the dtype does not hold opt.Fill
//   - shapeops.ErrKind if opt.Masks is set: call [Tensor.DensifyMasked]
func (t *Tensor) Densify(opt DensifyOptions) (dense *tensor.Tensor, err error) {
	dense, _, err = t.densified(opt, false)
	return dense, err
}

// DensifyMasked is [Tensor.Densify] that also returns masks, true where there is a row or a value:
// for each level a bool tensor, [B... L], then [B... L M].
func (t *Tensor) DensifyMasked(opt DensifyOptions) (dense *tensor.Tensor, masks []*tensor.Tensor, err error) {
	return t.densified(opt, true)
}

// densified returns t padded, and the masks if masked is set.
func (t *Tensor) densified(opt DensifyOptions, masked bool) (dense *tensor.Tensor, masks []*tensor.Tensor, err error) {
	if !t.made() {
		return nil, nil, errNil
	}
	if err := opt.check(t.Depth()); err != nil {
		return nil, nil, err
	}
	if opt.Masks != "" {
		return nil, nil, fmt.Errorf("%w: got Masks for a Tensor: see DensifyMasked", shapeops.ErrKind)
	}
	rows := t.layout.root().rows
	if opt.Rows != nil {
		p, err := plan.Take(rows.Shape(), 0, opt.Rows, shapeops.Shape{len(opt.Rows)})
		if err != nil {
			return nil, nil, err
		}
		if rows, err = rows.Execute(plan.NewPass(p)); err != nil {
			return nil, nil, err
		}
	}
	opt.Buffer.reset()
	d := &denser{opt: opt, start: &grid{rows.Shape(), runsOf(rows)}}
	if dense, err = d.dense(t); err != nil {
		return nil, nil, err
	}
	if masked {
		masks, err = d.masks(t.layout)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := d.finish(); err != nil {
		return nil, nil, err
	}
	return dense, masks, nil
}

// check returns ErrShape unless the widths are valid for a value with levels levels.
func (opt *DensifyOptions) check(levels int) error {
	if len(opt.Widths) > levels {
		return fmt.Errorf("%w: got %d widths, want at most %d: one for each level", shapeops.ErrShape, len(opt.Widths), levels)
	}
	for level, n := range opt.Widths {
		if n < 0 {
			return fmt.Errorf("%w: level %d: got width %d, want 0 or more", shapeops.ErrShape, level+1, n)
		}
	}
	return nil
}

// runsOf returns the runs of rows of the batch, in row-major order of its shape.
func runsOf(rows *plan.Rows) []shapeops.Run {
	if first, n, ok := rows.Span(); ok {
		return []shapeops.Run{{To: 0, From: first, Len: n}}
	}
	runs := make([]shapeops.Run, 0, rows.Shape().Size())
	for row := range rows.All() {
		runs = append(runs, shapeops.Run{To: len(runs), From: row, Len: 1})
	}
	return runs
}

// A denser pads tensors. It computes the grid and the mask of each layout once, for all tensors
// that share the layout.
type denser struct {
	opt   DensifyOptions
	pass  plan.Pass
	level int    // depth of the layouts that start places
	start *grid  // of the rows at that level
	outer int    // number of levels before the first that is padded
	name  string // of the current field, for errors
	fills []fill // not yet run; see finish
}

// dense returns t padded. Its elements are set by finish.
func (d *denser) dense(t *Tensor) (*tensor.Tensor, error) {
	g, err := d.grid(t.layout)
	if err != nil {
		return nil, err
	}
	return d.laid(t, g)
}

// laid returns a new dense tensor with the values of t at the cells of g. Its elements are set by
// finish.
func (d *denser) laid(t *Tensor, g *grid) (*tensor.Tensor, error) {
	dst, cells, err := d.opt.Buffer.tensor(t.DType(), g.shape, t.Features())
	if err != nil {
		return nil, err
	}
	return dst, d.fill(cells, t.values, g, d.opt.Fill)
}

// fill adds a fill, which finish runs: it sets the cells that g names to rows of src, and all other
// cells to value.
func (d *denser) fill(cells, src *tensor.Tensor, g *grid, value any) error {
	if value == nil && cells.DType() == tensor.Bool {
		value = false
	} else if value == nil {
		value = 0
	}
	element, err := tensor.ScalarOf(cells.DType(), value)
	if err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	tr := new(tensor.Transfer)
	d.fills = append(d.fills, fill{tr, d.name, cells.ByteSize()})
	return tr.FillRuns(cells, src, element, g.runs)
}

// A maskKey is the key under which a denser keeps the mask of a layout's innermost level.
type maskKey struct{ l *Layout }

// mask returns the mask of the innermost level of l: [B... L M], true where there is a row.
func (d *denser) mask(l *Layout) (*tensor.Tensor, error) {
	return plan.Once(&d.pass, maskKey{l}, func() (*tensor.Tensor, error) {
		g, err := d.grid(l)
		if err != nil {
			return nil, err
		}
		from, longest := make([]shapeops.Run, len(g.runs)), 0
		for i, r := range g.runs {
			from[i] = shapeops.Run{To: r.To, Len: r.Len}
			longest = max(longest, r.Len)
		}
		ones, err := tensor.Full(true, longest)
		if err != nil {
			return nil, err
		}
		mask, cells, err := d.opt.Buffer.tensor(tensor.Bool, g.shape, nil)
		if err != nil {
			return nil, err
		}
		return mask, d.fill(cells, ones, &grid{g.shape, from}, false)
	})
}

// masks returns the mask of each level of l that is padded.
func (d *denser) masks(l *Layout) ([]*tensor.Tensor, error) {
	var masks []*tensor.Tensor
	for level := d.outer + 1; level <= l.depth; level++ {
		mask, err := d.mask(l.at(level))
		if err != nil {
			return nil, err
		}
		masks = append(masks, mask)
	}
	return masks, nil
}
