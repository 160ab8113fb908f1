package sampler_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader/sampler"
)

// sizes returns options for units of 1000 bytes.
func sizes(block, window int) sampler.BlockOptions {
	return sampler.BlockOptions{BlockBytes: 1000 * block, WindowBytes: 1000 * block * window}
}

// TestBlockWindows checks that each window has whole blocks: as many as it should, the last fewer.
func TestBlockWindows(t *testing.T) {
	for n := 1; n < 80; n++ {
		for block := 1; block < 9; block++ {
			for _, window := range []int{1, 2, 3, 20} {
				s := sampler.Blocks(sizes(block, window))
				order := all(t, s, epoch(n, uint64(n), uint64(block)))
				blocks := (n + block - 1) / block
				for done := 0; done < blocks; done += window {
					want := min(window, blocks-done)
					order = takeBlocks(t, order, want, block, n)
				}
				require.Empty(t, order)
			}
		}
	}
}

// takeBlocks returns what is left of an order after so many whole blocks.
func takeBlocks(t *testing.T, order []int, blocks, block, n int) []int {
	t.Helper()
	left := map[int]int{}
	for i, unit := range order {
		b := unit / block
		if _, ok := left[b]; !ok {
			left[b] = min(block, n-b*block)
		}
		if left[b]--; left[b] == 0 {
			blocks--
		}
		if blocks == 0 {
			for _, rest := range left {
				require.Zero(t, rest, "units of a block that are in the next window")
			}
			return order[i+1:]
		}
	}
	require.Fail(t, "too few blocks")
	return nil
}

// TestBlocksAreUniform counts which unit is at each position.
func TestBlocksAreUniform(t *testing.T) {
	const epochs = 9000
	tests := []struct {
		n   int
		opt sampler.BlockOptions
	}{{9, sizes(3, 1)}, {9, sizes(3, 2)}, {8, sizes(3, 9)}, {8, sizes(1, 3)}, {7, sizes(7, 1)}}
	for _, tt := range tests {
		at := make([]int, tt.n*tt.n)
		for e := range uint64(epochs) {
			for i, unit := range all(t, sampler.Blocks(tt.opt), epoch(tt.n, 5, e)) {
				at[i*tt.n+unit]++
			}
		}
		mean := epochs / float64(tt.n)
		for i, got := range at {
			require.InDelta(t, mean, got, 4.5*math.Sqrt(mean), "%v: %d at %d", tt.opt, i%tt.n, i/tt.n)
		}
	}
}

// TestTheShortBlockIsAnywhere counts where the last block is, of 7 in windows of 2.
func TestTheShortBlockIsAnywhere(t *testing.T) {
	const n, epochs = 19, 7000
	windows := make([]int, 4)
	for e := range uint64(epochs) {
		windows[slices.Index(all(t, sampler.Blocks(sizes(3, 2)), epoch(n, 1, e)), n-1)/6]++
	}
	for i, got := range windows {
		want := float64(epochs) * 2 / 7
		if i == 3 {
			want /= 2
		}
		require.InDelta(t, want, got, 4*math.Sqrt(want), "window %d", i)
	}
}

// TestBlocksKeepFewWindows checks that walking an order needs no memory in proportion to the units.
func TestBlocksKeepFewWindows(t *testing.T) {
	const n = 400_000
	o := orderOf(t, sampler.Blocks(sizes(100, 10)), epoch(n, 1, 0))
	dst := make([]int, 0, 4000)
	testkit.MaxBytes(t, 4*(8*1000+300)*11/10, func() {
		for k := range 100 { // over and over the same windows
			dst = o.AppendTo(dst[:0], k%4*1000, k%4*1000+1000)
		}
	})
}

// A window has the bytes that it may have, also of units that are larger than a block: it has all
// units of its blocks, and the unit after it is of another block.
func TestBlocksOfLargeUnits(t *testing.T) {
	for unit, want := range map[int]struct{ block, window int }{100 << 20: {1, 1}, 32 << 20: {1, 2}, 1 << 20: {1, 64}, 1000: {1048, 1048 * 64}} {
		o := orderOf(t, sampler.Blocks(sampler.BlockOptions{}), sampler.Epoch{Units: 1_000_000, UnitBytes: unit})
		counts := map[int]int{}
		units := o.AppendTo(nil, 0, want.window+1)
		for _, u := range units[:want.window] {
			counts[u/want.block]++
		}
		require.Len(t, counts, want.window/want.block, "%d bytes", unit)
		require.NotContains(t, counts, units[want.window]/want.block, "%d bytes", unit)
	}
}
