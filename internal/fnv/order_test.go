package fnv_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/fnv"
)

// TestHash has the hash of the original, as it was run.
func TestHash(t *testing.T) {
	hashes := []struct{ id, want int64 }{
		{0, -3934935440684912283},
		{1, 1551386388560876650},
		{2, 7037708217806665583},
		{3, -5922714026657097100},
		{7, -2424170783383492984},
		{8, 3062151045862295949},
		{9, 8548472875108084882},
		{10, -4411949369355677801},
		{42, 4493192831874592503},
		{43, -8467229412589170180},
		{255, 7116107790031817376},
		{256, 1561668558386854252},
		{1000, 4561310234273766694},
		{65536, -6214573678790039134},
		{-1, 6080429646173884813},
		{-2, 4860180188965217938},
		{math.MaxInt32, -6057585545701414759},
		{math.MinInt32, 8802515730059540569},
		{1 << 32, -4275246861906166246},
		{math.MaxInt64, 6080429646173884685},
		{math.MinInt64, -3934935440684912155},
	}
	for _, h := range hashes {
		if got := fnv.Hash(h.id); got != h.want {
			t.Errorf("Hash(%d): got %d, want %d", h.id, got, h.want)
		}
	}
}

// The ids of the original's examples.
var (
	g1 = []int64{5, 5, 8, 8, 8, 8, 1, 1}
	g2 = []int64{8, 8, 8, 1, 1, 7, 7, 7, 7}
)

// upTo returns the numbers from 0 to n-1.
func upTo(n int) []int64 {
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = int64(i)
	}
	return ids
}

func TestOrder(t *testing.T) {
	tests := []struct {
		name string
		ids  []int64
		seed int64
		want []int64 // the first ids in order
	}{
		{"M06", g1, 1, []int64{5, 5, 1, 1, 8, 8, 8, 8}},
		{"M07 seed 2", g1, 2, []int64{1, 1, 8, 8, 8, 8, 5, 5}},
		{"M07 seed 3", g1, 3, []int64{1, 1, 8, 8, 8, 8, 5, 5}},
		{"M07 seed 42", g1, 42, []int64{1, 1, 8, 8, 8, 8, 5, 5}},
		{"M08 seed 0", g2, 0, []int64{7, 7, 7, 7, 1, 1, 8, 8, 8}},
		{"M08 seed 1", g2, 1, []int64{7, 7, 7, 7, 1, 1, 8, 8, 8}},
		{"M09 seed 2", g2, 2, []int64{1, 1, 8, 8, 8, 7, 7, 7, 7}},
		{"M09 seed 42", g2, 42, []int64{1, 1, 8, 8, 8, 7, 7, 7, 7}},
		{"M11", upTo(16), 0, []int64{6, 13, 3, 10, 0, 7, 14, 4, 11, 1, 8, 15, 5, 12, 2, 9}},
		{"M12 seed 1", upTo(16), 1, []int64{15, 5, 12, 2, 9, 6, 13, 3, 10, 0, 7, 14, 4, 11, 1, 8}},
		{"M12 seed 42", upTo(16), 42, []int64{11, 1, 8, 15, 5, 12, 2, 9, 6, 13, 3, 10, 0, 7, 14, 4}},
		{"M13", upTo(300), 1, []int64{133, 106, 79, 52, 282, 241, 25, 214, 187, 96}},
		{"nothing", nil, 1, []int64{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := []int64{}
			for _, row := range fnv.Order(tt.ids, tt.seed)[:len(tt.want)] {
				got = append(got, tt.ids[row])
			}
			require.Equal(t, tt.want, got)
		})
	}
	t.Run("M10", func(t *testing.T) {
		require.Equal(t, []int{1, 4, 0, 2, 3}, fnv.Order([]int64{8, 1, 8, 7, 1}, 2))
	})
	t.Run("M29", func(t *testing.T) {
		id, seed := int64(math.MaxInt64), int64(1)
		require.Equal(t, int64(-3934935440684912155), fnv.Hash(id+seed))
		// Hash(1+1) > Hash(2^63-1 + 1, which wraps) > Hash(2+1).
		require.Equal(t, []int{2, 1, 0}, fnv.Order([]int64{1, id, 2}, seed))
	})
	t.Run("rows with equal ids keep their order", func(t *testing.T) {
		require.Equal(t, []int{3, 4, 0, 1, 2, 5, 6, 7, 8}, fnv.Order(g2, 2))
	})
}

// TestOrderIsWeak is the half of M33 that is about FNV: 1000 ids come at 36 distances from each
// other, those in a random order at some 750.
func TestOrderIsWeak(t *testing.T) {
	order, steps := fnv.Order(upTo(1000), 1), map[int]bool{}
	for i := 1; i < len(order); i++ {
		steps[order[i]-order[i-1]] = true
	}
	require.Len(t, steps, 36)
}

// BenchmarkOrder puts rows in the order of the original.
func BenchmarkOrder(b *testing.B) {
	ids := upTo(200_000)
	for b.Loop() {
		fnv.Order(ids, 1)
	}
}
