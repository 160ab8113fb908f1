package plan_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shape"
)

// An outcome is what every rearranging method returns.
type outcome struct {
	plan *plan.Plan
	err  error
}

func of(p *plan.Plan, err error) outcome { return outcome{p, err} }

func TestRearrange(t *testing.T) {
	row := []int{0, 1, 2, 3, 4, 5}
	tests := []struct {
		name string
		got  outcome
		to   shape.Shape
		want []int // elements of the row-major buffer
	}{
		{"reshape keeps the order", of(plan.Reshape(shape.Shape{2, 3}, 3, 2)), shape.Shape{3, 2}, row},
		{"reshape infers a size", of(plan.Reshape(shape.Shape{2, 3}, shape.Infer, 2)), shape.Shape{3, 2}, row},
		{"reshape infers a size of 1", of(plan.Reshape(shape.Shape{2, 3}, 6, shape.Infer)), shape.Shape{6, 1}, row},
		{"reshape to a scalar", of(plan.Reshape(shape.Shape{1, 1})), shape.Shape{}, []int{0}},
		{"reshape of a scalar", of(plan.Reshape(shape.Shape{}, 1, shape.Infer)), shape.Shape{1, 1}, []int{0}},
		{"reshape of no element", of(plan.Reshape(shape.Shape{3, 0}, 0, 7)), shape.Shape{0, 7}, []int{}},
		{"flatten joins some", of(plan.Flatten(shape.Shape{1, 2, 3}, 0, 1)), shape.Shape{2, 3}, row},
		{"flatten counts from the end", of(plan.Flatten(shape.Shape{1, 2, 3}, -2, -1)), shape.Shape{1, 6}, row},
		{"flatten of one dim changes nothing", of(plan.Flatten(shape.Shape{2, 3}, 1, 1)), shape.Shape{2, 3}, row},
		{"flatten of an empty dim", of(plan.Flatten(shape.Shape{3, 0, 2}, 0, 1)), shape.Shape{0, 2}, []int{}},
		{"unflatten cuts a dim", of(plan.Unflatten(shape.Shape{6}, 0, 2, 3)), shape.Shape{2, 3}, row},
		{"unflatten infers", of(plan.Unflatten(shape.Shape{6}, -1, shape.Infer, 3)), shape.Shape{2, 3}, row},
		{"unflatten of an empty dim", of(plan.Unflatten(shape.Shape{2, 0}, 1, 0, 5)), shape.Shape{2, 0, 5}, []int{}},
		{"unflatten infers beside an empty dim", of(plan.Unflatten(shape.Shape{0, 6}, 1, shape.Infer, 2)), shape.Shape{0, 3, 2}, []int{}},
		{"unflatten to nothing drops a dim of size 1", of(plan.Unflatten(shape.Shape{1, 6}, 0)), shape.Shape{6}, row},
		{"permute moves dims", of(plan.Permute(shape.Shape{2, 3}, 1, 0)), shape.Shape{3, 2}, []int{0, 3, 1, 4, 2, 5}},
		{"permute counts from the end", of(plan.Permute(shape.Shape{1, 2, 3}, -1, 0, -2)), shape.Shape{3, 1, 2}, []int{0, 3, 1, 4, 2, 5}},
		{"permute of a scalar", of(plan.Permute(shape.Shape{})), shape.Shape{}, []int{0}},
		{"transpose swaps two", of(plan.Transpose(shape.Shape{2, 1, 3}, -1, 0)), shape.Shape{3, 1, 2}, []int{0, 3, 1, 4, 2, 5}},
		{"transpose with itself", of(plan.Transpose(shape.Shape{2, 3}, 1, 1)), shape.Shape{2, 3}, row},
		{"squeeze drops all", of(plan.Squeeze(shape.Shape{1, 6, 1})), shape.Shape{6}, row},
		{"squeeze drops those given", of(plan.Squeeze(shape.Shape{1, 6, 1}, -1)), shape.Shape{1, 6}, row},
		{"squeeze leaves what is larger", of(plan.Squeeze(shape.Shape{1, 6}, 1)), shape.Shape{1, 6}, row},
		{"unsqueeze in front", of(plan.Unsqueeze(shape.Shape{2, 3}, 0)), shape.Shape{1, 2, 3}, row},
		{"unsqueeze last", of(plan.Unsqueeze(shape.Shape{2, 3}, 2)), shape.Shape{2, 3, 1}, row},
		{"unsqueeze counts the dims of the result", of(plan.Unsqueeze(shape.Shape{2, 3}, -2)), shape.Shape{2, 1, 3}, row},
		{"unsqueeze of a scalar", of(plan.Unsqueeze(shape.Shape{}, -1)), shape.Shape{1}, []int{0}},
		{"expand repeats a dim of size 1", of(plan.Expand(shape.Shape{2, 1}, 2, 3)), shape.Shape{2, 3}, []int{0, 0, 0, 1, 1, 1}},
		{"expand adds dims in front", of(plan.Expand(shape.Shape{2}, 2, shape.Infer)), shape.Shape{2, 2}, []int{0, 1, 0, 1}},
		{"expand to nothing", of(plan.Expand(shape.Shape{1}, 0)), shape.Shape{0}, []int{}},
		{"expand of a scalar", of(plan.Expand(shape.Shape{}, 2)), shape.Shape{2}, []int{0, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.NoError(t, tt.got.err)
			require.Equal(t, tt.to, tt.got.plan.Shape())
			require.Equal(t, tt.want, elements(t, tt.got.plan, tt.got.plan.From()))
		})
	}
}

