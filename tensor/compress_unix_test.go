//go:build unix

package tensor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestMaskedSelectFaults: pages that are gone are an error on either side.
func TestMaskedSelectFaults(t *testing.T) {
	x, page := cutFile(t)
	gone, there := tensor.Must(x.Index(ix.At(1))), tensor.Must(x.Index(ix.At(0)))
	mask := tensor.Must(tensor.Full(true, page))
	var fault *mapping.FaultError
	require.ErrorAs(t, testkit.Err(gone.MaskedSelect(mask)), &fault)
	require.ErrorAs(t, tensor.Must(tensor.Zeros[uint8](page)).MaskedSelectInto(gone, mask), &fault)
	require.Equal(t, page, tensor.Must(there.MaskedSelect(mask)).Size())
}
