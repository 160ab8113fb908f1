package naive

import (
	"slices"

	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// Index returns the part of a that an index expression selects, or false if the expression does not
// fit a.
//
// It works in two phases, as torch does. First positions, ranges and new dims are applied one by
// one, each to a new array. Then all lists are broadcast together and applied. A mask is one list
// for each of its dims.
func (a Array) Index(expr ...ix.Index) (Array, bool) {
	o := indexer{a: a, ok: true}
	rest, ok := left(expr, len(a.Shape))
	if !ok {
		return a, false
	}
	for _, x := range expr {
		if x.Kind() == ix.KindRest && o.ok {
			o.own = append(o.own, o.a.Shape[o.dim:o.dim+rest]...)
			o.dim += rest
		} else if o.ok {
			o.first(x)
		}
	}
	if o.ok && len(o.lists) > 0 {
		o.second()
	}
	return o.a, o.ok
}

// Set returns a with the part that an expression selects replaced by value, broadcast, or false if
// the expression does not fit. If an element is selected twice, the last value stays.
func (a Array) Set(value Array, expr ...ix.Index) (Array, bool) {
	part, ok := New(a.Shape...).Index(expr...)
	if !ok {
		return a, false
	}
	value = value.Expand(part.Shape...)
	out := Array{a.Shape, slices.Clone(a.At)}
	for i, at := range part.At {
		out.At[at] = value.At[i]
	}
	return out, true
}

// Fill returns a with v for each element that an expression selects, or false if it does not fit.
func (a Array) Fill(v int, expr ...ix.Index) (Array, bool) {
	return a.Set(Array{At: []int{v}}, expr...)
}

// left returns for how many dims a "..." in an expression stands. ok is false if the expression is
// invalid by itself or has more dims than dims.
func left(expr []ix.Index, dims int) (rest int, ok bool) {
	named, rests := 0, 0
	for _, x := range expr {
		switch {
		case x.Check() != nil:
			return 0, false
		case x.Kind() == ix.KindRest:
			rests++
		case x.Kind() == ix.KindMask:
			named += len(x.Shape())
		case x.Kind() != ix.KindNew:
			named++
		}
	}
	return dims - named, named <= dims && rests <= 1
}

// A list is the positions to take along one dim, in the second phase.
type list struct {
	dim  int
	at   Array // its elements are the positions
	over int   // size of the dim
}

// An indexer applies an expression part by part. Invalid expressions clear ok.
type indexer struct {
	a     Array
	dim   int   // next dim of a
	wide  int   // sum over masks so far of their dims after the first
	own   []int // the sizes of the dims before dim, without new ones
	lists []list
	ok    bool
}

// first applies a part in the first phase.
func (o *indexer) first(x ix.Index) {
	if o.wide > 0 && o.cuts(x) {
		o.ok = false
		return
	}
	if k := x.Kind(); k != ix.KindNew && k != ix.KindMask {
		o.own = append(o.own, o.a.Shape[o.dim])
	}
	switch x.Kind() {
	case ix.KindAt:
		at := resolve(x.Position(), o.a.Shape[o.dim])
		if o.ok = at >= 0; o.ok {
			o.a = o.a.Keep(o.dim, []int{at})
			o.a.Shape = slices.Delete(o.a.Shape, o.dim, o.dim+1)
		}
	case ix.KindRange:
		o.a = o.a.Keep(o.dim, positions(x, o.a.Shape[o.dim]))
		o.dim++
	case ix.KindNew:
		o.insert()
		o.dim++
	case ix.KindTake:
		o.lists = append(o.lists, list{o.dim, Array{x.Shape(), x.List()}, o.a.Shape[o.dim]})
		o.dim++
	case ix.KindMask:
		o.mask(x)
	default:
		o.dim++
	}
}

// cuts reports whether a part after a mask over several dims changes its own dim or a dim that
// torch could mean. A position and a new dim do, unless all of these dims have size 1.
func (o *indexer) cuts(x ix.Index) bool {
	if x.Kind() != ix.KindAt && x.Kind() != ix.KindNew && x.Kind() != ix.KindRange {
		return false
	}
	sizes := o.own[len(o.own)-o.wide:]
	if x.Kind() != ix.KindNew {
		sizes = append(slices.Clone(sizes), o.a.Shape[o.dim])
	}
	return slices.ContainsFunc(sizes, func(n int) bool {
		if x.Kind() != ix.KindRange {
			return n != 1
		}
		_, _, step := x.Bounds()
		return step != 1 || len(positions(x, n)) != n
	})
}

// resolve returns position i of n, which may count from the end, or -1 if it is invalid.
func resolve(i, n int) int {
	for at := range n {
		if i == at || i == at-n {
			return at
		}
	}
	return -1
}

// positions lists the positions of n that a range selects, by trying each of them.
func positions(x ix.Index, n int) []int {
	start, stop, step := x.Bounds()
	if start < 0 {
		start = max(0, start+n)
	}
	if stop < 0 {
		stop += n
	}
	all := []int{}
	for i := range n {
		if i >= start && i < stop && (i-start)%step == 0 {
			all = append(all, i)
		}
	}
	return all
}

func (o *indexer) insert() { o.a.Shape = slices.Insert(slices.Clone(o.a.Shape), o.dim, 1) }

// mask replaces a mask by lists: the coordinates of its true elements.
func (o *indexer) mask(x ix.Index) {
	shape := x.Shape()
	o.own = append(o.own, shape...)
	if len(shape) == 0 {
		o.insert()
		shape = []int{1}
	}
	if o.ok = slices.Equal(shape, o.a.Shape[o.dim:o.dim+len(shape)]); !o.ok {
		return
	}
	o.wide += len(shape) - 1
	for d := range shape {
		l := list{dim: o.dim, over: shape[d]}
		Each(shape, func(pos []int) {
			if slices.Contains(x.List(), Flat(shape, pos)) {
				l.at.At = append(l.at.At, pos[d])
			}
		})
		l.at.Shape = []int{len(l.at.At)}
		o.lists = append(o.lists, l)
		o.dim++
	}
}
