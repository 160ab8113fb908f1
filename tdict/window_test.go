package tdict_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Windows of a dictionary are windows of each leaf: those that overlap cannot be written, those
// that do not reach the source, and data follows.
func TestUnfold(t *testing.T) {
	td := dict([]int{5}, entry{"a", count(5, 2)}, entry{"s", texts("a", "b", "c", "d", "e")})
	over := tensor.Must(shapeops.Unfold(td, 0, 3, 2))
	require.Equal(t, shapeops.Shape{2, 3}, over.Shape().Clone())
	require.Equal(t, []int64{0, 1, 2, 3, 4, 5, 4, 5, 6, 7, 8, 9}, values(t, over, "a"))
	require.Equal(t, []any{"a", "b", "c", "c", "d", "e"}, slices.Collect(tensor.Must(tdict.Get[*tdict.Data](over, "s")).All()))
	require.ErrorIs(t, over.SetIndex(dict(nil, entry{"a", count(2)}), ix.Rest), tensor.ErrLayout)
	require.ErrorIs(t, shapeops.FlipInto(over, over), tensor.ErrLayout)
	apart := tensor.Must(shapeops.Unfold(td, 0, 2, 2))
	require.NoError(t, shapeops.FlipInto(apart, apart, 0))
	require.Equal(t, []int64{4, 5, 6, 7, 0, 1, 2, 3, 8, 9}, values(t, td, "a"))
}

// Operations are about batch dims: the last dim of a leaf [2 3 4] stays as it is.
func TestBatchDimsOnly(t *testing.T) {
	type dictionary = *tdict.TensorDict
	tests := []struct {
		name string
		got  func(td dictionary) (dictionary, error)
		want string // the shape of a leaf [2 3 4]
	}{
		{"at least a negative number", func(td dictionary) (dictionary, error) { return shapeops.AtLeast(td, -1) }, "[2 3 4]"},
		{"infer", func(td dictionary) (dictionary, error) { return td.Reshape(shapeops.Infer, 2) }, "[3 2 4]"},
		{"infer within a dim", func(td dictionary) (dictionary, error) { return td.Unflatten(-1, shapeops.Infer, 1) }, "[2 3 1 4]"},
		{"flatten", func(td dictionary) (dictionary, error) { return td.Flatten(0, 1) }, "[6 4]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tensor.Must(tt.got(grid()))
			require.Equal(t, tt.want, tensor.Must(got.Tensor("a")).Shape().String())
			consistent(t, got)
		})
	}
	_, err := grid().Flatten(0, 2)
	require.ErrorIs(t, err, shapeops.ErrDim, "beyond the batch shape")
	rolled := tensor.Must(shapeops.Roll(grid(), 0, 1))
	require.Equal(t, []int64{3, 4, 5, 0, 1, 2}, values(t, rolled, "n/b"), "the last row comes first")
}
