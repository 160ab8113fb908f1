package tensor_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A part is one part of an index expression, as the oracle reads it.
type part struct {
	kind              ix.Kind
	start, stop, step int   // of a range; start is also a position
	list, shape       []int // positions and their arrangement
	bits              []bool
}

// index spells p for the implementation.
func (p part) index() ix.Index {
	switch p.kind {
	case ix.KindRest:
		return ix.Rest
	case ix.KindNew:
		return ix.New
	case ix.KindAt:
		return ix.At(p.start)
	case ix.KindRange:
		return ix.Range(p.start, p.stop).Step(p.step)
	case ix.KindTake:
		return ix.TakeND(p.list, p.shape...)
	case ix.KindMask:
		if len(p.shape) == 0 {
			return ix.Bool(p.bits[0])
		}
		return ix.Mask(p.bits, p.shape...)
	}
	return ix.All
}

// A list is a part that waits for the second phase: the positions to take of one dim.
type list struct {
	dim  int
	at   array // its at are the positions
	over int   // the size of the dim
}

// An oracle indexes as torch does, in two phases: positions, ranges and new dims one by one, each making a new array;
// then all lists, broadcast together. A mask is as many lists as it has dims. Bad expressions clear ok.
type oracle struct {
	a     array
	dim   int // the next dim of a
	wide  int // dims more than one each that masks so far cover
	lists []list
	ok    bool
}

func indexed(a array, parts []part) (array, bool) {
	o, named := oracle{a: a, ok: true}, 0
	for _, p := range parts {
		switch {
		case p.kind == ix.KindMask:
			named += len(p.shape)
		case p.kind != ix.KindNew && p.kind != ix.KindRest:
			named++
		}
	}
	rest := len(a.shape) - named
	for _, p := range parts {
		if p.kind == ix.KindRest {
			o.dim += rest
		} else if o.ok {
			o.first(p)
		}
	}
	if o.ok && len(o.lists) > 0 {
		o.second()
	}
	return o.a, o.ok
}

// first does the first phase of a part.
func (o *oracle) first(p part) {
	if o.wide > 0 && o.cuts(p) {
		o.ok = false
		return
	}
	switch p.kind {
	case ix.KindAt:
		at := p.resolve(p.start, o.a.shape[o.dim])
		if o.ok = at >= 0; o.ok {
			o.keep([]int{at})
			o.a.shape = slices.Delete(o.a.shape, o.dim, o.dim+1)
		}
	case ix.KindRange:
		o.keep(p.positions(o.a.shape[o.dim]))
		o.dim++
	case ix.KindNew:
		o.insert()
		o.dim++
	case ix.KindTake:
		o.lists = append(o.lists, list{o.dim, array{p.shape, p.list}, o.a.shape[o.dim]})
		o.dim++
	case ix.KindMask:
		o.mask(p)
	default:
		o.dim++
	}
}

// cuts reports whether a part, behind a mask over several dims, changes its own dim or those that torch could mean. A
// position and a new dim do, unless all of these have size 1.
func (o *oracle) cuts(p part) bool {
	end := o.dim + 1
	if p.kind == ix.KindNew {
		end = o.dim
	}
	if p.kind != ix.KindAt && p.kind != ix.KindNew && p.kind != ix.KindRange {
		return false
	}
	for _, n := range o.a.shape[o.dim-o.wide : end] {
		if p.kind != ix.KindRange && n != 1 || p.kind == ix.KindRange && (p.step != 1 || len(p.positions(n)) != n) {
			return true
		}
	}
	return false
}

// resolve returns a position that may count from the end, or -1 if there is none.
func (part) resolve(i, n int) int {
	for at := range n {
		if i == at || i == at-n {
			return at
		}
	}
	return -1
}

// positions lists what a range picks of n positions, by trying each number it could mean.
func (p part) positions(n int) []int {
	all, start, stop := []int{}, p.start, p.stop
	if start < 0 {
		start += n
	}
	if stop < 0 {
		stop += n
	}
	for i := max(start, 0); i < min(stop, n); i += p.step {
		all = append(all, i)
	}
	return all
}