func TestRearrangeRefuses(t *testing.T) {
	bad := shape.Shape{2, -3}
	tests := []struct {
		name string
		got  outcome
		err  error
	}{
		{"reshape to another size", of(plan.Reshape(shape.Shape{2, 3}, 5)), shape.ErrShape},
		{"reshape infers twice", of(plan.Reshape(shape.Shape{4}, -1, -1)), shape.ErrShape},
		{"reshape infers a fraction", of(plan.Reshape(shape.Shape{4}, -1, 3)), shape.ErrShape},
		{"reshape infers beside 0", of(plan.Reshape(shape.Shape{4}, -1, 0)), shape.ErrShape},
		{"reshape infers of no element", of(plan.Reshape(shape.Shape{0, 3}, -1, 3)), shape.ErrShape},
		{"reshape to a negative size", of(plan.Reshape(shape.Shape{4}, -2, -2)), shape.ErrShape},
		{"reshape to sizes that overflow", of(plan.Reshape(shape.Shape{0}, 0, math.MaxInt, 2)), shape.ErrShape},
		{"reshape of a bad shape", of(plan.Reshape(bad, 6)), shape.ErrShape},
		{"flatten without such a first dim", of(plan.Flatten(shape.Shape{2}, 1, 0)), shape.ErrDim},
		{"flatten without such a last dim", of(plan.Flatten(shape.Shape{2}, 0, -2)), shape.ErrDim},
		{"flatten backwards", of(plan.Flatten(shape.Shape{2, 3}, 1, 0)), shape.ErrDim},
		{"flatten of a scalar", of(plan.Flatten(shape.Shape{}, 0, -1)), shape.ErrDim},
		{"flatten of a bad shape", of(plan.Flatten(bad, 0, 1)), shape.ErrShape},
		{"unflatten without such a dim", of(plan.Unflatten(shape.Shape{6}, 1, 2, 3)), shape.ErrDim},
		{"unflatten to another size", of(plan.Unflatten(shape.Shape{6, 2}, 0, 4)), shape.ErrShape},
		{"unflatten infers of an empty dim", of(plan.Unflatten(shape.Shape{0}, 0, -1, 2)), shape.ErrShape},
		{"unflatten of a bad shape", of(plan.Unflatten(bad, 0, 2)), shape.ErrShape},
		{"permute too few", of(plan.Permute(shape.Shape{2, 3}, 0)), shape.ErrDim},
		{"permute one twice", of(plan.Permute(shape.Shape{2, 3}, 1, -1)), shape.ErrDim},
		{"permute without such a dim", of(plan.Permute(shape.Shape{2, 3}, 0, 2)), shape.ErrDim},
		{"transpose without such a dim", of(plan.Transpose(shape.Shape{2, 3}, 0, 2)), shape.ErrDim},
		{"transpose without such a first dim", of(plan.Transpose(shape.Shape{2, 3}, -3, 0)), shape.ErrDim},
		{"squeeze without such a dim", of(plan.Squeeze(shape.Shape{1}, 1)), shape.ErrDim},
		{"unsqueeze too far", of(plan.Unsqueeze(shape.Shape{1}, 2)), shape.ErrDim},
		{"expand to fewer dims", of(plan.Expand(shape.Shape{2, 3}, 3)), shape.ErrShape},
		{"expand to another size", of(plan.Expand(shape.Shape{2, 3}, 2, 6)), shape.ErrShape},
		{"expand keeps no new dim", of(plan.Expand(shape.Shape{2}, shape.Infer, 2)), shape.ErrShape},
		{"expand to sizes that overflow", of(plan.Expand(shape.Shape{1, 1}, math.MaxInt, 2)), shape.ErrShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.err, tt.got.err) })
	}
}

