package ragged

import (
	"context"
	"fmt"
	"math"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shape"
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
	// Masks is for padding several tensors, by loader.Pad and package joint: the key of a
	// dictionary of masks in the result; "" means no masks. For a tensor with one level, the mask
	// is under its key, bool [N L], true where there is a value. For one with several levels there
	// is a dictionary under its key, with a mask under the number of each level: "1" is bool [N L],
	// "2" is bool [N L M]. For one [Tensor] see [Tensor.DensifyMasked].
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
	defer errtext.Name("densify", &err)
	dense, _, err = t.densified(opt, false)
	return dense, err
}

// DensifyMasked is [Tensor.Densify] that also returns masks, true where there is a row or a value:
// for each level a bool tensor, [B... L], then [B... L M].
func (t *Tensor) DensifyMasked(opt DensifyOptions) (dense *tensor.Tensor, masks []*tensor.Tensor, err error) {
	defer errtext.Name("densify", &err)
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
		return nil, nil, fmt.Errorf("%w: got the key of masks %q, want none for one tensor: DensifyMasked returns its masks", shapeops.ErrKind, string(opt.Masks))
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
	d := &denser{opt: opt, start: &grid{shape: rows.Shape()}}
	if first, n, ok := rows.Span(); ok {
		d.start.runs = []shape.Run{{To: 0, From: first, Len: n}}
	} else {
		d.start.runs = make([]shape.Run, 0, rows.Shape().Size())
		for row := range rows.All() {
			d.start.runs = append(d.start.runs, shape.Run{To: len(d.start.runs), From: row, Len: 1})
		}
	}
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
		from, longest := make([]shape.Run, len(g.runs)), 0
		for i, r := range g.runs {
			from[i] = shape.Run{To: r.To, Len: r.Len}
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

// A fill is a transfer that fills one dense tensor, perhaps for a named field.
type fill struct {
	tr    *tensor.Transfer
	name  string
	bytes int
}

// largeFill is the size in bytes above which a second core speeds up filling a dense tensor.
const largeFill = 4 << 20

// finish runs all fills, several tensors at the same time. It is faster to fill a large tensor on
// one core, past the caches, than to divide it among several.
func (d *denser) finish() error {
	fills := d.fills
	d.fills = nil
	cores, large := workers.Count(d.opt.Workers, math.MaxInt), 0
	for _, f := range fills {
		if f.bytes > largeFill {
			large++
		}
	}
	each := max(1, cores/max(1, large))
	return workers.Do(context.Background(), len(fills), cores, func(i int) error {
		fills[i].tr.Workers = each
		err := fills[i].tr.Run()
		if err != nil && fills[i].name != "" {
			return fmt.Errorf("field %q: %w", fills[i].name, err)
		}
		return err
	})
}

// A grid places the rows of a level in a dense tensor: the shape [B... L M] up to that level, and
// the runs of rows, ordered by destination.
type grid struct {
	shape shapeops.Shape
	runs  []shape.Run
}

// A gridKey is the key under which a denser keeps the grid of a layout's innermost level.
type gridKey struct{ l *Layout }

// grid returns the grid of the rows of l's innermost level.
func (d *denser) grid(l *Layout) (*grid, error) {
	if l.depth == d.level {
		return d.start, nil
	}
	return plan.Once(&d.pass, gridKey{l}, func() (*grid, error) {
		around, err := d.grid(l.outer)
		if err != nil {
			return nil, err
		}
		width := d.fixed(l.depth)
		count, longest := 0, int64(0)
		for _, r := range around.runs {
			count += r.Len
			last := l.offsets[r.From]
			for _, o := range l.offsets[r.From+1 : r.From+r.Len+1] {
				longest = max(longest, o-last)
				last = o
			}
		}
		if width == 0 {
			width = int(longest)
		}
		sizes := append(around.shape.Clone(), width)
		if err := sizes.Check(); err != nil {
			return nil, err
		}
		runs := make([]shape.Run, 0, count)
		for _, r := range around.runs {
			to, first := r.To*width, int(l.offsets[r.From])
			for _, o := range l.offsets[r.From+1 : r.From+r.Len+1] {
				runs = d.opt.place(runs, to, first, int(o)-first, width)
				to, first = to+width, int(o)
			}
		}
		return &grid{sizes, runs}, nil
	})
}

// fixed returns the width of rows at a depth, or 0 for the width of the longest row.
func (d *denser) fixed(depth int) int {
	if i := depth - d.outer - 1; i < len(d.opt.Widths) {
		return d.opt.Widths[i]
	}
	return 0
}

// place appends the run that places n rows, the first of which is first, in the row of width cells
// that begins at cell to.
func (opt *DensifyOptions) place(runs []shape.Run, to, first, n, width int) []shape.Run {
	if n > width {
		if opt.KeepLast {
			first += n - width
		}
		n = width
	}
	if n == 0 {
		return runs
	}
	if opt.Left {
		to += width - n
	}
	return append(runs, shape.Run{To: to, From: first, Len: n})
}