// keep replaces the current dim by the given positions of it.
func (o *oracle) keep(positions []int) {
	shape := slices.Clone(o.a.shape)
	shape[o.dim] = len(positions)
	o.a = build(shape, func(pos []int) int {
		pos = slices.Clone(pos)
		pos[o.dim] = positions[pos[o.dim]]
		return o.a.get(pos)
	})
}

func (o *oracle) insert() { o.a.shape = slices.Insert(slices.Clone(o.a.shape), o.dim, 1) }

// mask turns a mask into lists: the coordinates of what is true.
func (o *oracle) mask(p part) {
	if len(p.shape) == 0 {
		o.insert()
		p = part{bits: p.bits, shape: []int{1}}
	} else {
		o.wide += len(p.shape) - 1
	}
	for d := range p.shape {
		l := list{dim: o.dim, over: o.a.shape[o.dim], at: array{at: []int{}}}
		each(p.shape, func(pos []int) {
			if p.bits[flat(p.shape, pos)] {
				l.at.at = append(l.at.at, pos[d])
			}
		})
		l.at.shape = []int{len(l.at.at)}
		o.lists = append(o.lists, l)
		o.dim++
	}
}

// second takes all lists together.
func (o *oracle) second() {
	together, ok := o.broadcast()
	if o.ok = ok; !ok {
		return
	}
	place, kept := o.lists[0].dim, []int{}
	for i, l := range o.lists {
		if l.dim != o.lists[0].dim+i {
			place = 0
		}
	}
	for dim, n := range o.a.shape {
		if !slices.ContainsFunc(o.lists, func(l list) bool { return l.dim == dim }) {
			kept = append(kept, n)
		}
	}
	o.a = build(slices.Insert(kept, place, together...), func(pos []int) int {
		rest := slices.Delete(slices.Clone(pos), place, place+len(together))
		for _, l := range o.lists { // ascending: each is inserted where it belongs
			rest = slices.Insert(rest, l.dim, l.take(pos[place:place+len(together)]))
		}
		return o.a.get(rest)
	})
}

// broadcast returns the common shape of the lists; it checks their positions too.
func (o *oracle) broadcast() ([]int, bool) {
	together := []int{}
	for _, l := range o.lists {
		for len(together) < len(l.at.shape) {
			together = slices.Insert(together, 0, 1)
		}
		for _, i := range l.at.at {
			if (part{}).resolve(i, l.over) < 0 {
				return nil, false
			}
		}
	}
	for _, l := range o.lists {
		for i, n := range l.at.shape {
			have := &together[len(together)-len(l.at.shape)+i]
			if n != 1 && *have != 1 && n != *have {
				return nil, false
			}
			*have = pick(n == 1, *have, n)
		}
	}
	return together, true
}

// take returns the position that l means at a position of what the lists broadcast to.
func (l list) take(pos []int) int {
	pos = slices.Clone(pos[len(pos)-len(l.at.shape):])
	for i, n := range l.at.shape {
		pos[i] = min(pos[i], n-1)
	}
	return (part{}).resolve(l.at.get(pos), l.over)
}

// randomParts makes an expression for a shape, mostly a good one.
func randomParts(r *rand.Rand, shape []int) []part {
	parts, rest := []part{}, r.IntN(3) == 0
	for dim := 0; dim < len(shape); {
		if r.IntN(8) == 0 {
			parts = append(parts, part{kind: ix.KindNew})
		}
		if r.IntN(12) == 0 {
			parts = append(parts, part{kind: ix.KindMask, shape: []int{}, bits: []bool{r.IntN(4) > 0}})
		}
		if rest && r.IntN(3) == 0 {
			parts, rest = append(parts, part{kind: ix.KindRest}), false
			dim += r.IntN(len(shape) - dim + 1)
			continue
		}
		p := randomPart(r, shape[dim:])
		parts = append(parts, p)
		dim += pick(p.kind == ix.KindMask, len(p.shape), 1)
	}
	if rest {
		parts = append(parts, part{kind: ix.KindRest})
	}
	return parts
}