func TestBroadcast(t *testing.T) {
	tests := []struct {
		name string
		in   []shape.Shape
		want shape.Shape // nil: refused
	}{
		{"nothing is a scalar", nil, shape.Shape{}},
		{"a scalar takes any shape", []shape.Shape{{}, {2, 3}}, shape.Shape{2, 3}},
		{"1 takes the size of the other", []shape.Shape{{2, 1}, {1, 3}}, shape.Shape{2, 3}},
		{"1 takes the size 0", []shape.Shape{{1}, {0}}, shape.Shape{0}},
		{"aligned at the last dim", []shape.Shape{{3}, {4, 1, 1}, {2, 1}}, shape.Shape{4, 2, 3}},
		{"0 and another size contradict each other", []shape.Shape{{0}, {2}}, nil},
		{"so do two sizes", []shape.Shape{{2, 3}, {3, 2}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := shape.Broadcast(tt.in...)
			if tt.want == nil {
				require.ErrorIs(t, err, shape.ErrShape)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

// Whether strides can express a reshape depends on where the elements lie, not only on the shapes.
func TestReshapeOfViews(t *testing.T) {
	tests := []struct {
		name string
		from shape.View
		to   []int
		want []int // nil: needs a copy
	}{
		{"every second element", shape.View{Shape: shape.Shape{2, 3}, Strides: []int{6, 2}, Offset: 1}, []int{6}, []int{1, 3, 5, 7, 9, 11}},
		{"a gap between rows", shape.View{Shape: shape.Shape{2, 2}, Strides: []int{3, 1}}, []int{4}, nil},
		{"a dim of size 1 has no stride", shape.View{Shape: shape.Shape{2, 1, 2}, Strides: []int{2, 99, 1}}, []int{4}, []int{0, 1, 2, 3}},
		{"cutting a row that has gaps after it", shape.View{Shape: shape.Shape{2, 4}, Strides: []int{5, 1}}, []int{2, 2, 2}, []int{0, 1, 2, 3, 5, 6, 7, 8}},
		{"cutting across rows that have gaps after them", shape.View{Shape: shape.Shape{3, 4}, Strides: []int{5, 1}}, []int{4, 3}, nil},
		{"transposed", shape.View{Shape: shape.Shape{2, 2}, Strides: []int{1, 2}}, []int{4}, nil},
		{"repeated rows", shape.View{Shape: shape.Shape{2, 2}, Strides: []int{0, 1}}, []int{4}, nil},
		{"repeated elements", shape.View{Shape: shape.Shape{2, 2}, Strides: []int{0, 0}, Offset: 7}, []int{4, 1}, []int{7, 7, 7, 7}},
		{"no element, whatever the strides", shape.View{Shape: shape.Shape{2, 0}, Strides: []int{7, 9}}, []int{0, 5}, []int{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := plan.Reshape(tt.from.Shape, tt.to...)
			require.NoError(t, err)
			v, ok, err := p.View(tt.from)
			require.NoError(t, err)
			require.Equal(t, tt.want != nil, ok)
			if ok {
				require.Equal(t, shape.Shape(tt.to), v.Shape)
				require.Equal(t, tt.want, slices.AppendSeq([]int{}, v.Offsets()))
			}
		})
	}
}
