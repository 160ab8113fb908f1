package memmap_test

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// generation returns a dictionary that tells its number, and has a leaf that nobody reads before it
// is replaced.
func generation(t testing.TB, n int64) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(2)
	require.NoError(t, td.Set("n", tensor.Vector(n, n)))
	require.NoError(t, td.Set("deep/n", tensor.Vector(n, n)))
	return td
}

// number returns the number of a generation, read from a leaf.
func number(t testing.TB, td *tdict.TensorDict) int64 {
	t.Helper()
	return tensor.Must(tdict.Slice[int64](td, "deep/n"))[0]
}

const interval = 20 * time.Millisecond

func TestLive(t *testing.T) {
	before := mapping.Live()
	dir := filepath.Join(t.TempDir(), "d")
	require.NoError(t, memmap.Save(dir, generation(t, 1)))
	replaced := make(chan int64, 9)
	live, err := memmap.OpenLive(dir, memmap.LiveOptions{Interval: interval, OnReplace: func(d *memmap.Dataset) { replaced <- number(t, d.TensorDict) }})
	require.NoError(t, err)
	first := tensor.Must(live.Acquire())
	require.NoError(t, memmap.Save(dir, generation(t, 2)))
	require.Equal(t, int64(2), <-replaced)
	second := tensor.Must(live.Acquire())
	require.Equal(t, int64(2), number(t, second.TensorDict))
	require.Equal(t, int64(1), number(t, first.TensorDict), "what is held can be read, though nobody had before")
	require.NoError(t, live.Release(first))
	_, err = first.Clone()
	require.ErrorIs(t, err, memmap.ErrClosed, "the last user is gone")
	require.ErrorIs(t, live.Release(first), memmap.ErrClosed, "it is not held any more")

	require.NoError(t, live.Close())
	require.ErrorIs(t, live.Close(), memmap.ErrClosed)
	_, err = live.Acquire()
	require.ErrorIs(t, err, memmap.ErrClosed)
	require.Equal(t, int64(2), number(t, second.TensorDict), "it is held")
	require.NoError(t, live.Release(second))
	require.Equal(t, before, mapping.Live())
}

// TestLiveIsFreshAfterTheInterval does not wait for the watcher.
func TestLiveIsFreshAfterTheInterval(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	require.NoError(t, memmap.Save(dir, generation(t, 0)))
	live, err := memmap.OpenLive(dir, memmap.LiveOptions{Interval: interval})
	require.NoError(t, err)
	defer live.Close()
	for n := range int64(20) {
		require.NoError(t, memmap.Save(dir, generation(t, n)))
		time.Sleep(interval)
		ds := tensor.Must(live.Acquire())
		require.Equal(t, n, number(t, ds.TensorDict))
		require.NoError(t, live.Release(ds))
	}
}

// TestLiveServesTheOldWhenTheNewIsBroken saves something that cannot be opened, and then something
// that can.
func TestLiveServesTheOldWhenTheNewIsBroken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	require.NoError(t, memmap.Save(dir, generation(t, 1)))
	var failures atomic.Int32
	live, err := memmap.OpenLive(dir, memmap.LiveOptions{Interval: interval, OnError: func(error) { failures.Add(1) }})
	require.NoError(t, err)
	defer live.Close()
	require.NoError(t, os.Rename(dir, dir+".away"))
	require.Eventually(t, func() bool { return failures.Load() > 0 }, time.Minute, time.Millisecond)
	ds := tensor.Must(live.Acquire())
	require.Equal(t, int64(1), number(t, ds.TensorDict))
	require.NoError(t, live.Release(ds))
	require.NoError(t, memmap.Save(dir, generation(t, 2)))
	require.Eventually(t, func() bool {
		ds := tensor.Must(live.Acquire())
		defer live.Release(ds)
		return number(t, ds.TensorDict) == 2
	}, time.Minute, time.Millisecond)
}

// TestLiveSeesGrowth serves a dictionary to which rows are appended.
func TestLiveSeesGrowth(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	w := newWriter(t, dir)
	live, err := memmap.OpenLive(dir, memmap.LiveOptions{Interval: interval})
	require.NoError(t, err)
	defer live.Close()
	for n := range 5 {
		require.NoError(t, w.Append(rows(t, n)))
		require.NoError(t, w.Commit())
		time.Sleep(interval)
		ds := tensor.Must(live.Acquire())
		require.Equal(t, n+1, ds.Shape()[0])
		require.NoError(t, live.Release(ds))
	}
	require.NoError(t, w.Finish())
	time.Sleep(interval)
	ds := tensor.Must(live.Acquire())
	requireSame(t, rows(t, 0, 5), ds.TensorDict)
	require.NoError(t, live.Release(ds))
}

func TestOpenLiveRefuses(t *testing.T) {
	_, err := memmap.OpenLive(saved(t), memmap.LiveOptions{Open: memmap.OpenOptions{Writable: true}})
	require.ErrorIs(t, err, memmap.ErrUnsupported)
	_, err = memmap.OpenLive(filepath.Join(t.TempDir(), "nowhere"), memmap.LiveOptions{})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = memmap.OpenLive("", memmap.LiveOptions{})
	require.ErrorIs(t, err, os.ErrInvalid)
}

// TestLazyLive serves a dictionary of which no leaf is mapped before it is used. A leaf that was
// not used before a replacement is lost, and the others stay.
func TestLazyLive(t *testing.T) {
	before := mapping.Live()
	dir := filepath.Join(t.TempDir(), "d")
	require.NoError(t, memmap.Save(dir, generation(t, 1)))
	live, err := memmap.OpenLive(dir, memmap.LiveOptions{Interval: interval, Lazy: true})
	require.NoError(t, err)
	require.Equal(t, before, mapping.Live(), "nothing is mapped")
	first := tensor.Must(live.Acquire())
	require.Equal(t, int64(1), number(t, first.TensorDict))
	require.Equal(t, before+1, mapping.Live())
	require.NoError(t, memmap.Save(dir, generation(t, 2)))
	require.Eventually(t, func() bool {
		ds := tensor.Must(live.Acquire())
		defer live.Release(ds)
		return number(t, ds.TensorDict) == 2
	}, 10*time.Second, interval)
	require.Equal(t, int64(1), number(t, first.TensorDict), "it was used before")
	_, err = tdict.Slice[int64](first.TensorDict, "n")
	require.ErrorIs(t, err, memmap.ErrReplaced)
	require.NoError(t, live.Release(first))
	require.NoError(t, live.Close())
	require.Equal(t, before, mapping.Live())
}
