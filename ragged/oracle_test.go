package ragged_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

var errorsIs = errors.Is

// A step does something to a tensor and to its model, compares what comes of both, and returns what
// the next step works on.
type step struct {
	name string
	run  func(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model)
}

var steps = slices.Concat(batchSteps, levelSteps, valueSteps)

// program runs random steps one after the other.
func program(t testing.TB, seed, ops uint64) {
	g := &drawer{TB: t, Rand: rand.New(rand.NewPCG(seed, ops))}
	x, m := g.tensor()
	trace := fmt.Sprint(m)
	defer func() {
		if t.Failed() {
			t.Log(trace)
		}
	}()
	for k := 0; k < 6 && len(m.rows) < 40 && x.NumValues() < 300; k++ {
		s := steps[ops%uint64(len(steps))]
		ops = ops/uint64(len(steps)) + g.Uint64()%1000
		trace += "\n" + s.name
		before := m.String()
		y, n := s.run(g, x, m)
		if s.name != "set index" {
			require.Equal(t, before, modelOf(t, x).String(), "%s changed its receiver", s.name)
		}
		x, m = y, n
		trace += " -> " + m.String()
	}
}

// Random programs do what loops over lists of lists do.
func TestOracle(t *testing.T) {
	for i, s := range steps {
		t.Run(s.name, func(t *testing.T) {
			for seed := range uint64(120) {
				program(t, seed, uint64(i))
			}
		})
	}
}

// FuzzRagged checks that whatever is done to a ragged tensor, one thing after the other, it holds
// what lists of lists would.
func FuzzRagged(f *testing.F) {
	for i := range steps {
		f.Add(uint64(i), uint64(i))
	}
	f.Fuzz(func(t *testing.T, seed, ops uint64) { program(t, seed, ops) })
}

// batchSteps keep rows whole.
var batchSteps = []step{
	{"index", func(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model) {
		expr := naive.Expr(g.Rand, m.shape)
		a, ok := naive.New(m.shape...).Index(expr...)
		y, err := x.Index(expr...)
		if !ok {
			g.refused(err)
			return x, m
		}
		g.same(m.placed(a), y, err)
		return y, m.placed(a)
	}},
	{"permute", func(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model) {
		perm := g.Perm(len(m.shape))
		p, err := plan.Permute(x.Shape(), perm...)
		require.NoError(g, err)
		y, err := x.Ops().Execute(plan.NewPass(p))
		shape := make([]int, len(perm))
		for i, d := range perm {
			shape[i] = m.shape[d]
		}
		want := m.placed(naive.Build(shape, func(pos []int) int {
			from := make([]int, len(pos))
			for i, d := range perm {
				from[d] = pos[i]
			}
			return naive.Flat(m.shape, from)
		}))
		g.same(want, y, err)
		return y, want
	}},
	{"expand", func(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model) {
		shape := append([]int{g.IntN(3)}, m.shape...)
		p, err := plan.Expand(x.Shape(), shape...)
		require.NoError(g, err)
		y, err := x.Ops().Execute(plan.NewPass(p))
		want := m.placed(naive.Build(shape, func(pos []int) int { return naive.Flat(m.shape, pos[1:]) }))
		g.same(want, y, err)
		return y, want
	}},
	{"stack", func(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model) {
		y := g.fill(g.layout(m.shape, m.depth), x.DType(), x.Features()...)
		dim := g.IntN(len(m.shape) + 1)
		z, err := shapeops.Stack([]*ragged.Tensor{x, y, x}, dim)
		n := len(m.rows)
		all := model{nil, m.depth, slices.Concat(m.rows, modelOf(g, y).rows, m.rows)}
		want := all.placed(naive.Build(slices.Insert(slices.Clone(m.shape), dim, 3), func(pos []int) int {
			return pos[dim]*n + naive.Flat(m.shape, slices.Delete(slices.Clone(pos), dim, dim+1))
		}))
		g.same(want, z, err)
		return z, want
	}},
	{"cat of split", func(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model) {
		if len(m.shape) == 0 {
			return x, m
		}
		dim := g.IntN(len(m.shape))
		cut := g.IntN(m.shape[dim] + 1)
		parts, err := shapeops.Split(x, dim, cut, m.shape[dim]-cut)
		require.NoError(g, err)
		y, err := shapeops.Cat(parts, dim)
		g.same(m, y, err)
		return y, m
	}},
	{"stack of unbind", func(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model) {
		if len(m.shape) == 0 || m.shape[0] == 0 {
			return x, m
		}
		parts, err := shapeops.Unbind(x, 0)
		require.NoError(g, err)
		y, err := shapeops.Stack(parts, 0)
		g.same(m, y, err)
		return y, m
	}},
	{"set index", setIndex},
	{"index into", func(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model) {
		expr := naive.Expr(g.Rand, m.shape)
		a, ok := naive.New(m.shape...).Index(expr...)
		if !ok {
			return x, m
		}
		dst := g.fill(g.layout(a.Shape, m.depth), x.DType(), x.Features()...)
		require.NoError(g, x.IndexInto(dst, expr...))
		g.same(m.placed(a), dst, nil)
		require.NoError(g, x.IndexInto(dst, expr...), "now in place")
		g.same(m.placed(a), dst, nil)
		return dst, m.placed(a)
	}},
	{"clone", func(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model) {
		y, err := x.Clone()
		g.same(m, y, err)
		a, b := tensor.Must(x.Values()), tensor.Must(y.Values())
		require.False(g, a.Shape().Size() > 0 && a.SharesMemory(b))
		return y, m
	}},
}

// setIndex writes rows, of their lengths or of others, to a part of a copy.
func setIndex(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model) {
	both, err := shapeops.Stack([]*ragged.Tensor{x, x}, 0)
	require.NoError(g, err)
	y, err := both.Index(ix.At(1))
	require.NoError(g, err)
	if g.chance(2) {
		y, err = x.Clone()
		require.NoError(g, err)
	}
	expr := naive.Expr(g.Rand, m.shape)
	a, ok := naive.New(m.shape...).Index(expr...)
	if !ok {
		return x, m
	}
	src := g.source(x, m, a, expr)
	n := len(m.rows)
	set, fits := naive.New(m.shape...).Set(naive.New(src.Shape()...).Plus(n), expr...)
	err = y.SetIndex(src, expr...)
	if !fits {
		g.refused(err)
		g.same(m, y, nil)
		return y, m
	}
	want := model{nil, m.depth, slices.Concat(m.rows, modelOf(g, src).rows)}.placed(set)
	if errors.Is(err, ragged.ErrLengths) || errors.Is(err, tensor.ErrLayout) { // rows of a view
		g.same(m, y, nil)
		y, err = y.Clone()
		require.NoError(g, err)
		err = y.SetIndex(src, expr...)
	}
	g.same(want, y, err)
	first, err := both.Index(ix.At(0))
	g.same(m, first, err)
	return y, want
}

// source returns a tensor to write to the rows of x that an expression selects.
func (g *drawer) source(x *ragged.Tensor, m model, a naive.Array, expr []ix.Index) *ragged.Tensor {
	l := g.layout(a.Shape, m.depth)
	switch g.IntN(3) {
	case 0: // of the lengths that are there
		l = tensor.Must(x.Index(expr...)).Layout().Compact()
	case 1: // broadcast
		shape := slices.Clone(a.Shape)
		for i := range shape {
			if g.chance(2) {
				shape[i] = 1
			}
		}
		l = g.layout(shape[g.IntN(len(shape)+1):], m.depth)
	}
	return g.fill(l, x.DType(), x.Features()...)
}
