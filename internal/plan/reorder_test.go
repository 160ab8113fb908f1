package plan_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shape"
)

// planned returns the plan of a call on a shape.
func planned(s shape.Shape, c naive.Call) (*plan.Plan, error) {
	n := append(slices.Clone(c.N), 0, 0, 0)
	switch c.Op {
	case "flip":
		return plan.Flip(s, c.N...)
	case "roll":
		return plan.Roll(s, n[1], n[0])
	case "rot90":
		return plan.Rot90(s, n[1], n[2], n[0])
	case "movedim":
		return plan.Movedim(s, n[0], n[1])
	case "at least":
		return plan.AtLeast(s, n[0])
	case "narrow":
		return plan.Narrow(s, n[0], n[1], n[2])
	case "unfold":
		return plan.Unfold(s, n[0], n[1], n[2])
	case "repeat":
		return plan.Repeat(s, c.N...)
	case "tile":
		return plan.Tile(s, c.N...)
	case "repeat interleave":
		return plan.RepeatInterleave(s, n[1], n[0])
	case "repeat each":
		return plan.RepeatEach(s, n[0], c.Index.At)
	case "gather":
		return plan.Gather(s, c.N[0], c.Index.At, c.Index.Shape)
	case "take":
		return plan.Take(s, c.N[0], c.Index.At, c.Index.Shape)
	case "window":
		return plan.Window(s, len(c.Index.Shape)-min(1, len(c.Dims)-1), c.Index.At, c.Dims, c.Sizes)
	}
	return plan.Pad(s, c.N...)
}

// calls runs a test on random calls of every operation for random shapes.
func calls(t *testing.T, test func(t *testing.T, s shape.Shape, c naive.Call, p *plan.Plan)) {
	for _, verb := range naive.Ops {
		t.Run(verb, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(len(verb))))
			for range 500 {
				s := shape.Shape(naive.Shape(r, 4))
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
	calls(t, func(t *testing.T, s shape.Shape, c naive.Call, p *plan.Plan) {
		about := fmt.Sprintf("%v of %v", c, s)
		require.Equal(t, shape.Shape(c.Want.Shape), p.Shape().Clone(), about)
		require.Equal(t, s.Clone(), p.From().Clone(), about)
		for _, trailing := range [][]int{{}, {2}, {0}} {
			rows := must(plan.NewRows(append(s.Clone(), trailing...)...))
			was := rows.String()
			got := must(rows.Execute(plan.NewPass(p)))
			require.Equal(t, must(plan.NewRows(append(s.Clone(), trailing...)...)).String(), was)
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
	calls(t, func(t *testing.T, s shape.Shape, c naive.Call, p *plan.Plan) {
		pieces, gaps := p.Pieces()
		require.Equal(t, p.Laid(), pieces+gaps > 0 || p.Laid())
		if !p.Laid() {
			return
		}
		pass, to := plan.NewPass(p), must(shape.Contiguous(p.Shape()))
		seen := make([]int, p.Shape().Size())
		mark := func(v shape.View) {
			for at := range v.Offsets() {
				seen[at]++
			}
		}
		for i := range pieces {
			piece := must(pass.Piece(i, to, must(shape.Contiguous(s))))
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
	s, bad := shape.Shape{2, 3}, shape.Shape{2, -3}
	tests := []struct {
		name string
		got  outcome
		err  error
	}{
		{"flip without such a dim", of(plan.Flip(s, 0, 2)), shape.ErrDim},
		{"flip one twice", of(plan.Flip(s, 1, 0, -1)), shape.ErrDim},
		{"flip a dim of a scalar", of(plan.Flip(shape.Shape{}, 0)), shape.ErrDim},
		{"flip the last dim there can be", of(plan.Flip(s, math.MaxInt)), shape.ErrDim},
		{"flip the first dim there can be", of(plan.Flip(s, math.MinInt)), shape.ErrDim},
		{"flip a bad shape", of(plan.Flip(bad)), shape.ErrShape},
		{"roll without such a dim", of(plan.Roll(s, 2, 1)), shape.ErrDim},
		{"roll a scalar", of(plan.Roll(shape.Shape{}, 0, 1)), shape.ErrDim},
		{"roll the first dim there can be", of(plan.Roll(s, math.MinInt, 1)), shape.ErrDim},
		{"roll a bad shape", of(plan.Roll(bad, 0, 1)), shape.ErrShape},
		{"turn one dim", of(plan.Rot90(s, 1, -1, 1)), shape.ErrDim},
		{"turn without such a first dim", of(plan.Rot90(s, -3, 1, 1)), shape.ErrDim},
		{"turn without such a second dim", of(plan.Rot90(s, 0, math.MaxInt, 1)), shape.ErrDim},
		{"turn a bad shape", of(plan.Rot90(bad, 0, 1, 1)), shape.ErrShape},
		{"move no such dim", of(plan.Movedim(s, 2, 0)), shape.ErrDim},
		{"move a dim nowhere", of(plan.Movedim(s, 0, -3)), shape.ErrDim},
		{"move a dim as far as can be", of(plan.Movedim(s, math.MinInt, math.MaxInt)), shape.ErrDim},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.err, tt.got.err) })
	}
}

// Shifts and quarters may be any number.
func TestReorderByExtremes(t *testing.T) {
	a := naive.New(5, 2)
	for _, n := range []int{math.MaxInt, math.MinInt, math.MinInt + 1, 1 << 62, -5, 5, 0} {
		require.Equal(t, a.Roll(n%5, 0).At, numbers(must(plan.Roll(shape.Shape{5, 2}, 0, n))), n)
		require.Equal(t, a.Rot90(n%4, 0, 1).At, numbers(must(plan.Rot90(shape.Shape{5, 2}, 0, 1, n))), n)
	}
}

// The pieces of a dim that is as long as can be lie within it.
func TestRollOfALongDim(t *testing.T) {
	const n = math.MaxInt
	for _, shift := range []int{1, -1, n - 1, n/2 + 2, math.MinInt + 2} {
		p := must(plan.Roll(shape.Shape{n}, 0, shift))
		v, pass, total := must(shape.Contiguous(shape.Shape{n})), plan.NewPass(p), 0
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
func numbers(p *plan.Plan) []int {
	rows := must(plan.NewRows(p.From()...))
	return slices.AppendSeq([]int{}, must(rows.Execute(plan.NewPass(p))).All())
}
