package tdict_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// What PadSequenceMasked pads, Unpad and UnstackRagged take apart again, whichever side is padded.
func TestUnpadUndoesPadSequence(t *testing.T) {
	for _, left := range []bool{false, true} {
		var tds []*tdict.TensorDict
		for _, n := range []int{2, 0, 3, 1} {
			td := tdict.New(n)
			x := tensor.Must(tensor.Arange(int32(10*n), int32(10*n+2*n), 1))
			require.NoError(t, td.Set("x", tensor.Must(x.Reshape(n, 2))))
			require.NoError(t, td.Set("in/y", tensor.Must(x.Index(ix.Range(0, n)))))
			tds = append(tds, td)
		}
		padded, masks, err := shapeops.PadSequenceMasked(tds, shapeops.PadSequenceOptions{Left: left, Value: -1})
		require.NoError(t, err)
		rows, err := tdict.Unpad(padded, tensor.Must(masks.Tensor("x")))
		require.NoError(t, err)
		require.Equal(t, "ragged int32 [4 * 2]", tensor.Must(tdict.Get[*ragged.Tensor](rows, "x")).Text())
		x, y := tensor.Must(tdict.Get[*ragged.Tensor](rows, "x")), tensor.Must(tdict.Get[*ragged.Tensor](rows, "in/y"))
		require.Same(t, x.Layout(), y.Layout())
		back, err := tdict.UnstackRagged(rows)
		require.NoError(t, err)
		require.Len(t, back, len(tds))
		for i, td := range tds {
			require.True(t, td.Equal(back[i]), "%d: %v, want %v", i, back[i], td)
		}
	}
}

func TestUnpadRefuses(t *testing.T) {
	td := tdict.New(2, 3)
	mask := func(shape ...int) *tensor.Tensor { return tensor.Must(tensor.Full(true, shape...)) }
	tests := []struct {
		name string
		td   *tdict.TensorDict
		mask *tensor.Tensor
		want error
	}{
		{"one batch dim", tdict.New(2), mask(2), shapeops.ErrDim},
		{"no mask", td, nil, tdict.ErrKind},
		{"a mask of another shape", td, mask(2, 2), shapeops.ErrShape},
		{"a mask of features too", td, mask(2, 3, 1), shapeops.ErrShape},
		{"a mask of numbers", td, tensor.Must(tensor.Zeros[uint8](2, 3)), tensor.ErrDType},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tdict.Unpad(tt.td, tt.mask)
			require.ErrorIs(t, err, tt.want)
		})
	}
}

func ExampleUnpad() {
	td := tdict.New(2, 3) // two patients, padded to three visits
	_ = td.Set("day", tensor.Must(tensor.From([]int32{0, 7, -1, 0, 9, 12}, 2, 3)))
	mask := tensor.Must(tensor.From([]bool{true, true, false, true, true, true}, 2, 3))

	fmt.Println(tensor.Must(tdict.Unpad(td, mask)))
	// Output:
	// TensorDict(
	//     fields={
	//         day: Ragged(shape=[2 *], dtype=int32)},
	//     batch=[2])
}
