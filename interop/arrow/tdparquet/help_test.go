package tdparquet_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var bg = context.Background()

type nestedKey = nestedkey.Key

// numbers returns a tensor with small numbers.
func numbers(t testing.TB, d tensor.DType, shape ...int) *tensor.Tensor {
	t.Helper()
	n := shapeops.Shape(shape).Size()
	x := make([]int8, n)
	for i := range x {
		x[i] = int8(i % 2)
		if d != tensor.Bool {
			x[i] = int8(i % 7)
		}
	}
	if d == tensor.Bool {
		b := make([]bool, n)
		for i := range b {
			b[i] = x[i] == 1
		}
		return tensor.Must(tensor.From(b, shape...))
	}
	from, err := tensor.From(x, shape...)
	require.NoError(t, err)
	return tensor.Must(from.Cast(d))
}

// mask is false in row 1, and in every third after it.
func mask(n int) *tensor.Tensor {
	m := make([]bool, n)
	for i := range m {
		m[i] = i%3 != 1
	}
	return tensor.Vector(m...)
}

// zeroed returns x with zeros where the mask is false.
func zeroed(t testing.TB, x *tensor.Tensor) *tensor.Tensor {
	t.Helper()
	out := tensor.Must(x.Clone())
	zero := tensor.Must(tensor.New(x.DType(), x.Shape()[1:]...))
	for i := range x.Shape()[0] {
		if i%3 == 1 {
			row := tensor.Must(out.Narrow(0, i, 1))
			require.NoError(t, row.CopyFrom(tensor.Must(zero.Unsqueeze(0))))
		}
	}
	return out
}

func cat(all []*tdict.TensorDict) (*tdict.TensorDict, error) { return shapeops.Cat(all, 0) }

// equal requires equal dictionaries.
func equal(t testing.TB, want, got *tdict.TensorDict) {
	t.Helper()
	require.True(t, want.Equal(got), "want %v\ngot %v", want, got)
}

// jsonOf returns a schema as text, in which nil and empty shapes are equal.
func jsonOf(t testing.TB, s tdict.Schema) string {
	t.Helper()
	text, err := s.MarshalJSON()
	require.NoError(t, err)
	return string(text)
}
