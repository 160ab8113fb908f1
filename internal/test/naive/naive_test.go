package naive_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

func Example() {
	expr := []ix.Index{ix.Take(2, 0), ix.At(-1)}
	want, ok := naive.New(3, 4).Index(expr...)
	fmt.Println(want.Shape, want.At, ok)
	// Output: [2] [11 3] true
}

func TestOperations(t *testing.T) {
	pair := naive.Number([]int{2, 2}, []int{2, 1})
	fill, ok := naive.New(2, 2).Fill(9, ix.All, ix.At(0))
	require.True(t, ok)
	set, ok := naive.New(4).Set(naive.Array{Shape: []int{2}, At: []int{7, 8}}, ix.Take(0, 0))
	require.True(t, ok)
	_, ok = set.Fill(0, ix.At(4))
	require.False(t, ok)
	tests := []struct {
		name      string
		got, want naive.Array
	}{
		{"permute", naive.New(2, 3).Permute(1, 0), naive.Array{[]int{3, 2}, []int{0, 3, 1, 4, 2, 5}}},
		{"reshape", naive.New(2, 3).Reshape(6), naive.New(6)},
		{"expand", naive.New(2, 1).Expand(2, 2, 2), naive.Array{[]int{2, 2, 2}, []int{0, 0, 1, 1, 0, 0, 1, 1}}},
		{"cat", naive.Cat(pair, 1), naive.Array{[]int{2, 3}, []int{0, 1, 4, 2, 3, 5}}},
		{"stack", naive.Stack(naive.Number([]int{2}, []int{2}), 1), naive.Array{[]int{2, 2}, []int{0, 2, 1, 3}}},
		{"cut", naive.New(2, 3).Cut(1, 1, 2)[1], naive.Array{[]int{2, 2}, []int{1, 2, 4, 5}}},
		{"fill", fill, naive.Array{[]int{2, 2}, []int{9, 1, 9, 3}}},
		{"of duplicates the last stays", set, naive.Array{[]int{4}, []int{8, 1, 2, 3}}},
		{"rows", naive.New(4).Rows(naive.New(9).Plus(10), naive.Run{To: 2, From: 5, Len: 2}, naive.Run{From: 1, Len: 1}),
			naive.Array{[]int{4}, []int{11, 1, 15, 16}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tt.got) })
	}
}

// What the generators make is of every kind, and mostly good.
func TestRandom(t *testing.T) {
	r, good, kinds := rand.New(rand.NewPCG(1, 2)), 0, map[ix.Kind]int{}
	for range 1000 {
		shape := naive.Shape(r, 3)
		require.Equal(t, naive.Size(shape), naive.Size(naive.Factors(r, naive.Size(shape))))
		expr := naive.Expr(r, shape)
		for _, x := range expr {
			require.NoError(t, x.Check())
			kinds[x.Kind()]++
		}
		if _, ok := naive.New(shape...).Index(expr...); ok {
			good++
		}
	}
	require.Greater(t, good, 600)
	require.Less(t, good, 1000)
	require.Len(t, kinds, 7)
}
