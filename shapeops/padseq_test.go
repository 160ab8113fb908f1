package shapeops_test

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
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// rows are numbered rows as a value.
type rows struct{ *plan.Rows }

// Ops implements shapeops.Value.
func (r *rows) Ops() tensor.Ops[*rows] { return rowsOps{} }

// rowsOps are the operations of rows that PadSequence calls.
type rowsOps struct{ tensor.Ops[*rows] }

// Join implements tensor.Ops.
func (rowsOps) Join(p *plan.Pass, xs []*rows) (*rows, error) {
	all := make([]*plan.Rows, len(xs))
	for i, x := range xs {
		all[i] = x.Rows
	}
	joined, err := xs[0].Rows.Join(p, all)
	return &rows{joined}, err
}

// rowsOf returns numbered rows of some shapes.
func rowsOf(shapes ...[]int) (out []*rows) {
	for _, shape := range shapes {
		out = append(out, &rows{tensor.Must(plan.NewRows(shape...))})
	}
	return out
}

// PadSequence does with row numbers what nested loops do; padding is the number after all.
func TestPadSequenceOfRows(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 3000 {
		first := naive.Shape(r, 3)
		if len(first) == 0 {
			continue
		}
		dim, shapes, longest := r.IntN(len(first)), [][]int{}, 0
		for range 1 + r.IntN(4) {
			shape := slices.Clone(first)
			shape[dim] = r.IntN(4)
			longest = max(longest, shape[dim])
			shapes = append(shapes, shape)
		}
		opt := shapeops.PadSequenceOptions{Dim: dim, Left: r.IntN(2) == 0}
		if r.IntN(2) == 0 {
			opt.Length = longest + r.IntN(3)
		}
		arrays, total := naive.Number(shapes...), 0
		for _, a := range arrays {
			total += len(a.At)
		}
		want := naive.PadSequence(arrays, dim, opt.Length, opt.Left)
		got, err := shapeops.PadSequence(rowsOf(shapes...), opt)
		require.NoError(t, err)
		require.Equal(t, shapeops.Shape(want.Shape), got.Shape().Clone(), "%v %+v", shapes, opt)
		for i, at := range want.At {
			if at == naive.Gap {
				want.At[i] = total
			}
		}
		require.Equal(t, want.At, slices.AppendSeq([]int{}, got.All()), "%v %+v", shapes, opt)
	}
}

func TestPadSequenceRefuses(t *testing.T) {
	type opt = shapeops.PadSequenceOptions
	list := func(shapes ...[]int) []*rows { return rowsOf(shapes...) }
	tests := []struct {
		name string
		xs   []*rows
		opt  opt
		err  error
	}{
		{"nothing", nil, opt{}, shapeops.ErrShape},
		{"nil first", []*rows{nil}, opt{}, shapeops.ErrKind},
		{"nil later", append(list([]int{2}), nil), opt{}, shapeops.ErrKind},
		{"different elsewhere", list([]int{2, 3}, []int{2, 4}), opt{}, shapeops.ErrShape},
		{"different before the dim", list([]int{2, 3}, []int{1, 3}), opt{Dim: 1}, shapeops.ErrShape},
		{"different ranks", list([]int{2, 3}, []int{2}), opt{}, shapeops.ErrShape},
		{"longer than the length", list([]int{2}, []int{4}), opt{Length: 3}, shapeops.ErrShape},
		{"a negative length", list([]int{2}), opt{Length: -1}, shapeops.ErrShape},
		{"the smallest length", list([]int{2}), opt{Length: math.MinInt}, shapeops.ErrShape},
		{"a length that overflows", list([]int{2, 2}), opt{Length: math.MaxInt}, shapeops.ErrShape},
		{"more rows than can be listed", list([]int{2}), opt{Length: 1 << 50}, shapeops.ErrShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			was := fmt.Sprint(tt.xs)
			testkit.Fails(t, tt.err, testkit.Err(shapeops.PadSequence(tt.xs, tt.opt)))
			require.Equal(t, was, fmt.Sprint(tt.xs))
		})
	}
}

// What is stacked without the dim to pad must be of one shape.
func TestPadSequenceWithoutTheDim(t *testing.T) {
	for _, dim := range []int{1, -2, math.MaxInt, math.MinInt} {
		got, err := shapeops.PadSequence(rowsOf([]int{2}, []int{2}), shapeops.PadSequenceOptions{Dim: dim})
		require.NoError(t, err)
		require.Equal(t, "[2 2] [0 1 2 3]", got.String())
		_, err = shapeops.PadSequence(rowsOf([]int{2}, []int{1}), shapeops.PadSequenceOptions{Dim: dim})
		require.ErrorIs(t, err, shapeops.ErrShape)
	}
}
