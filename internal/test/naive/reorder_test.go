package naive_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/naive"
)

// The expected numbers are those of NumPy and torch for arange(n).reshape(shape).
func TestReorder(t *testing.T) {
	a, row := naive.New(2, 3), naive.New(4)
	index := naive.Array{Shape: []int{2, 1}, At: []int{2, -3}}
	tests := []struct {
		name string
		got  naive.Array
		want naive.Array
	}{
		{"flip", a.Flip(1), naive.Array{[]int{2, 3}, []int{2, 1, 0, 5, 4, 3}}},
		{"flip all", a.Flip(), naive.Array{[]int{2, 3}, []int{5, 4, 3, 2, 1, 0}}},
		{"roll", row.Roll(1, 0), naive.Array{[]int{4}, []int{3, 0, 1, 2}}},
		{"roll back", row.Roll(-5, 0), naive.Array{[]int{4}, []int{1, 2, 3, 0}}},
		{"a quarter", a.Rot90(1, 0, 1), naive.Array{[]int{3, 2}, []int{2, 5, 1, 4, 0, 3}}},
		{"three quarters", a.Rot90(-1, 0, 1), naive.Array{[]int{3, 2}, []int{3, 0, 4, 1, 5, 2}}},
		{"movedim", naive.New(1, 2, 3).Movedim(2, 0), naive.Array{[]int{3, 1, 2}, []int{0, 3, 1, 4, 2, 5}}},
		{"unfold", row.Unfold(0, 3, 1), naive.Array{[]int{2, 3}, []int{0, 1, 2, 1, 2, 3}}},
		{"repeat", naive.New(2).Repeat(2, 2), naive.Array{[]int{2, 4}, []int{0, 1, 0, 1, 0, 1, 0, 1}}},
		{"repeat each", naive.New(3).RepeatEach([]int{2, 0, 1}, 0), naive.Array{[]int{3}, []int{0, 0, 2}}},
		{"gather", a.Gather(1, index), naive.Array{[]int{2, 1}, []int{2, 3}}},
		{"take", a.Take(1, index), naive.Array{[]int{2, 2, 1}, []int{2, 0, 5, 3}}},
		{"window", a.Window(naive.Array{[]int{2}, []int{0, 1}}, []int{1}, []int{2}), naive.Array{[]int{2, 2}, []int{0, 1, 4, 5}}},
		{"pad", a.Pad(-1, 0, 1, 0), naive.Array{[]int{1, 4}, []int{naive.Gap, 3, 4, 5}}},
		{"pad sequence", naive.PadSequence(naive.Number([]int{1}, []int{2}), 0, 0, true), naive.Array{[]int{2, 2}, []int{naive.Gap, 0, 1, 2}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tt.got) })
	}
	require.Equal(t, []int{-1, 1, 0}, a.Origin(a.Permute(1, 0).Reshape(1, 3, 2)))
}