// randomPart makes a part for the first of some dims, or for two of them.
func randomPart(r *rand.Rand, shape []int) part {
	n := shape[0]
	at := func() int { return r.IntN(2*n+1) - n }
	switch r.IntN(8) {
	case 0, 1:
		return part{kind: ix.KindAt, start: at()}
	case 2:
		return part{kind: ix.KindRange, start: r.IntN(2*n+4) - n - 2, stop: r.IntN(2*n+4) - n - 2, step: 1}
	case 3:
		return part{kind: ix.KindRange, start: at(), stop: ix.End, step: 1 + r.IntN(3)}
	case 4, 5:
		arrangements := [][]int{{2}, {2}, {1}, {3}, {0}, {2, 2}, {2, 1}, {1, 2}, {1, 1, 2}}
		return randomTake(r, n, arrangements[r.IntN(len(arrangements))])
	case 6:
		return randomMask(r, shape[:1+r.IntN(min(2, len(shape)))])
	}
	return part{kind: ix.KindAll}
}

// randomTake makes a list of good positions, with a bad one now and then.
func randomTake(r *rand.Rand, n int, shape []int) part {
	p := part{kind: ix.KindTake, shape: shape, list: make([]int, size(shape))}
	for i := range p.list {
		p.list[i] = pick(r.IntN(99) == 0, n, r.IntN(max(1, 2*n))-n)
	}
	return p
}

func randomMask(r *rand.Rand, shape []int) part {
	p := part{kind: ix.KindMask, shape: shape, bits: make([]bool, size(shape))}
	for i := range p.bits {
		p.bits[i] = r.IntN(2) == 0
	}
	return p
}

// TestIndexOracle compares Index, IndexInto and SetIndex with the two phases done by nested loops, on random
// expressions over every shape and layout.
func TestIndexOracle(t *testing.T) {
	const rounds = 150
	r, good := rand.New(rand.NewPCG(7, 9)), 0
	for _, l := range layouts {
		for _, shape := range shapes {
			for range rounds {
				m, d := memories[r.IntN(len(memories))], widths[r.IntN(len(widths))]
				s, parts := specimenOf(t, d, shape, l, m, 0), randomParts(r, shape)
				expr := make([]ix.Index, len(parts))
				for i, p := range parts {
					expr[i] = p.index()
				}
				about := fmt.Sprintf("[%s] of %s %v in %s memory", ix.Format(expr...), l.name, s, m.name)
				want, ok := indexed(s.array, parts)
				got, err := s.Index(expr...)
				if !ok {
					require.ErrorIs(t, err, shapeops.ErrIndex, about)
					continue
				}
				require.NoError(t, err, about)
				require.Equal(t, shapeops.Shape(want.shape), got.Shape(), about)
				require.Equal(t, s.want(want), content(t, got), about)
				checkIndexInto(t, s, want, expr, layouts[r.IntN(3)], about)
				checkSetIndex(t, s, want, expr, layouts[r.IntN(len(layouts))], about)
				good++
			}
		}
	}
	require.Greater(t, good, 2500, "most expressions are good ones")
}

// checkIndexInto reads into a destination of a given layout, and looks at the whole of its memory.
func checkIndexInto(t *testing.T, s specimen, want array, expr []ix.Index, l layout, about string) {
	t.Helper()
	dst := specimenOf(t, s.DType(), want.shape, l, memories[0], 50)
	after := dst.written(dst.array, s.want(want))
	require.NoError(t, s.IndexInto(dst.Tensor, expr...), "%s into %s", about, l.name)
	require.Equal(t, after, dst.mem, "%s into %s", about, l.name)
}

// checkSetIndex writes a value of a given layout, and looks at the whole of s's memory.
func checkSetIndex(t *testing.T, s specimen, want array, expr []ix.Index, l layout, about string) {
	t.Helper()
	value := specimenOf(t, s.DType(), want.shape, l, memories[0], 50)
	after := s.written(want, value.want(value.array))
	if refusesWrites(t, s, s.SetIndex(value.Tensor, expr...)) {
		return
	}
	require.Equal(t, after, s.mem, "%s set from %s", about, l.name)
}

