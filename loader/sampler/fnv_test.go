package sampler_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/fnv"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tensor"
)

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

// TestFNVOfGroups: the sampler gives the rows of groups in the order that fnv.Order gives all rows,
// whether groups lie together or not, in every epoch.
func TestFNVOfGroups(t *testing.T) {
	for _, ids := range [][]int64{g1, g2, {8, 1, 8, 7, 1}, {math.MaxInt64, math.MinInt64, math.MaxInt64}, upTo(300), {}} {
		groups := tensor.Must(sampler.NewGroups(tensor.Vector(ids...), sampler.GroupOptions{}))
		for _, seed := range []int64{0, 1, -1, math.MaxInt64} {
			for epoch := range uint64(2) {
				order, err := groups.FNV().Order(sampler.Epoch{Units: groups.Len(), Seed: uint64(seed), Number: epoch})
				require.NoError(t, err)
				require.Equal(t, fnv.Order(ids, seed), rowsOf(t, groups, sampler.GroupBatchOptions{Groups: 2}, order))
			}
		}
	}
}

func TestFNVOfGroupsRefuses(t *testing.T) {
	groups := tensor.Must(sampler.NewGroups(tensor.Vector(g1...), sampler.GroupOptions{}))
	testkit.Fails(t, sampler.ErrUnits, testkit.Err(groups.FNV().Order(sampler.Epoch{Units: 8})))
}

// TestFNVSaysItsIDs: samplers of other ids have other descriptions.
func TestFNVSaysItsIDs(t *testing.T) {
	said := map[string]bool{}
	for _, ids := range [][]int64{g1, g2, {5, 8, 1}, {5, 8, 2}, {5, 5, 8, 8}, {}} {
		said[tensor.Must(sampler.NewGroups(tensor.Vector(ids...), sampler.GroupOptions{})).FNV().String()] = true
	}
	require.Len(t, said, 5) // g1 has the groups 5, 8, 1 too, in that order
	text := tensor.Must(sampler.NewGroups(tensor.Vector(g1...), sampler.GroupOptions{})).FNV().String()
	require.Regexp(t, `^FNV order of 3 groups [0-9a-f]{16}$`, text)
}
