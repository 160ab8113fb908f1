//go:build unix

package tensor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestFaultsOfMaps: a fault in any operand is an error, not the panic of an element, and a
// destination in memory of Go stays as it was.
func TestFaultsOfMaps(t *testing.T) {
	x, page := cutFile(t)
	here, gone := tensor.Must(x.Index(ix.At(0))), tensor.Must(x.Index(ix.At(1)))
	mine := tensor.Must(tensor.Full[uint8](3, page))
	same := func(v uint8) uint8 { return v }
	sum := func(v, w uint8) uint8 { return v + w }
	sum3 := func(v, w, z uint8) uint8 { return v + w + z }
	for name, err := range map[string]error{
		"map":              testkit.Err(tensor.Map(x, same)),
		"map, strided":     testkit.Err(tensor.Map(tensor.Must(x.Transpose(0, 1)), same)),
		"map into":         tensor.MapInto(mine, gone, same),
		"map into it":      tensor.MapInto(gone, mine, same),
		"map2":             testkit.Err(tensor.Map2(gone, mine, sum)),
		"map2 with":        testkit.Err(tensor.Map2(mine, gone, sum)),
		"map2, repeated":   testkit.Err(tensor.Map2(mine, tensor.Must(gone.Index(ix.At(0))), sum)),
		"map3":             testkit.Err(tensor.Map3(mine, here, gone, sum3)),
		"cast":             testkit.Err(gone.Cast(tensor.Float32)),
		"cast, strided":    testkit.Err(tensor.Must(x.Transpose(0, 1)).Cast(tensor.Float32)),
		"cast into":        gone.CastInto(tensor.Must(tensor.New(tensor.Float16, page))),
		"cast into it":     tensor.Must(tensor.Zeros[float32](page)).CastInto(gone),
		"cast bools":       testkit.Err(tensor.Must(gone.Reinterpret(tensor.Bool)).Cast(tensor.Float32)),
		"cast, many times": testkit.Err(tensor.Must(x.Expand(999, 2, page)).Cast(tensor.Float64)),
	} {
		require.ErrorIs(t, err, mapping.ErrFault, name)
	}
	require.True(t, mine.Equal(tensor.Must(tensor.Full[uint8](3, page))))
	sums := tensor.Must(tensor.Map2(here, mine, sum))
	require.True(t, sums.Equal(mine), "what is left still serves")
}
