package ragged

import (
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
)

// A grid places the rows of a level in a dense tensor: the shape [B... L M] up to that level, and
// the runs of rows, ordered by destination.
type grid struct {
	shape shapeops.Shape
	runs  []shapeops.Run
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
		if width == 0 {
			width = longest(l, around)
		}
		shape := append(around.shape.Clone(), width)
		if err := shape.Check(); err != nil {
			return nil, err
		}
		return &grid{shape, d.lay(l, around, width)}, nil
	})
}

// fixed returns the width of rows at a depth, or 0 for the width of the longest row.
func (d *denser) fixed(depth int) int {
	if i := depth - d.outer - 1; i < len(d.opt.Widths) {
		return d.opt.Widths[i]
	}
	return 0
}

// longest returns the length of the longest row that l has in the rows of the grid around.
func longest(l *Layout, around *grid) int {
	most := int64(0)
	for _, r := range around.runs {
		last := l.offsets[r.From]
		for _, o := range l.offsets[r.From+1 : r.From+r.Len+1] {
			most = max(most, o-last)
			last = o
		}
	}
	return int(most)
}

// lay returns the runs that place the rows that l has in the rows of the grid around, padded to
// width.
func (d *denser) lay(l *Layout, around *grid, width int) []shapeops.Run {
	count := 0
	for _, r := range around.runs {
		count += r.Len
	}
	runs := make([]shapeops.Run, 0, count)
	for _, r := range around.runs {
		to, first := r.To*width, int(l.offsets[r.From])
		for _, o := range l.offsets[r.From+1 : r.From+r.Len+1] {
			runs = d.opt.place(runs, to, first, int(o)-first, width)
			to, first = to+width, int(o)
		}
	}
	return runs
}

// place appends the run that places n rows, the first of which is first, in the row of width cells
// that begins at cell to.
func (opt *DensifyOptions) place(runs []shapeops.Run, to, first, n, width int) []shapeops.Run {
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
	return append(runs, shapeops.Run{To: to, From: first, Len: n})
}
