package tdict_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Rows that cannot be counted one by one are refused before anything is written.
func TestDataOfTooManyRows(t *testing.T) {
	td := dict([]int{1 << 50}, entry{"d", tensor.Must(tdict.NewData("x"))})
	value := dict(nil, entry{"d", tensor.Must(tdict.NewData("y"))})
	require.ErrorIs(t, td.SetIndex(value, ix.At(0)), shapeops.ErrShape)
	_, err := td.Unsqueeze(0)
	require.NoError(t, err)
	require.Equal(t, "x", tensor.Must(tensor.Must(tdict.Get[*tdict.Data](td, "d")).At(0)))
	vast := dict([]int{1 << 62}, entry{"d", tensor.Must(tdict.NewData("x"))})
	_, err = vast.Unsqueeze(0)
	require.NoError(t, err)
	two := dict([]int{1, 2}, entry{"d", tensor.Must(tdict.DataFrom([]string{"a", "b"}, 1, 2))})
	wide, err := two.Expand(1<<60, 2)
	require.NoError(t, err)
	require.Equal(t, "b", tensor.Must(tensor.Must(tdict.Get[*tdict.Data](wide, "d")).At(-1, -1)))
	_, err = wide.Flatten(0, 1)
	require.ErrorIs(t, err, shapeops.ErrShape)
}

// Nothing fits a batch shape with a negative size, whatever its kind.
func TestNothingFitsANegativeSize(t *testing.T) {
	for _, v := range []tdict.Value{
		tensor.Must(tdict.NewData("x")), tensor.Must(tdict.NewUnbatched(count(2))), count(2), tdict.New(),
	} {
		require.ErrorIs(t, tdict.New(-1).Set("v", v), shapeops.ErrShape, "%T", v)
	}
}

// Without a context, Apply cannot be stopped.
func TestApplyWithoutContext(t *testing.T) {
	same := func(_ key, xs tensors) (*tensor.Tensor, error) { return xs[0], nil }
	//lint:ignore SA1012 what must not end the program
	got, err := tdict.Apply(nil, []*tdict.TensorDict{sample()}, same, tdict.ApplyOptions{Workers: 2})
	require.NoError(t, err)
	require.True(t, sample().Equal(got))
}
