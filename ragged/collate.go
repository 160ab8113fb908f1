package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Collate makes each collection a row of dense tensors. The result is the same as with
// [VstackJoints] followed by Densify, but takes one pass. The collections may be single rows, or
// ranges of rows:
//
//	visits, err := patients.Row(i)          // of each patient in the batch
//	visits, err = visits.Range(a, b)
//	batch, err := ragged.Collate(all, opt)  // [N L], [N L M]
//
// If all collections are parts of the same collection and of the same kind, as here, Collate pads
// them without copying them first; otherwise it stacks them first. Fields that are scalars in the
// collections become [N F...]. opt.Rows must be nil. Collate returns the errors of [VstackJoints]
// and [Joint.Densify].
func Collate(js []*Joint, opt DensifyOptions) (*Dense, error) {
	if len(js) == 0 {
		return nil, fmt.Errorf("%w: got nothing to collate, want at least one collection", shapeops.ErrShape)
	}
	if opt.Rows != nil {
		return nil, fmt.Errorf("%w: got Rows, want them in the list of collections", shapeops.ErrShape)
	}
	for i, j := range js {
		if !j.made() {
			return nil, fmt.Errorf("value %d: %w", i, errNoJoint)
		}
	}
	if err := opt.check(js[0].depth() + 1); err != nil {
		return nil, err
	}
	if parts, ok := siblings(js); ok {
		return collated(parts, opt)
	}
	all, err := VstackJoints(js, JoinOptions{})
	if err != nil {
		return nil, err
	}
	return all.Densify(opt)
}

// siblings returns js and true if they are parts of one collection: all single rows of one level,
// or all ranges of rows of one level. If some of js are single rows and others are ranges, it
// returns the rows in the single rows instead, as ranges, if these are alike.
func siblings(js []*Joint) ([]*Joint, bool) {
	alike := func(xs []*Joint) bool {
		for _, x := range xs {
			if x.base != xs[0].base || x.at.level != xs[0].at.level || x.at.single != xs[0].at.single {
				return false
			}
		}
		return true
	}
	if alike(js) {
		return js, true
	}
	entered, err := inners(js)
	return entered, err == nil && alike(entered)
}

// collated is Collate of siblings.
func collated(js []*Joint, opt DensifyOptions) (*Dense, error) {
	first := js[0]
	d := &denser{opt: opt, level: first.at.level, outer: first.at.level}
	if first.at.single {
		d.start = &grid{shape: shapeops.Shape{len(js)}, runs: make([]shapeops.Run, len(js))}
		for i, j := range js {
			d.start.runs[i] = shapeops.Run{To: i, From: j.at.first, Len: 1}
		}
	} else {
		d.outer--
		d.start = d.ranges(js)
	}
	return first.dense(d, func(t *Tensor) (*tensor.Tensor, error) {
		g := &grid{shape: shapeops.Shape{len(js)}, runs: make([]shapeops.Run, len(js))}
		for i, j := range js {
			g.runs[i] = shapeops.Run{To: i, From: j.rowOf(t), Len: 1}
		}
		return d.laid(t, g)
	})
}

// ranges returns the grid in which each range of rows is one row.
func (d *denser) ranges(js []*Joint) *grid {
	width := d.fixed(d.level)
	if width == 0 {
		for _, j := range js {
			width = max(width, j.at.n)
		}
	}
	g := &grid{shape: shapeops.Shape{len(js), width}}
	for i, j := range js {
		g.runs = d.opt.place(g.runs, i*width, j.at.first, j.at.n, width)
	}
	return g
}
