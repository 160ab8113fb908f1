package memmap_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// saveScalars saves a dictionary of n leaves, int64 [2], that hold their number twice.
func saveScalars(t *testing.T, n int) (dir string, td *tdict.TensorDict) {
	t.Helper()
	td, dir = tdict.New(2), filepath.Join(testkit.TempDir(t), "d")
	for i := range n {
		require.NoError(t, td.Set(nestedkey.Of(fmt.Sprint(i)), tensor.Vector(int64(i), int64(i))))
	}
	require.NoError(t, memmap.SaveWith(t.Context(), dir, td, memmap.SaveOptions{NoSync: true}))
	return dir, td
}

// leaveRoom lets the process have n mappings more than it has, until the test ends.
func leaveRoom(t *testing.T, n int) {
	t.Helper()
	t.Cleanup(mapping.SetLimit(mapping.Live() + n))
}

// Beyond the limit small leaves are copied, and used as mapped ones are.
func TestSmallLeavesBeyondTheLimit(t *testing.T) {
	dir, td := saveScalars(t, 20)
	ds := open(t, dir)
	leaveRoom(t, 3)
	before := mapping.Live()
	requireSame(t, td, ds.TensorDict)
	require.Equal(t, before+3, mapping.Live())
	copied := tensor.Must(ds.Tensor("19"))
	require.ErrorIs(t, copied.SetIndex(tensor.Scalar(int64(1))), tensor.ErrReadOnly)
	require.NoError(t, ds.Advise(memmap.Random))
	require.NoError(t, ds.Prefetch(0, 1))
	require.NoError(t, ds.Flush())

	again := open(t, dir)
	require.True(t, tensor.Must(again.Tensor("19")).SharesMemory(copied), "a copy is of the same file")
	require.NoError(t, memmap.Save(dir, td))
	require.ErrorIs(t, testkit.Err(tensor.Must(again.Tensor("0")).Clone()), memmap.ErrReplaced, "it was not yet copied")
	require.True(t, tensor.Must(ds.Stale()))
	require.True(t, copied.Equal(tensor.Must(td.Tensor("19"))), "what was copied stays")

	for _, d := range []*memmap.Dataset{ds, again} {
		require.NoError(t, d.Close())
		require.NoError(t, d.CloseWait(t.Context()))
	}
	require.ErrorIs(t, testkit.Err(copied.Clone()), memmap.ErrClosed)
	require.Equal(t, before, mapping.Live())
}

// A file that was cut before it was wanted is corrupt, as it is below the limit.
func TestCutLeafBeyondTheLimit(t *testing.T) {
	dir, _ := saveScalars(t, 2)
	ds := open(t, dir)
	leaveRoom(t, 1)
	require.NoError(t, testkit.Err(tensor.Must(ds.Tensor("0")).Clone()))
	require.NoError(t, os.Truncate(filepath.Join(dir, "1.memmap"), 8))
	err := testkit.Err(tensor.Must(ds.Tensor("1")).Clone())
	require.ErrorIs(t, err, memmap.ErrCorrupt)
	require.ErrorContains(t, err, "1.memmap: corrupt: size cannot be mapped: got a file of 8 bytes, want 16")
}

func TestLeavesThatMustBeMapped(t *testing.T) {
	tests := []struct {
		name string
		rows int
		opt  memmap.OpenOptions
		ok   bool
	}{
		{"64 KiB to read", 8192, memmap.OpenOptions{}, true},
		{"more to read", 8193, memmap.OpenOptions{}, false},
		{"a little to write", 1, memmap.OpenOptions{Writable: true}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td, dir := tdict.New(tt.rows), filepath.Join(testkit.TempDir(t), "d")
			for _, key := range []nestedkey.Key{"a", "b"} {
				require.NoError(t, td.Set(key, tensor.Must(tensor.New(tensor.Int64, tt.rows))))
			}
			require.NoError(t, memmap.Save(dir, td))
			ds, err := memmap.OpenWith(dir, tt.opt)
			require.NoError(t, err)
			defer ds.Close()
			leaveRoom(t, 1)
			require.NoError(t, testkit.Err(tensor.Must(ds.Tensor("a")).Clone()))
			err = testkit.Err(tensor.Must(ds.Tensor("b")).Clone())
			if tt.ok {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, memmap.ErrLimit)
			require.EqualError(t, err, fmt.Sprintf("read %s: b.memmap: too many mapped files: the process has %d, half of vm.max_map_count: close some, or raise it", dir, mapping.Limit()))
			require.NoError(t, ds.Close())
			require.NoError(t, testkit.Err(tensor.Must(open(t, dir).Tensor("b")).Clone()), "there is room again")
		})
	}
}

// Allocations of a leaf do not depend on how many there are, mapped or copied.
func TestMappingGrowth(t *testing.T) {
	sizes := []int{20, 200, longtests.Times(400, 2000)}
	var dirs []string
	for _, n := range sizes {
		dir, _ := saveScalars(t, n)
		dirs = append(dirs, dir)
	}
	for _, room := range []int{1 << 20, 1} {
		var each []float64
		for i, dir := range dirs {
			leaveRoom(t, room)
			each = append(each, testing.AllocsPerRun(3, func() {
				ds, err := memmap.Open(dir)
				require.NoError(t, err)
				require.NoError(t, ds.Advise(memmap.Normal))
				require.NoError(t, ds.Close())
			})/float64(sizes[i]))
		}
		t.Logf("room for %d: %.1f allocations a leaf", room, each)
		require.LessOrEqual(t, each[2], each[1]*1.05)
		require.LessOrEqual(t, each[1], each[0]*1.05)
	}
}
