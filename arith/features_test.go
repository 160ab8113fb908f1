package arith_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestFeatureSoftmax: a softmax is made of Max, Exp and Sum, which keep dims.
func TestFeatureSoftmax(t *testing.T) {
	x := tensor.Must(tensor.From([]float64{1, 2, 1000, 1000}, 2, 2))
	over := arith.Dims(1).Keep()
	e := tensor.Must(arith.Exp(tensor.Must(arith.Sub(x, tensor.Must(arith.Max(x, over))))))
	soft := tensor.Must(arith.Div(e, tensor.Must(arith.Sum(e, over))))
	p := 1 / (1 + math.E)
	require.InDeltaSlice(t, []float64{p, 1 - p, 0.5, 0.5}, testkit.Elements[float64](t, soft), 1e-12)
}
