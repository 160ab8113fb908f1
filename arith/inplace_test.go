package arith_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestIntoAnOperand has an operation write to each of its operands.
func TestIntoAnOperand(t *testing.T) {
	const n = 5000
	for into := range 3 {
		operands := make([]*tensor.Tensor, 3)
		for i := range operands {
			operands[i] = tensor.Must(tensor.Zeros[float32](n))
			require.NoError(t, tensor.Write(operands[i], func(s []float32) {
				for j := range s {
					s[j] = float32((j*(7*i+3) + i) % 11)
				}
			}))
		}
		want := tensor.Must(arith.Clamp(operands[0], operands[1], operands[2]))
		require.NoError(t, arith.ClampInto(operands[into], operands[0], operands[1], operands[2]))
		require.True(t, operands[into].Equal(want), into)
		want = tensor.Must(arith.Sub(operands[0], operands[1]))
		require.NoError(t, arith.SubInto(operands[min(into, 1)], operands[0], operands[1]))
		require.True(t, operands[min(into, 1)].Equal(want), into)
	}
}
