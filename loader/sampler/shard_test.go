package sampler_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestShards is M30 and M31.
func TestShards(t *testing.T) {
	tests := []struct {
		name string
		n    int
		drop bool
		want [][]int
	}{
		{"M30: padded", 10, false, [][]int{{0, 4, 8}, {1, 5, 9}, {2, 6, 0}, {3, 7, 1}}},
		{"M31: dropped", 10, true, [][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}},
		{"nothing is left over", 8, false, [][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}},
		{"padded several times round", 2, false, [][]int{{0}, {1}, {0}, {1}, {0}}},
		{"all dropped", 2, true, [][]int{{}, {}, {}}},
		{"of nothing", 0, false, [][]int{{}, {}}},
	}
	for _, tt := range tests {
		for rank, want := range tt.want {
			share := sampler.Share{Rank: rank, World: len(tt.want), Drop: tt.drop}
			s := tensor.Must(sampler.Shard(sampler.Sequential(), share))
			require.Equal(t, want, all(t, s, epoch(tt.n, 1, 0)), "%s, rank %d", tt.name, rank)
		}
	}
}

// TestShardsCover checks that ranks get equally many, that what is padded is at most a round more,
// and that all together have the order of the whole.
func TestShardsCover(t *testing.T) {
	for n := range 60 {
		whole := all(t, sampler.Random(), epoch(n, 5, 2))
		for world := 1; world < 9; world++ {
			for _, drop := range []bool{false, true} {
				got := make([]int, 0, n+world)
				parts := make([][]int, world)
				for rank := range world {
					s := tensor.Must(sampler.Shard(sampler.Random(), sampler.Share{Rank: rank, World: world, Drop: drop}))
					parts[rank] = all(t, s, epoch(n, 5, 2))
					require.Len(t, parts[rank], len(parts[0]))
				}
				for i := range len(parts[0]) * world {
					got = append(got, parts[i%world][i/world])
				}
				if drop {
					require.Equal(t, whole[:n/world*world], got)
				} else {
					require.Equal(t, whole, got[:n])
					require.Less(t, len(got), n+world)
				}
			}
		}
	}
}

func TestShardOfEndless(t *testing.T) {
	share := sampler.Share{Rank: 1, World: 2}
	s := tensor.Must(sampler.Shard(sampler.Endless(sampler.Sequential()), share))
	o := orderOf(t, s, epoch(3, 1, 0))
	require.Equal(t, sampler.NoEnd, o.Len())
	require.Equal(t, []int{1, 3, 5, 7}, o.AppendTo(nil, 0, 4))
	require.Equal(t, []int{2_000_001}, o.AppendTo(nil, 1_000_000, 1_000_001))
	require.GreaterOrEqual(t, o.AppendTo(nil, sampler.NoEnd-2, sampler.NoEnd-1)[0], 0)
}

// TestShareOfOneIsTheWhole checks that the views of sequential batches are kept.
func TestShareOfOneIsTheWhole(t *testing.T) {
	s := tensor.Must(sampler.Shard(sampler.Sequential(), sampler.Share{}))
	batching := tensor.Must(sampler.Rows(4, false))
	plan := tensor.Must(batching.Plan(orderOf(t, s, epoch(8, 1, 0)), 8))
	require.True(t, plan.Batch(1, sampler.Batch{}).Run)
}

// TestDescriptionHasNoRank checks that one state fits all ranks, and no other world.
func TestDescriptionHasNoRank(t *testing.T) {
	text := func(share sampler.Share) string {
		return fmt.Sprint(tensor.Must(sampler.Shard(sampler.Random(), share)))
	}
	base := text(sampler.Share{Rank: 0, World: 4})
	require.Equal(t, base, text(sampler.Share{Rank: 3, World: 4}))
	require.NotEqual(t, base, text(sampler.Share{Rank: 3, World: 5}))
	require.NotEqual(t, base, text(sampler.Share{Rank: 3, World: 4, Drop: true}))
}

// A share of an order without end does not ask for what is beyond the largest int.
func TestShardFarOut(t *testing.T) {
	s := tensor.Must(sampler.Shard(sampler.Endless(sampler.Random()), sampler.Share{Rank: 1, World: 2}))
	order := tensor.Must(s.Order(sampler.Epoch{Units: 10}))
	for _, at := range []int{1 << 40, 1<<62 - 2, 1<<62 - 1} {
		require.Len(t, order.AppendTo(nil, at, at+1), 1)
	}
}

// A world has a bound: positions of a larger one may not be ints.
func TestShardOfAHugeWorld(t *testing.T) {
	require.NoError(t, sampler.Share{Rank: 1<<20 - 1, World: 1 << 20}.Check())
	require.ErrorIs(t, sampler.Share{World: 1<<20 + 1}.Check(), sampler.ErrRank)
}
