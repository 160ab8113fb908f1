//go:build unix

package memmap_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/tensor"
)

// requireDescriptors checks that n files can be opened at a time.
func requireDescriptors(t *testing.T, n int) {
	t.Helper()
	for range n {
		f, err := os.Open(os.DevNull)
		require.NoError(t, err)
		defer f.Close()
	}
}

// atMost lowers a limit, whose type differs between systems.
func atMost[T int64 | uint64](limit *T, n int) { *limit = min(*limit, T(n)) }

// TestProcessClonesWithFewDescriptors is a process that may have 512 descriptors, and clones a
// dictionary.
func TestProcessClonesWithFewDescriptors(t *testing.T) {
	k, ok := processkit.TaskOf(t)
	if !ok {
		return
	}
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	atMost(&limit.Cur, 512)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	td, err := open(t, k.Args[0]).Clone()
	require.NoError(t, err)
	k.Tell("%d", td.NumEntries())
	requireDescriptors(t, 409)
}

func TestCloneWithFewDescriptors(t *testing.T) {
	leaves := longtests.Times(600, 2000)
	dir, _ := saveScalars(t, leaves)
	p := start(t, "TestProcessClonesWithFewDescriptors", dir)
	require.Equal(t, []string{fmt.Sprint(leaves)}, p.Words(t))
	require.NoError(t, p.Ended())
}

// TestProcessClonesManyLeaves is a process that clones a dictionary, maps another, and checks what
// it cloned.
func TestProcessClonesManyLeaves(t *testing.T) {
	k, ok := processkit.TaskOf(t)
	if !ok {
		return
	}
	ds := open(t, k.Args[0])
	td, err := ds.Clone()
	require.NoError(t, err)
	for key, v := range td.All() {
		x, err := tensor.Of[int64](v.(*tensor.Tensor))
		require.NoError(t, err)
		require.Equal(t, string(key), fmt.Sprint(x[0]))
	}
	k.Tell("%d %d", td.NumEntries(), mapping.Live())
	require.NoError(t, ds.Close())
	k.Tell("%d", mapping.Live())
}

// TestManyLeaves needs -kills full to have more leaves than Linux allows mappings.
func TestManyLeaves(t *testing.T) {
	leaves := kills(t, 1000, 70_000)
	dir, _ := saveScalars(t, leaves)
	p := start(t, "TestProcessClonesManyLeaves", dir)
	require.Equal(t, []string{fmt.Sprint(leaves), fmt.Sprint(min(leaves, mapping.Limit()))}, p.Words(t))
	require.Equal(t, []string{"0"}, p.Words(t))
	require.NoError(t, p.Ended())
}
