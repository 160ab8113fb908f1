package tensor

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-tensordict/tensordict/shapeops"
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

// Copies whose strides have nothing in common are compared pair by pair, and told apart all the same.
func TestCrossingOfMixedStrides(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const span = 1 << 14
	buf, out := make([]byte, span), make([]byte, 64)
	written := make([]bool, span)
	strided := func(apart bool) shapeops.View {
		for {
			v := shapeops.View{Shape: shapeops.Shape{20}, Strides: []int{50 + rng.IntN(100)}, Offset: rng.IntN(span / 8)}
			if !apart || !slices.ContainsFunc(slices.Collect(v.Offsets()), func(at int) bool { return written[at] }) {
				return v
			}
		}
	}
	flat := shapeops.View{Shape: shapeops.Shape{20}, Strides: []int{1}}
	moves := make([]move, 128)
	for i := range moves[:64] {
		v := strided(false)
		for at := range v.Offsets() {
			written[at] = true
		}
		moves[i].all(1, memory{bytes: buf}, memory{bytes: out}, v, flat)
	}
	for i := range moves[64:] {
		moves[64+i].all(1, memory{bytes: make([]byte, 20)}, memory{bytes: buf}, flat, strided(true))
	}
	require.NoError(t, checkCrossing(moves))
	moves[100].fromAt = moves[3].toStart
	require.ErrorIs(t, checkCrossing(moves), ErrOverlap)
}

// Columns of one table, and rows of one table, are told apart by sorting alone: in a number of steps
// that is linear in the copies.
func TestCrossingBySorting(t *testing.T) {
	const n = 1000
	table := memory{bytes: make([]byte, n*2*n)}
	columns, rows := make([]move, n), make([]move, n)
	view := func(at, stride int) shapeops.View {
		return shapeops.View{Shape: shapeops.Shape{n}, Strides: []int{stride}, Offset: at}
	}
	for i := range n {
		columns[i].all(1, table, table, view(2*i, 2*n), view(2*((i*7)%n)+1, 2*n))
		rows[i].all(1, table, table, view(i*2*n, 1), view(i*2*n+n, 1))
	}
	for name, moves := range map[string][]move{"columns": columns, "rows": rows} {
		c, none := crossing{moves: moves}, 0
		sites := c.sites()
		slices.SortFunc(sites, func(a, b site) int { return a.low - b.low })
		require.Equal(t, apart, c.compare(sites, &none), "%s: without a step for pairs", name)
	}
}
