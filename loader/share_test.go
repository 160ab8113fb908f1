package loader_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
)

// dealt returns a loader of one rank, in batches of two of n rows.
func dealt(t testing.TB, n int, share sampler.Share) *loader.Loader {
	t.Helper()
	return must(loader.New(numbered(t, n), loader.Options{Batch: 2, Sampler: sampler.Random(), Seed: 4, Share: share}))
}

// steps returns the next batches of each rank, at most so many of each.
func steps(t testing.TB, ranks []*loader.Loader, most int) (batches [][]int) {
	t.Helper()
	for _, l := range ranks {
		n := 0
		for batch, err := range l.Batches(context.Background()) {
			require.NoError(t, err)
			batches = append(batches, rowsOf(t, batch))
			if n++; n == most {
				break
			}
		}
	}
	return batches
}

// world returns the loaders of all ranks.
func world(t testing.TB, n, size int, drop bool) []*loader.Loader {
	t.Helper()
	ranks := make([]*loader.Loader, size)
	for rank := range ranks {
		ranks[rank] = dealt(t, n, sampler.Share{Rank: rank, World: size, Drop: drop})
	}
	return ranks
}

// byFirst sorts batches, so that they can be compared.
func byFirst(batches [][]int) [][]int {
	out := slices.Clone(batches)
	slices.SortFunc(out, slices.Compare[[]int])
	return out
}

// TestBatchesAreDealt: all ranks get equally many; together they have all batches, or all but
// fewer than there are ranks, none of them twice unless it fills up.
func TestBatchesAreDealt(t *testing.T) {
	for n := range 30 {
		all := byFirst(steps(t, world(t, n, 1, false), -1))
		for size := 1; size <= 6; size++ {
			for _, drop := range []bool{false, true} {
				t.Run(fmt.Sprintf("n=%d/world=%d/drop=%t", n, size, drop), func(t *testing.T) {
					ranks := world(t, n, size, drop)
					each := (len(all) + size - 1) / size
					if drop {
						each = len(all) / size
					}
					for _, l := range ranks {
						require.Equal(t, each, l.Len())
					}
					got := steps(t, ranks, -1)
					require.Len(t, got, each*size)
					distinct := slices.CompactFunc(byFirst(got), slices.Equal[[]int])
					if drop {
						require.Len(t, distinct, len(got))
						require.Subset(t, all, distinct)
					} else {
						require.Equal(t, all, distinct)
					}
				})
			}
		}
	}
}

// TestElasticResume: a run with some ranks is stopped at any step, and goes on with any other
// number: each batch comes once, but for what fills up at the end.
func TestElasticResume(t *testing.T) {
	const n = 39
	all := byFirst(steps(t, world(t, n, 1, false), -1))
	for before := 1; before <= 4; before++ {
		for k := 1; k*before < len(all); k++ {
			for after := 1; after <= 5; after++ {
				ranks := world(t, n, before, false)
				had := steps(t, ranks, k)
				state := ranks[0].State()
				for _, l := range ranks {
					require.Equal(t, state, l.State(), "one state fits all ranks")
				}
				ranks = world(t, n, after, false)
				for _, l := range ranks {
					require.NoError(t, l.Restore(state))
				}
				rest := steps(t, ranks, -1)
				require.Len(t, rest, (len(all)-k*before+after-1)/after*after)
				together := slices.CompactFunc(byFirst(append(had, rest...)), slices.Equal[[]int])
				require.Equal(t, all, together, "%d ranks, then %d", before, after)
				require.Len(t, slices.CompactFunc(byFirst(had), slices.Equal[[]int]), k*before)
			}
		}
	}
}

// TestM32ResumeOfARank: with as many ranks as before, a rank gets what it would have got.
func TestM32ResumeOfARank(t *testing.T) {
	for _, drop := range []bool{false, true} {
		for rank := range 4 {
			share := sampler.Share{Rank: rank, World: 4, Drop: drop}
			whole, states := run(t, dealt(t, 19, share), 3, nil)
			for k, state := range states {
				rest, _ := run(t, dealt(t, 19, share), 3, state)
				require.Equal(t, whole[k:], rest, "k=%d", k)
			}
		}
	}
}
