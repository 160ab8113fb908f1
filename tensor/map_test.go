package tensor_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestMapIsNaive compares Map with a loop over elements, on tensors of any layout and memory. The
// calls are in row-major order.
func TestMapIsNaive(t *testing.T) {
	testkit.Specimens(t, func(t *testing.T, s testkit.Specimen) {
		if s.DType() != tensor.Int64 {
			return
		}
		xs, calls := testkit.Elements[int64](t, s.Tensor), 0
		got, err := tensor.Map(s.Tensor, func(x int64) float64 {
			require.Equal(t, xs[calls], x)
			calls++
			return -float64(x)
		})
		require.NoError(t, err)
		require.Equal(t, len(xs), calls)
		require.Equal(t, s.Shape(), got.Shape())
		for i, v := range testkit.Elements[float64](t, got) {
			require.Equal(t, -float64(xs[i]), v)
		}
		if lent, ok := s.Lender().(*testkit.Lender); ok {
			require.Zero(t, lent.Borrowed())
		}
	})
}

func panicAt1(e uint8, v any) uint8 {
	if e == 1 {
		panic(v)
	}
	return e + 1
}

// TestMapPanics: a panic is an error that says where, what and by whom, and nothing has changed.
func TestMapPanics(t *testing.T) {
	mine := errors.New("mine")
	run := func(x *tensor.Tensor, v any) error {
		return testkit.Err(tensor.Map(x, func(e uint8) uint8 { return panicAt1(e, v) }))
	}
	for name, x := range map[string]*tensor.Tensor{
		"element [3 1]":                tensor.Must(tensor.Zeros[uint8](5, 2)),
		"element []":                   tensor.Scalar[uint8](0),
		"element [1 3]":                tensor.Must(tensor.Must(tensor.Zeros[uint8](5, 2)).Transpose(0, 1)),
		"element [250 3 77]":           tensor.Must(tensor.Zeros[uint8](300, 4, 100)),
		"element [77 250 2]":           tensor.Must(tensor.Must(tensor.Zeros[uint8](3, 300, 100)).Permute(2, 1, 0)),
		"element [2 0 4999]":           tensor.Must(tensor.Must(tensor.Zeros[uint8](3, 2, 2*20000)).Index(ix.All, ix.All, ix.Range(1, ix.End).Step(2))),
		"element [6]":                  lentZeros(7),
		"element [1 0 0 0 0 0 0 0 19]": tensor.Must(tensor.Zeros[uint8](2, 1, 1, 1, 1, 1, 1, 1, 20)),
	} {
		t.Run(name, func(t *testing.T) {
			var at []ix.Index
			for _, i := range positionIn(t, name, len(x.Shape())) {
				at = append(at, ix.At(i))
			}
			require.NoError(t, x.SetIndex(tensor.Scalar[uint8](1), at...))
			before := testkit.Content(t, x)
			err := run(x, mine)
			require.EqualError(t, err, name+": panic: mine")
			require.ErrorIs(t, err, mine)
			caught, ok := errors.AsType[*workers.PanicError](err)
			require.True(t, ok)
			require.Contains(t, string(caught.Stack), "panicAt1", "the stack leads to the panic")
			require.EqualError(t, run(x, 42), name+": panic: 42")
			require.True(t, slices.Equal(before, testkit.Content(t, x)), "nothing has changed")
			if lent, ok := x.Lender().(*testkit.Lender); ok {
				require.Zero(t, lent.Borrowed())
			}
		})
	}
}

func lentZeros(n int) *tensor.Tensor {
	return tensor.Must(tensor.FromLender(tensor.Uint8, &testkit.Lender{Bytes: make([]byte, n)}, 0, n))
}

// positionIn reads a position out of a text.
func positionIn(t *testing.T, text string, dims int) []int {
	at := make([]int, dims)
	args := make([]any, dims)
	format := "element ["
	for i := range at {
		args[i] = &at[i]
		format += "%d "
	}
	if dims > 0 {
		format = format[:len(format)-1]
	}
	_, err := fmt.Sscanf(text, format+"]", args...)
	require.NoError(t, err)
	return at
}

// TestMapRuntimePanics: what the language panics with is an error too.
func TestMapRuntimePanics(t *testing.T) {
	x := tensor.Vector[int32](2, 1, 0)
	_, err := tensor.Map(x, func(v int32) int32 { return 10 / v })
	require.EqualError(t, err, "element [2]: panic: runtime error: integer divide by zero")
	var p *int32
	lent := tensor.Must(tensor.FromLender(tensor.Int32, &testkit.Lender{Bytes: make([]byte, 8)}, 0, 2))
	for _, x := range []*tensor.Tensor{x, lent} {
		_, err = tensor.Map(x, func(int32) int32 { return *p })
		require.EqualError(t, err, "element [0]: panic: runtime error: invalid memory address or nil pointer dereference")
	}
}

func TestMapRefuses(t *testing.T) {
	type X = *tensor.Tensor
	fresh := func() X { return tensor.Vector[int32](1, 2, 3) }
	state := func(t testing.TB, x X) string { return fmt.Sprint(testkit.Content(t, x)) }
	never := func(int32) int32 { panic("called") }
	closed := tensor.Must(tensor.FromLender(tensor.Int32, &testkit.Lender{Fail: io.ErrClosedPipe}, 0, 3))
	testkit.Refuse(t, fresh, state, []testkit.Refusal[X]{
		{"map of another dtype", func(x X) error { return testkit.Err(tensor.Map(tensor.Vector(1.5), never)) }, tensor.ErrDType},
		{"map by nil", func(x X) error { return testkit.Err(tensor.Map[int32, int32](x, nil)) }, tensor.ErrKind},
		{"map what is gone", func(X) error { return testkit.Err(tensor.Map(closed, never)) }, io.ErrClosedPipe},
	})
}

// TestMapKeepsErrors: a panic with an error of this package is told as a panic.
func TestMapKeepsErrors(t *testing.T) {
	x := tensor.Vector(true, false)
	_, err := tensor.Map(x, func(bool) bool { panic(fmt.Errorf("mine: %w", tensor.ErrDType)) })
	require.EqualError(t, err, "element [0]: panic: mine: dtype mismatch")
	require.ErrorIs(t, err, tensor.ErrDType)
}
