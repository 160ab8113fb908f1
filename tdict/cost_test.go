package tdict_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

func TestLookingUpAllocatesNothing(t *testing.T) {
	td := wide(10, 3)
	require.NoError(t, td.Set("x/y/z", count(3)))
	for _, key := range []nestedkey.Key{"leaf07", "x/y/z"} {
		require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = td.Get(key) }), "get %s", key)
		require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = td.Tensor(key) }), "tensor %s", key)
		require.Zero(t, testing.AllocsPerRun(100, func() { _ = td.Has(key) }), "has %s", key)
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = td.Has("x/y/no") }))
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for range td.All() {
			continue
		}
	}))
}

// A view of each of n leaves costs its header and its shape with strides, beside the dictionary and
// the plan. The number is a ceiling: whoever saves an allocation lowers it.
func TestViewAllocations(t *testing.T) {
	for _, leaves := range []int{1, 10, 100} {
		td := wide(leaves, 32)
		n := testing.AllocsPerRun(100, func() { _, _ = td.Index(ix.Range(4, 20)) })
		require.LessOrEqual(t, n, float64(6+2*leaves), "%d leaves", leaves)
	}
}

// Rows that are taken into memory that is there cost headers only, however many they are.
func TestIndexIntoAllocationsDoNotGrowWithRows(t *testing.T) {
	td := wide(10, 5000)
	cost := func(n int) float64 {
		rows := make([]int, n)
		for i := range rows {
			rows[i] = i * 7 % 5000
		}
		dst, take := wide(10, n), ix.Take(rows...)
		return testing.AllocsPerRun(20, func() {
			if err := td.IndexInto(dst, take); err != nil {
				t.Error(err)
			}
		})
	}
	require.Equal(t, cost(2), cost(4000))
}
