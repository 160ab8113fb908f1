package memmap_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestWait has another process hold what a writer needs for as long as it likes: the writer waits
// for so long and no longer, and says for which file.
func TestWait(t *testing.T) {
	t.Parallel()
	const wait = 100 * time.Millisecond
	locked := func(t *testing.T, path string) {
		l, err := vfs.TryLock(path, vfs.Exclusive)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, l.Unlock()) })
	}
	waits := func(t *testing.T, at string, least time.Duration, do func() error) {
		t.Helper()
		began := time.Now()
		err := do()
		require.ErrorIs(t, err, memmap.ErrBusy)
		require.ErrorContains(t, err, at)
		require.GreaterOrEqual(t, time.Since(began), least)
		require.Less(t, time.Since(began), least+20*time.Second)
	}
	t.Run("open", func(t *testing.T) {
		dir := saved(t)
		locked(t, dir)
		for _, tt := range []struct{ wait, least time.Duration }{{wait, wait}, {0, time.Second}, {-1, 0}} {
			opt := memmap.OpenOptions{Writable: true, Wait: tt.wait}
			waits(t, dir, tt.least, func() error { return testkit.Err(memmap.OpenWith(dir, opt)) })
			inner := filepath.Join(dir, "obs")
			waits(t, dir, tt.least, func() error { return testkit.Err(memmap.OpenWith(inner, opt)) })
		}
		open(t, dir) // who reads does not wait
	})
	t.Run("meta.json", func(t *testing.T) {
		dir := saved(t)
		ds := openWith(t, dir, memmap.OpenOptions{Writable: true, Wait: wait})
		meta := filepath.Join(dir, "meta.json")
		locked(t, meta)
		reward := tensor.Must(ds.Tensor("reward"))
		waits(t, meta, wait, func() error { return reward.SetIndex(tensor.Scalar[int64](1), ix.At(0)) })
		waits(t, meta, wait, func() error { return ds.AddLeaf("more", tensor.Must(tensor.New(tensor.Int8, 4))) })
		require.NotContains(t, names(t, dir), "more.memmap", "nothing has changed")
	})
}
