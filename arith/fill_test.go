package arith_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Every leaf is filled, whatever its dtype, or none if one does not hold the value.
func TestFillInPlace(t *testing.T) {
	td := tdict.New(2)
	a, b := tensor.Vector[uint8](1, 2), tensor.Vector[float32](3, 4)
	require.NoError(t, td.Set("a", a))
	require.NoError(t, td.Set("n/b", b))
	err := arith.FillInPlace(td, 300)
	require.ErrorIs(t, err, tensor.ErrDType)
	require.EqualError(t, err, `fill "a": value: dtype mismatch: got 300, which is out of range for uint8`)
	require.Equal(t, []uint8{1, 2}, tensor.Must(tensor.Of[uint8](a)))
	require.NoError(t, arith.FillInPlace(td, 7))
	require.Equal(t, []uint8{7, 7}, tensor.Must(tensor.Of[uint8](a)))
	require.Equal(t, []float32{7, 7}, tensor.Must(tensor.Of[float32](b)))
}

func ExampleFillInPlace() {
	td := tdict.New(2)
	_ = td.Set("count", tensor.Vector[int64](5, 6))
	_ = td.Set("reward", tensor.Vector[float32](0.5, 1))
	_ = arith.FillInPlace(td, 0)
	fmt.Println(td.Head(2))
	// Output:
	// count  reward
	// 0      0
	// 0      0
}
