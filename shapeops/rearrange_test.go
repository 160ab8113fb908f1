package shapeops_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
)

// An outcome is what every rearranging method returns.
type outcome struct {
	plan *shapeops.Plan
	err  error
}

func of(p *shapeops.Plan, err error) outcome { return outcome{p, err} }

func TestRearrange(t *testing.T) {
	type shape = shapeops.Shape
	row := []int{0, 1, 2, 3, 4, 5}
	tests := []struct {
		name string
		got  outcome
		to   shape
		want []int // elements of the row-major buffer
	}{
		{"reshape keeps the order", of(shape{2, 3}.Reshape(3, 2)), shape{3, 2}, row},
		{"reshape infers a size", of(shape{2, 3}.Reshape(shapeops.Infer, 2)), shape{3, 2}, row},
		{"reshape infers a size of 1", of(shape{2, 3}.Reshape(6, shapeops.Infer)), shape{6, 1}, row},
		{"reshape to a scalar", of(shape{1, 1}.Reshape()), shape{}, []int{0}},
		{"reshape of a scalar", of(shape{}.Reshape(1, shapeops.Infer)), shape{1, 1}, []int{0}},
		{"reshape of no element", of(shape{3, 0}.Reshape(0, 7)), shape{0, 7}, []int{}},
		{"flatten joins some", of(shape{1, 2, 3}.Flatten(0, 1)), shape{2, 3}, row},
		{"flatten counts from the end", of(shape{1, 2, 3}.Flatten(-2, -1)), shape{1, 6}, row},
		{"flatten of one dim changes nothing", of(shape{2, 3}.Flatten(1, 1)), shape{2, 3}, row},
		{"flatten of an empty dim", of(shape{3, 0, 2}.Flatten(0, 1)), shape{0, 2}, []int{}},
		{"unflatten cuts a dim", of(shape{6}.Unflatten(0, 2, 3)), shape{2, 3}, row},
		{"unflatten infers", of(shape{6}.Unflatten(-1, shapeops.Infer, 3)), shape{2, 3}, row},
		{"unflatten of an empty dim", of(shape{2, 0}.Unflatten(1, 0, 5)), shape{2, 0, 5}, []int{}},
		{"unflatten infers beside an empty dim", of(shape{0, 6}.Unflatten(1, shapeops.Infer, 2)), shape{0, 3, 2}, []int{}},
		{"unflatten to nothing drops a dim of size 1", of(shape{1, 6}.Unflatten(0)), shape{6}, row},
		{"permute moves dims", of(shape{2, 3}.Permute(1, 0)), shape{3, 2}, []int{0, 3, 1, 4, 2, 5}},
		{"permute counts from the end", of(shape{1, 2, 3}.Permute(-1, 0, -2)), shape{3, 1, 2}, []int{0, 3, 1, 4, 2, 5}},
		{"permute of a scalar", of(shape{}.Permute()), shape{}, []int{0}},
		{"transpose swaps two", of(shape{2, 1, 3}.Transpose(-1, 0)), shape{3, 1, 2}, []int{0, 3, 1, 4, 2, 5}},
		{"transpose with itself", of(shape{2, 3}.Transpose(1, 1)), shape{2, 3}, row},
		{"squeeze drops all", of(shape{1, 6, 1}.Squeeze()), shape{6}, row},
		{"squeeze drops those given", of(shape{1, 6, 1}.Squeeze(-1)), shape{1, 6}, row},
		{"squeeze leaves what is larger", of(shape{1, 6}.Squeeze(1)), shape{1, 6}, row},
		{"unsqueeze in front", of(shape{2, 3}.Unsqueeze(0)), shape{1, 2, 3}, row},
		{"unsqueeze last", of(shape{2, 3}.Unsqueeze(2)), shape{2, 3, 1}, row},
		{"unsqueeze counts the dims of the result", of(shape{2, 3}.Unsqueeze(-2)), shape{2, 1, 3}, row},
		{"unsqueeze of a scalar", of(shape{}.Unsqueeze(-1)), shape{1}, []int{0}},
		{"expand repeats a dim of size 1", of(shape{2, 1}.Expand(2, 3)), shape{2, 3}, []int{0, 0, 0, 1, 1, 1}},
		{"expand adds dims in front", of(shape{2}.Expand(2, shapeops.Infer)), shape{2, 2}, []int{0, 1, 0, 1}},
		{"expand to nothing", of(shape{1}.Expand(0)), shape{0}, []int{}},
		{"expand of a scalar", of(shape{}.Expand(2)), shape{2}, []int{0, 0}},
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
	type shape = shapeops.Shape
	bad := shape{2, -3}
	tests := []struct {
		name string
		got  outcome
		err  error
	}{
		{"reshape to another size", of(shape{2, 3}.Reshape(5)), shapeops.ErrShape},
		{"reshape infers twice", of(shape{4}.Reshape(-1, -1)), shapeops.ErrShape},
		{"reshape infers a fraction", of(shape{4}.Reshape(-1, 3)), shapeops.ErrShape},
		{"reshape infers beside 0", of(shape{4}.Reshape(-1, 0)), shapeops.ErrShape},
		{"reshape infers of no element", of(shape{0, 3}.Reshape(-1, 3)), shapeops.ErrShape},
		{"reshape to a negative size", of(shape{4}.Reshape(-2, -2)), shapeops.ErrShape},
		{"reshape to sizes that overflow", of(shape{0}.Reshape(0, math.MaxInt, 2)), shapeops.ErrShape},
		{"reshape of a bad shape", of(bad.Reshape(6)), shapeops.ErrShape},
		{"flatten without such a first dim", of(shape{2}.Flatten(1, 0)), shapeops.ErrDim},
		{"flatten without such a last dim", of(shape{2}.Flatten(0, -2)), shapeops.ErrDim},
		{"flatten backwards", of(shape{2, 3}.Flatten(1, 0)), shapeops.ErrDim},
		{"flatten of a scalar", of(shape{}.Flatten(0, -1)), shapeops.ErrDim},
		{"flatten of a bad shape", of(bad.Flatten(0, 1)), shapeops.ErrShape},
		{"unflatten without such a dim", of(shape{6}.Unflatten(1, 2, 3)), shapeops.ErrDim},
		{"unflatten to another size", of(shape{6, 2}.Unflatten(0, 4)), shapeops.ErrShape},
		{"unflatten infers of an empty dim", of(shape{0}.Unflatten(0, -1, 2)), shapeops.ErrShape},
		{"unflatten of a bad shape", of(bad.Unflatten(0, 2)), shapeops.ErrShape},
		{"permute too few", of(shape{2, 3}.Permute(0)), shapeops.ErrDim},
		{"permute one twice", of(shape{2, 3}.Permute(1, -1)), shapeops.ErrDim},
		{"permute without such a dim", of(shape{2, 3}.Permute(0, 2)), shapeops.ErrDim},
		{"transpose without such a dim", of(shape{2, 3}.Transpose(0, 2)), shapeops.ErrDim},
		{"transpose without such a first dim", of(shape{2, 3}.Transpose(-3, 0)), shapeops.ErrDim},
		{"squeeze without such a dim", of(shape{1}.Squeeze(1)), shapeops.ErrDim},
		{"unsqueeze too far", of(shape{1}.Unsqueeze(2)), shapeops.ErrDim},
		{"expand to fewer dims", of(shape{2, 3}.Expand(3)), shapeops.ErrShape},
		{"expand to another size", of(shape{2, 3}.Expand(2, 6)), shapeops.ErrShape},
		{"expand keeps no new dim", of(shape{2}.Expand(shapeops.Infer, 2)), shapeops.ErrShape},
		{"expand to sizes that overflow", of(shape{1, 1}.Expand(math.MaxInt, 2)), shapeops.ErrShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.err, tt.got.err) })
	}
}

