package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shape"
)

// TestReductions: shapes, and which dim each dim was.
func TestReductions(t *testing.T) {
	s := shape.Shape{4, 3, 2}
	reduce := func(s shape.Shape, keep bool, dims ...int) func() (*plan.Reduction, error) {
		return func() (*plan.Reduction, error) { return plan.Reduce(s, keep, dims...) }
	}
	regroup := func(s shape.Shape, groups int) func() (*plan.Reduction, error) {
		return func() (*plan.Reduction, error) { return plan.Regroup(s, groups) }
	}
	tests := []struct {
		rule    string
		make    func() (*plan.Reduction, error)
		shape   shape.Shape
		origins []int
		err     error
	}{
		{"a dim drops out", reduce(s, false, 1), shape.Shape{4, 2}, []int{0, 2}, nil},
		{"a kept dim has the size 1", reduce(s, true, 1), shape.Shape{4, 1, 2}, []int{0, 1, 2}, nil},
		{"dims come in any order", reduce(s, false, 2, 0), shape.Shape{3}, []int{1}, nil},
		{"several are kept", reduce(s, true, 2, 0), shape.Shape{1, 3, 1}, []int{0, 1, 2}, nil},
		{"a negative dim counts from the last", reduce(s, false, -1), shape.Shape{4, 3}, []int{0, 1}, nil},
		{"the first from the last", reduce(s, true, -3), shape.Shape{1, 3, 2}, []int{0, 1, 2}, nil},
		{"none means all", reduce(s, false), shape.Shape{}, nil, nil},
		{"none means all, kept", reduce(s, true), shape.Shape{1, 1, 1}, []int{0, 1, 2}, nil},
		{"all dims of a scalar", reduce(shape.Shape{}, true), shape.Shape{}, nil, nil},
		{"an empty dim drops out", reduce(shape.Shape{0, 2}, false, 0), shape.Shape{2}, []int{1}, nil},
		{"an empty dim that is kept has the size 1", reduce(shape.Shape{0, 2}, true, 0), shape.Shape{1, 2}, []int{0, 1}, nil},
		{"an empty dim that is not reduced stays", reduce(shape.Shape{0, 2}, false, 1), shape.Shape{0}, []int{0}, nil},
		{"a dim named twice", reduce(s, false, 1, 1), nil, nil, shape.ErrDim},
		{"a dim named from both ends", reduce(s, false, 0, -3), nil, nil, shape.ErrDim},
		{"a dim after the last", reduce(s, false, 3), nil, nil, shape.ErrDim},
		{"a dim before the first", reduce(s, true, -4), nil, nil, shape.ErrDim},
		{"a dim of a scalar", reduce(shape.Shape{}, false, 0), nil, nil, shape.ErrDim},

		{"fewer groups", regroup(s, 2), shape.Shape{2, 3, 2}, []int{0, 1, 2}, nil},
		{"more groups than rows", regroup(s, 9), shape.Shape{9, 3, 2}, []int{0, 1, 2}, nil},
		{"no groups", regroup(s, 0), shape.Shape{0, 3, 2}, []int{0, 1, 2}, nil},
		{"groups of no rows", regroup(shape.Shape{0}, 2), shape.Shape{2}, []int{0}, nil},
		{"groups of a scalar", regroup(shape.Shape{}, 1), nil, nil, shape.ErrDim},
		{"negative groups", regroup(s, -1), nil, nil, shape.ErrShape},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			r, err := tt.make()
			require.Equal(t, shape.Shape{4, 3, 2}, s)
			if tt.err != nil {
				require.ErrorIs(t, err, tt.err)
				require.Nil(t, r)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.shape, r.Shape())
			var origins []int
			for dim := range r.Shape() {
				origins = append(origins, r.Origin(dim))
			}
			require.Equal(t, tt.origins, origins)
		})
	}
}

// TestReductionOwnsItsNumbers: what a reduction was made from may change, it stays as it was.
func TestReductionOwnsItsNumbers(t *testing.T) {
	s, dims := shape.Shape{4, 3, 2}, []int{2}
	reduced, groups := must(plan.Reduce(s, false, dims...)), must(plan.Regroup(s, 5))
	require.Equal(t, []int{3, 3}, []int{reduced.Rank(), groups.Rank()}, "dims that they were made for")
	clear(s)
	clear(dims)
	require.Equal(t, shape.Shape{4, 3}, reduced.Shape())
	require.Equal(t, shape.Shape{5, 3, 2}, groups.Shape())
	require.Equal(t, []int{0, 1}, []int{reduced.Origin(0), reduced.Origin(1)})
}
