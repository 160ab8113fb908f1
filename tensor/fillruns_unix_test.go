//go:build unix

package tensor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// Pages that are gone are an error, wherever they are; a value that is gone before anything is set.
func TestFillRunsFaults(t *testing.T) {
	x, page := cutFile(t)
	gone, there := tensor.Must(x.Index(ix.At(1))), tensor.Must(x.Index(ix.At(0)))
	other, one := tensor.Must(tensor.Full[uint8](3, page)), tensor.Scalar[uint8](1)
	run := shape.Run{To: 1, From: 1, Len: 1}
	require.ErrorIs(t, fillRuns(other, there, tensor.Must(gone.Index(ix.At(5))), run), mapping.ErrFault)
	require.True(t, other.Equal(tensor.Must(tensor.Full[uint8](3, page))))
	require.ErrorIs(t, fillRuns(gone, other, one, run), mapping.ErrFault)
	require.ErrorIs(t, fillRuns(other, gone, one, run), mapping.ErrFault)
	require.NoError(t, fillRuns(other, there, one, run), "what is left still serves")
	require.NoError(t, fillRuns(there, other, one, run))
}