func TestBroadcast(t *testing.T) {
	type shape = shapeops.Shape
	tests := []struct {
		name string
		in   []shape
		want shape // nil: refused
	}{
		{"nothing is a scalar", nil, shape{}},
		{"a scalar takes any shape", []shape{{}, {2, 3}}, shape{2, 3}},
		{"1 takes the size of the other", []shape{{2, 1}, {1, 3}}, shape{2, 3}},
		{"1 takes the size 0", []shape{{1}, {0}}, shape{0}},
		{"aligned at the last dim", []shape{{3}, {4, 1, 1}, {2, 1}}, shape{4, 2, 3}},
		{"0 and another size contradict each other", []shape{{0}, {2}}, nil},
		{"so do two sizes", []shape{{2, 3}, {3, 2}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := shapeops.Broadcast(tt.in...)
			if tt.want == nil {
				require.ErrorIs(t, err, shapeops.ErrShape)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

// Whether strides can express a reshape depends on where the elements lie, not only on the shapes.
func TestReshapeOfViews(t *testing.T) {
	type shape = shapeops.Shape
	tests := []struct {
		name string
		from shapeops.View
		to   []int
		want []int // nil: needs a copy
	}{
		{"every second element", shapeops.View{Shape: shape{2, 3}, Strides: []int{6, 2}, Offset: 1}, []int{6}, []int{1, 3, 5, 7, 9, 11}},
		{"a gap between rows", shapeops.View{Shape: shape{2, 2}, Strides: []int{3, 1}}, []int{4}, nil},
		{"a dim of size 1 has no stride", shapeops.View{Shape: shape{2, 1, 2}, Strides: []int{2, 99, 1}}, []int{4}, []int{0, 1, 2, 3}},
		{"cutting a row that has gaps after it", shapeops.View{Shape: shape{2, 4}, Strides: []int{5, 1}}, []int{2, 2, 2}, []int{0, 1, 2, 3, 5, 6, 7, 8}},
		{"cutting across rows that have gaps after them", shapeops.View{Shape: shape{3, 4}, Strides: []int{5, 1}}, []int{4, 3}, nil},
		{"transposed", shapeops.View{Shape: shape{2, 2}, Strides: []int{1, 2}}, []int{4}, nil},
		{"repeated rows", shapeops.View{Shape: shape{2, 2}, Strides: []int{0, 1}}, []int{4}, nil},
		{"repeated elements", shapeops.View{Shape: shape{2, 2}, Strides: []int{0, 0}, Offset: 7}, []int{4, 1}, []int{7, 7, 7, 7}},
		{"no element, whatever the strides", shapeops.View{Shape: shape{2, 0}, Strides: []int{7, 9}}, []int{0, 5}, []int{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := tt.from.Shape.Reshape(tt.to...)
			require.NoError(t, err)
			v, ok, err := p.View(tt.from)
			require.NoError(t, err)
			require.Equal(t, tt.want != nil, ok)
			if ok {
				require.Equal(t, shape(tt.to), v.Shape)
				require.Equal(t, tt.want, slices.AppendSeq([]int{}, v.Offsets()))
			}
		})
	}
}
