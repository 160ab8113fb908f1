package shapeops_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/naive"
	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
)

// planned returns the plan of a call on a shape.
func planned(s shapeops.Shape, c naive.Call) (*shapeops.Plan, error) {
	if made, ok, err := naive.Do[*shapeops.Plan](s, c); ok {
		return made, err
	}
	switch c.Verb {
	case "gather":
		return s.Gather(c.N[0], c.Index.At, c.Index.Shape)
	case "take":
		return s.Take(c.N[0], c.Index.At, c.Index.Shape)
	case "window":
		return s.Window(len(c.Index.Shape)-min(1, len(c.Dims)-1), c.Index.At, c.Dims, c.Sizes)
	}
	return s.Pad(c.N...)
}

// calls runs a test on random calls of every verb for random shapes.
func calls(t *testing.T, test func(t *testing.T, s shapeops.Shape, c naive.Call, p *shapeops.Plan)) {
	for _, verb := range naive.Verbs {
		t.Run(verb, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(len(verb))))
			for range 500 {
				s := shapeops.Shape(naive.Shape(r, 4))
				c, ok := naive.Random(r, verb, s)
				if !ok {
					continue
				}
				p, err := planned(s, c)
				require.NoError(t, err, "%v of %v", c, s)
				test(t, s, c, p)
			}
		})
	}
}

// Every plan does with row numbers what nested loops do; padding is the next number.
func TestCallsMoveRows(t *testing.T) {
	calls(t, func(t *testing.T, s shapeops.Shape, c naive.Call, p *shapeops.Plan) {
		about := fmt.Sprintf("%v of %v", c, s)
		require.Equal(t, shapeops.Shape(c.Want.Shape), p.Shape().Clone(), about)
		require.Equal(t, s.Clone(), p.From().Clone(), about)
		for _, trailing := range [][]int{{}, {2}, {0}} {
			rows := must(shapeops.NewRows(append(s.Clone(), trailing...)...))
			was := rows.String()
			got := must(rows.Execute(shapeops.NewPass(p)))
			require.Equal(t, must(shapeops.NewRows(append(s.Clone(), trailing...)...)).String(), was)
			require.Equal(t, widened(c.Want, trailing, rows.Count()), slices.AppendSeq([]int{}, got.All()), about)
		}
	})
}

// widened returns the numbers of a with those of trailing dims, gap where it has none.
func widened(a naive.Array, trailing []int, gap int) []int {
	out, n := []int{}, naive.Size(trailing)
	for _, at := range a.At {
		for i := range n {
			if at == naive.Gap {
				out = append(out, gap)
			} else {
				out = append(out, at*n+i)
			}
		}
	}
	return out
}

// Pieces do not overlap, and with the gaps they cover the result.
func TestPiecesCoverTheResult(t *testing.T) {
	calls(t, func(t *testing.T, s shapeops.Shape, c naive.Call, p *shapeops.Plan) {
		pieces, gaps := p.Pieces()
		require.Equal(t, p.Laid(), pieces+gaps > 0 || p.Laid())
		if !p.Laid() {
			return
		}
		pass, to := shapeops.NewPass(p), must(shapeops.Contiguous(p.Shape()))
		seen := make([]int, p.Shape().Size())
		mark := func(v shapeops.View) {
			for at := range v.Offsets() {
				seen[at]++
			}
		}
		for i := range pieces {
			piece := must(pass.Piece(i, to, must(shapeops.Contiguous(s))))
			require.Equal(t, piece.To.Shape, piece.From.Shape, "%v of %v", c, s)
			mark(piece.To)
		}
		for i := range gaps {
			mark(must(pass.Gap(i, to)))
		}
		require.Equal(t, slices.Repeat([]int{1}, len(seen)), seen, "%v of %v", c, s)
	})
}

func TestReorderRefuses(t *testing.T) {
	type shape = shapeops.Shape
	s, bad := shape{2, 3}, shape{2, -3}
	tests := []struct {
		name string
		got  outcome
		err  error
	}{
		{"flip without such a dim", of(s.Flip(0, 2)), shapeops.ErrDim},
		{"flip one twice", of(s.Flip(1, 0, -1)), shapeops.ErrDim},
		{"flip a dim of a scalar", of(shape{}.Flip(0)), shapeops.ErrDim},
		{"flip the last dim there can be", of(s.Flip(math.MaxInt)), shapeops.ErrDim},
		{"flip the first dim there can be", of(s.Flip(math.MinInt)), shapeops.ErrDim},
		{"flip a bad shape", of(bad.Flip()), shapeops.ErrShape},
		{"roll without such a dim", of(s.Roll(1, 2)), shapeops.ErrDim},
		{"roll a scalar", of(shape{}.Roll(1, 0)), shapeops.ErrDim},
		{"roll the first dim there can be", of(s.Roll(1, math.MinInt)), shapeops.ErrDim},
		{"roll a bad shape", of(bad.Roll(1, 0)), shapeops.ErrShape},
		{"turn one dim", of(s.Rot90(1, 1, -1)), shapeops.ErrDim},
		{"turn without such a first dim", of(s.Rot90(1, -3, 1)), shapeops.ErrDim},
		{"turn without such a second dim", of(s.Rot90(1, 0, math.MaxInt)), shapeops.ErrDim},
		{"turn a bad shape", of(bad.Rot90(1, 0, 1)), shapeops.ErrShape},
		{"move no such dim", of(s.Movedim(2, 0)), shapeops.ErrDim},
		{"move a dim nowhere", of(s.Movedim(0, -3)), shapeops.ErrDim},
		{"move a dim as far as can be", of(s.Movedim(math.MinInt, math.MaxInt)), shapeops.ErrDim},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.err, tt.got.err) })
	}
}

// Shifts and quarters may be any number.
func TestReorderByExtremes(t *testing.T) {
	a := naive.New(5, 2)
	for _, n := range []int{math.MaxInt, math.MinInt, math.MinInt + 1, 1 << 62, -5, 5, 0} {
		require.Equal(t, a.Roll(n%5, 0).At, numbers(must(shapeops.Shape{5, 2}.Roll(n, 0))), n)
		require.Equal(t, a.Rot90(n%4, 0, 1).At, numbers(must(shapeops.Shape{5, 2}.Rot90(n, 0, 1))), n)
	}
}

// The pieces of a dim that is as long as can be lie within it.
func TestRollOfALongDim(t *testing.T) {
	const n = math.MaxInt
	for _, shift := range []int{1, -1, n - 1, n/2 + 2, math.MinInt + 2} {
		p := must(shapeops.Shape{n}.Roll(shift, 0))
		v, pass, total := must(shapeops.Contiguous(shapeops.Shape{n})), shapeops.NewPass(p), 0
		pieces, _ := p.Pieces()
		for i := range pieces {
			piece := must(pass.Piece(i, v, v))
			require.Positive(t, piece.To.Shape[0], "shift %d", shift)
			require.GreaterOrEqual(t, piece.From.Offset, 0, "shift %d", shift)
			require.LessOrEqual(t, piece.From.Offset, n-piece.From.Shape[0], "shift %d", shift)
			total += piece.To.Shape[0]
		}
		require.Equal(t, n, total, "shift %d", shift)
	}
}

// numbers returns where the elements of a plan's result were; padding has the number after the
// last.
func numbers(p *shapeops.Plan) []int {
	rows := must(shapeops.NewRows(p.From()...))
	return slices.AppendSeq([]int{}, must(rows.Execute(shapeops.NewPass(p))).All())
}