// Rearranging a tensor keeps its elements and their order, whether the result is a view or a copy.
func TestReshapeOracle(t *testing.T) {
	specimens(t, func(t *testing.T, s specimen) {
		n := size(s.array.shape)
		for _, to := range [][]int{{n}, {1, n}, {n, 1, 1}, {2, n / 2}, {n / 3, 3}, {n / 4, 2, 2}} {
			if size(to) != n {
				continue
			}
			got, err := s.Reshape(to...)
			require.NoError(t, err)
			require.Equal(t, shapeops.Shape(to), got.Shape())
			require.Equal(t, s.want(s.array), content(t, got), "%v to %v", s, to)
			for dim := range to {
				cut, err := got.Unflatten(dim, 1, to[dim])
				require.NoError(t, err)
				joined, err := cut.Flatten(dim, dim+1)
				require.NoError(t, err)
				require.Equal(t, s.want(s.array), content(t, joined), "%v to %v", s, to)
			}
		}
	})
}

func TestSetIndexBroadcastsAndRepeats(t *testing.T) {
	x, err := tensor.Zeros[int8](3, 2)
	require.NoError(t, err)
	value, err := tensor.From([]int8{1, 2, 3}, 3, 1)
	require.NoError(t, err)
	require.NoError(t, x.SetIndex(value, ix.Take(2, 0, 2)))
	require.Equal(t, "int8 [3 2]\n[[2 2]\n [0 0]\n [3 3]]", x.String(), "the last value written stays")
	require.NoError(t, x.SetIndex(tensor.Scalar[int8](9), ix.All, ix.At(1)))
	require.Equal(t, "int8 [3 2]\n[[2 9]\n [0 9]\n [3 9]]", x.String())
}

func TestAsIndex(t *testing.T) {
	square, err := tensor.From([]uint8{2, 0, 0, 1}, 2, 2)
	require.NoError(t, err)
	turned, err := square.Transpose(0, 1)
	require.NoError(t, err)
	mask, err := tensor.From([]bool{true, false, true, false}, 2, 2)
	require.NoError(t, err)
	tests := []struct {
		name string
		x    *tensor.Tensor
		want string
	}{
		{"integers are a take", tensor.Vector[int16](3, -1), "[3, -1]"},
		{"in their arrangement", turned, "[2, 0, 0, 1]@2x2"},
		{"one alone is a position", tensor.Scalar[int64](-2), "-2"},
		{"one that no int holds is out of range anyway", tensor.Vector[uint64](1 << 63), "[9223372036854775807]"},
		{"bools are a mask", tensor.Vector(true, false), "mask[TF]"},
		{"over as many dims as they have", mask, "mask[TFTF]@2x2"},
		{"one alone is a mask over no dim", tensor.Scalar(true), "mask[T]@"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.x.AsIndex()
			require.NoError(t, err)
			require.NoError(t, got.Check())
			require.Equal(t, tt.want, got.String())
		})
	}
	_, err = tensor.Scalar(1.0).AsIndex()
	require.ErrorIs(t, err, tensor.ErrDType)
	require.EqualError(t, err, "dtype mismatch: got an index of float64, want bool or integers")
}

// Batches that are taken again and again into one destination cost headers, however many rows they have.
func TestIndexIntoAllocates(t *testing.T) {
	x, err := tensor.Zeros[float32](1000, 8)
	require.NoError(t, err)
	perBatch := func(rows int) float64 {
		dst, err := tensor.Zeros[float32](rows, 8)
		require.NoError(t, err)
		take := ix.Take(rand.New(rand.NewPCG(1, 2)).Perm(1000)[:rows]...)
		return testing.AllocsPerRun(100, func() { err = x.IndexInto(dst, take) })
	}
	require.Equal(t, perBatch(2), perBatch(1000))
	require.LessOrEqual(t, perBatch(1000), 12.0)
}
