//go:build unix

package tensor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestPlanesFault: pages that are gone are an error on either side of a transposed copy.
func TestPlanesFault(t *testing.T) {
	x, page := cutFile(t) // [2 page]: row 1 is gone
	square := tensor.Must(x.Reshape(32, 2*page/32))
	other := tensor.Must(tensor.Zeros[uint8](2*page/32, 32))
	turned := tensor.Must(square.Transpose(0, 1))
	var fault *mapping.FaultError
	require.ErrorAs(t, other.CopyFrom(turned), &fault)
	require.ErrorAs(t, turned.CopyFrom(other), &fault)
	require.ErrorAs(t, testkit.Err(turned.Clone()), &fault)
	there := tensor.Must(tensor.Must(x.Narrow(0, 0, 1)).Reshape(32, page/32))
	require.Equal(t, page, tensor.Must(tensor.Must(there.Transpose(0, 1)).Clone()).Size())
}
