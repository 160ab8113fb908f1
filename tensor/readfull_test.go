package tensor_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestReadFull reads what WriteTo wrote into tensors of every layout and memory.
func TestReadFull(t *testing.T) {
	testkit.Specimens(t, func(t *testing.T, s testkit.Specimen) {
		var b bytes.Buffer
		_ = tensor.Must(s.Tensor.WriteTo(&b))
		dst := tensor.Must(tensor.New(s.DType(), s.Shape()...))
		require.NoError(t, dst.ReadFull(bytes.NewReader(b.Bytes())))
		require.Equal(t, testkit.Content(t, s.Tensor), testkit.Content(t, dst))
		want := testkit.Content(t, s.Tensor)
		err := s.Tensor.ReadFull(bytes.NewReader(b.Bytes()))
		require.True(t, err == nil || errors.Is(err, tensor.ErrLayout) || errors.Is(err, tensor.ErrReadOnly), "%v", err)
		require.Equal(t, want, testkit.Content(t, s.Tensor))
	})
}

func TestReadFullRefuses(t *testing.T) {
	x := tensor.Vector[int32](1, 2, 3)
	require.ErrorIs(t, x.ReadFull(bytes.NewReader(make([]byte, 11))), io.ErrUnexpectedEOF)
	require.ErrorIs(t, x.ReadFull(bytes.NewReader(nil)), io.ErrUnexpectedEOF)
	locked := tensor.Must(tensor.FromLender(tensor.Uint8, &testkit.Lender{Bytes: make([]byte, 4), Locked: true}, 0, 4))
	require.ErrorIs(t, locked.ReadFull(bytes.NewReader(make([]byte, 4))), tensor.ErrReadOnly)
	meta := tensor.Must(tensor.NewMeta(tensor.Int8, 3))
	require.ErrorIs(t, meta.ReadFull(bytes.NewReader(make([]byte, 3))), tensor.ErrMeta)
	empty := tensor.Must(tensor.New(tensor.Int8, 0, 3))
	require.NoError(t, empty.ReadFull(bytes.NewReader(nil)))
}
