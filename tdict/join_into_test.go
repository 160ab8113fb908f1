package tdict_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A dictionary in the destination has the batch shape of those joined, after the dims joined.
func TestStackIntoChecksInnerBatchShapes(t *testing.T) {
	row := func(inner ...int) *tdict.TensorDict {
		return dict([]int{1}, entry{"d", dict(inner, entry{"a", count(1, 2)})})
	}
	dst := dict([]int{2, 1}, entry{"d", dict([]int{2, 1, 2}, entry{"a", count(2, 1, 2)})})
	err := shapeops.StackInto(dst, []*tdict.TensorDict{row(1, 2), row(1)}, 0)
	require.ErrorIs(t, err, shapeops.ErrShape)
	require.ErrorContains(t, err, `stack "d": value 1: destination: shape mismatch`)
	require.NoError(t, shapeops.StackInto(dst, []*tdict.TensorDict{row(1, 2), row(1, 2)}, 0))
	require.Equal(t, []int64{0, 1, 0, 1}, values(t, dst, "d/a"))
}

// What a caller's pass has made once is found again by every dictionary that it goes through.
func TestPassGoesThroughDictionaries(t *testing.T) {
	p := shapeops.NewPass(tensor.Must(shapeops.Shape{3}.Reshape(3, 1)))
	for range 2 {
		_, err := sample().Execute(p)
		require.NoError(t, err)
	}
	made := 0
	for range 2 {
		_, _ = shapeops.Once(p, "key", func() (int, error) { made++; return 1, nil })
		_, err := sample().Execute(p)
		require.NoError(t, err)
	}
	require.Equal(t, 1, made)
	_, err := tdict.Get[tdict.Leaf](sample(), "b")
	require.ErrorIs(t, err, tdict.ErrKind, "a dictionary is not a leaf")
}
