package sampler_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestLexsort has the cases of the original, whose last key is the primary one; arith.Lexsort takes
// that first.
func TestLexsort(t *testing.T) {
	tests := []struct {
		name string
		keys []*tensor.Tensor
		want []int64
	}{
		{"M01", []*tensor.Tensor{tensor.Vector[int64](4, 1, 1, 3, 3, 2, 2), tensor.Vector[int64](5, 3, 5, 3, 5, 5, 3)}, []int64{1, 6, 3, 2, 5, 4, 0}},
		{"M02", []*tensor.Tensor{tensor.Vector[int64](1, 0, 1, 0), tensor.Vector[int64](0, 0, 1, 1), tensor.Vector[int64](2, 2, 1, 1)}, []int64{3, 2, 1, 0}},
		{"M03", []*tensor.Tensor{tensor.Vector[int64](1, 1, 1), tensor.Vector[int64](2, 2, 2)}, []int64{0, 1, 2}},
		{"M04", []*tensor.Tensor{tensor.Vector(math.NaN(), 1, 0, math.Copysign(0, -1))}, []int64{2, 3, 1, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			slices.Reverse(tt.keys)
			got, err := arith.Lexsort(tt.keys...)
			require.NoError(t, err)
			require.Equal(t, tt.want, testkit.Elements[int64](t, got))
		})
	}
	t.Run("M05", func(t *testing.T) { testkit.Fails(t, tensor.ErrKind, testkit.Err(arith.Lexsort())) })
}
