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

// TestFaultsOfMaps: a fault in the operand is an error, not the panic of an element.
func TestFaultsOfMaps(t *testing.T) {
	x, page := cutFile(t)
	here, gone := tensor.Must(x.Index(ix.At(0))), tensor.Must(x.Index(ix.At(1)))
	same := func(v uint8) uint8 { return v }
	for name, err := range map[string]error{
		"map":              testkit.Err(tensor.Map(x, same)),
		"map, strided":     testkit.Err(tensor.Map(tensor.Must(x.Transpose(0, 1)), same)),
		"cast":             testkit.Err(gone.Cast(tensor.Float32)),
		"cast, strided":    testkit.Err(tensor.Must(x.Transpose(0, 1)).Cast(tensor.Float32)),
		"cast into":        gone.CastInto(tensor.Must(tensor.New(tensor.Float16, page))),
		"cast into it":     tensor.Must(tensor.Zeros[float32](page)).CastInto(gone),
		"cast bools":       testkit.Err(tensor.Must(gone.Reinterpret(tensor.Bool)).Cast(tensor.Float32)),
		"cast, many times": testkit.Err(tensor.Must(x.Expand(999, 2, page)).Cast(tensor.Float64)),
	} {
		require.ErrorIs(t, err, mapping.ErrFault, name)
	}
	left := tensor.Must(tensor.Map(here, same))
	require.True(t, left.Equal(here), "what is left still serves")
}
