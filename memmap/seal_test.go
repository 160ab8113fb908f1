package memmap_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestSealOfOthers has what Seal refuses, and what it leaves.
func TestSealOfOthers(t *testing.T) {
	t.Parallel() // it waits a second for a lock
	dir := saved(t)
	ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
	require.ErrorIs(t, memmap.Seal(t.Context(), dir), memmap.ErrBusy)
	require.NoError(t, ds.Close())
	require.NoError(t, memmap.Seal(t.Context(), dir))
	require.True(t, steps().Equal(open(t, dir).TensorDict))
	require.ErrorIs(t, memmap.Seal(t.Context(), filepath.Join(dir, "nothing")), os.ErrNotExist)
	leaf := filepath.Join(dir, "reward.memmap")
	require.NoError(t, os.Truncate(leaf, 3))
	require.ErrorIs(t, memmap.Seal(t.Context(), dir), memmap.ErrCorrupt, "a file that is too short is damage")
}

// TestCheckSums opens a damaged dataset: without CheckSums nothing is compared, with it each
// operation that reads the damaged leaf fails, and no other.
func TestCheckSums(t *testing.T) {
	dir := saved(t)
	leaf := filepath.Join(dir, "reward.memmap")
	text := tensor.Must(os.ReadFile(leaf))
	text[5] ^= 1
	require.NoError(t, os.WriteFile(leaf, text, 0o666))
	_, err := open(t, dir).Clone()
	require.NoError(t, err)
	ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{CheckSums: true}))
	defer ds.Close()
	reward := tensor.Must(ds.Tensor("reward"))
	for range 2 {
		_, err = reward.Clone()
		require.ErrorIs(t, err, memmap.ErrCorrupt)
		require.ErrorContains(t, err, "reward.memmap: corrupt: changed or damaged")
	}
	_, err = tensor.Must(ds.Tensor("obs/pos")).Clone()
	require.NoError(t, err)
	_, err = ds.Clone()
	require.ErrorIs(t, err, memmap.ErrCorrupt)
}

// TestNumbersAreNotSealed: lengths and row numbers that were changed are damage, so Verify does not
// say to Seal them.
func TestNumbersAreNotSealed(t *testing.T) {
	tests := []struct {
		part string
		seal bool
	}{{"@lengths", false}, {"@row", false}, {"@pool", true}}
	for _, tt := range tests {
		t.Run(tt.part, func(t *testing.T) {
			dir := saveRows(t, visits(t))
			file := filepath.Join(dir, "codes", tt.part+".memmap")
			text := tensor.Must(os.ReadFile(file))
			text[0] ^= 1
			require.NoError(t, os.WriteFile(file, text, 0o666))
			_, err := memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})
			require.ErrorIs(t, err, memmap.ErrCorrupt)
			require.ErrorContains(t, err, tt.part+".memmap: corrupt: changed or damaged: got CRC-32C ")
			require.Equal(t, tt.seal, strings.Contains(err.Error(), "Seal the dataset"), err)
			require.Equal(t, tt.seal, memmap.Seal(t.Context(), dir) == nil)
		})
	}
}

// TestCloseLeavesWhatPythonLists closes a dataset in which Python has listed a leaf anew, without
// native fields, since it was written.
func TestCloseLeavesWhatPythonLists(t *testing.T) {
	dir := saved(t)
	ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
	fill(t, ds, "reward", 7)
	text := []byte(`{"obs":{"type":"TensorDict"},"reward":{"device":"cpu","shape":[4],"dtype":"torch.int64","is_nested":false},"shape":[4],"device":"cpu","_type":"<class 'tensordict._td.TensorDict'>"}`)
	meta := filepath.Join(dir, "meta.json")
	require.NoError(t, os.WriteFile(meta, text, 0o666))
	require.NoError(t, ds.Close())
	require.Equal(t, text, tensor.Must(os.ReadFile(meta)))
	requireUnsummed(t, dir, "reward")
}

// TestVerifyWhileWritten verifies a dataset whose leaf y has other elements, and void sums, only
// while Verify reads it: there is no damage.
func TestVerifyWhileWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	td := tdict.New(4)
	for _, key := range []nestedkey.Key{"x", "y", "z"} {
		require.NoError(t, td.Set(key, tensor.Vector[int64](1, 1, 1, 1)))
	}
	require.NoError(t, memmap.Save(dir, td))
	var ds *memmap.Dataset
	_, err := memmap.Verify(t.Context(), dir, memmap.VerifyOptions{Workers: 1, Progress: func(done, total int64) {
		switch done {
		case 32: // y is next
			ds = tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
			fill(t, ds, "y", 2)
		case 64:
			fill(t, ds, "y", 1)
			require.NoError(t, ds.Close())
		}
	}})
	require.NoError(t, err)
	requireUnsummed(t, dir)
}

// fill stores v in all elements of a leaf.
func fill(t *testing.T, ds *memmap.Dataset, key nestedkey.Key, v int64) {
	t.Helper()
	require.NoError(t, tensor.Write(tensor.Must(ds.Tensor(key)), func(s []int64) {
		for i := range s {
			s[i] = v
		}
	}))
}

// TestCloseWithoutSums closes a dataset whose meta.json cannot be written any more, at each step of
// writing it: the error says so, the elements are there, and SealWritten completes the work.
func TestCloseWithoutSums(t *testing.T) {
	for failing, step := true, 0; failing; step++ {
		dir := saved(t)
		ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
		fill(t, ds, "reward", 7)
		n := 0
		vfs.Observe(func(_, _ string) error {
			if n++; n > step {
				return syscall.ENOSPC
			}
			return nil
		})
		err := ds.Close()
		vfs.Observe(nil)
		if failing = n > step; failing {
			require.ErrorIs(t, err, syscall.ENOSPC)
			require.ErrorContains(t, err, "close "+dir+": meta.json: ")
			require.NotErrorIs(t, err, memmap.ErrDone)
		} else {
			require.NoError(t, err)
		}
		require.NoError(t, testkit.Err(memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})))
		require.True(t, tensor.Must(open(t, dir).Tensor("reward")).Equal(tensor.Vector[int64](7, 7, 7, 7)))
		require.NoError(t, memmap.SealWritten(t.Context(), dir))
		requireUnsummed(t, dir)
	}
}

// TestCloseTakesNoDamageAsRight writes so many leaves that the checksums of all become void. A leaf
// that was damaged before, and that nobody has written, gets no new ones.
func TestCloseTakesNoDamageAsRight(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	td := tdict.New(4)
	for i := range 40 {
		require.NoError(t, td.Set(nestedkey.Key(fmt.Sprint("x", i)), tensor.Vector[int64](1, 2, 3, 4)))
	}
	require.NoError(t, memmap.Save(dir, td))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x39.memmap"), make([]byte, 32), 0o666))
	ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
	for i := range 20 {
		fill(t, ds, nestedkey.Key(fmt.Sprint("x", i)), 9)
	}
	require.NoError(t, ds.Close())
	requireUnsummed(t, dir, "x39")
}
