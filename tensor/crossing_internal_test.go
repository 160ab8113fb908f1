package tensor

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// By whatever spacing sites are folded before they are compared, the verdict is that of looking at
// every byte.
func TestFoldedOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	refused, allowed := 0, 0
	for range 5_000 {
		moves := []move{*randomMove(rng), *randomMove(rng)}
		moves[1].toStart += rng.IntN(4) * 40
		want := apart
		if feeds(&moves[0], &moves[1]) || feeds(&moves[1], &moves[0]) {
			want = overlap
		}
		c := crossing{moves: moves}
		sites := c.sites()
		slices.SortFunc(sites, func(a, b site) int { return cmp.Compare(a.low, b.low) })
		for _, spacing := range append(c.spacings(sites), 1, 1+rng.IntN(50), 1<<40) {
			steps := math.MaxInt
			require.Equal(t, want, c.sweep(c.folded(sites, spacing), &steps), "by %d: %v", spacing, moves)
		}
		if want == overlap {
			refused++
		} else {
			allowed++
		}
	}
	require.Greater(t, refused, 500)
	require.Greater(t, allowed, 500)
}
