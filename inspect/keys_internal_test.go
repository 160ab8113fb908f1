package inspect

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSortKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for n := range 200 {
		for name, key := range map[string]func(i int) int64{
			"random":     func(int) int64 { return int64(r.Uint64()) },
			"few":        func(int) int64 { return r.Int64N(4) },
			"ascending":  func(i int) int64 { return int64(i) },
			"descending": func(i int) int64 { return int64(-i) },
			"runs":       func(i int) int64 { return int64(i % 37) },
		} {
			keys := make([]int64, n)
			for i := range keys {
				keys[i] = key(i)
			}
			want := slices.Clone(keys)
			slices.Sort(want)
			sortKeys(keys, make([]int64, n))
			require.Equal(t, want, keys, "%d keys, %s", n, name)
		}
	}
}

func TestKeysHaveTheOrderOfNumbers(t *testing.T) {
	numbers := []float64{math.Inf(-1), -math.MaxFloat64, -1.5, -1, -5e-324, math.Copysign(0, -1), 0, 5e-324, 1, 1.5, math.MaxFloat64, math.Inf(1)}
	for i, v := range numbers {
		require.Equal(t, math.Float64bits(v), math.Float64bits(ofKey(keyOf(v))))
		if i > 0 {
			require.Less(t, keyOf(numbers[i-1]), keyOf(v))
		}
	}
}
