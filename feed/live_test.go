package feed_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/feed"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// version returns a dictionary of 200 rows and more for each version, whose "version" says which it
// is.
func version(t testing.TB, n int) *tdict.TensorDict {
	t.Helper()
	td := table(t, 200+10*n)
	numbers := make([]int64, 200+10*n)
	for i := range numbers {
		numbers[i] = int64(n)
	}
	require.NoError(t, td.Set("version", tensor.Vector(numbers...)))
	return td
}

// TestLive replaces a dataset in many epochs. The ranks of an epoch get the same version, and a new
// version is taken up.
func TestLive(t *testing.T) {
	const epochs = 12
	for _, same := range []bool{false, true} {
		before := mapping.Live()
		dir, replaced := filepath.Join(t.TempDir(), "d"), make(chan struct{}, 9)
		require.NoError(t, memmap.Save(dir, version(t, 0)))
		live, err := memmap.OpenLive(dir, memmap.LiveOptions{
			Interval: time.Millisecond, OnReplace: func(*memmap.Dataset) { replaced <- struct{}{} },
		})
		require.NoError(t, err)
		src, err := loader.FromLive(live, loader.LiveOptions{Finish: true})
		require.NoError(t, err)
		s := serve(t, src, feed.Options{Loader: shuffled(10), Epochs: epochs, Consumers: 2, Same: same})
		first, second := dial(t, s.path, feed.DialOptions{Rank: 0}), dial(t, s.path, feed.DialOptions{Rank: 1})
		var seen [epochs]int64
		for epoch := range epochs {
			seen[epoch] = epochOf(t, first, func() {
				if epoch%3 == 1 {
					require.NoError(t, memmap.Save(dir, version(t, epoch/3+1)))
					<-replaced
				}
			})
			if epoch%3 == 0 && epoch > 0 { // the feed was at most one epoch ahead
				require.EqualValues(t, epoch/3, seen[epoch])
			}
			if other := epochOf(t, second, func() {}); !same {
				require.Equal(t, seen[epoch], other, "epoch %d", epoch)
			}
		}
		require.NoError(t, s.wait())
		require.NoError(t, s.Close())
		require.NoError(t, first.Close())
		require.NoError(t, second.Close())
		require.NoError(t, live.Close())
		require.Equal(t, before, mapping.Live(), "files that are mapped")
	}
}

// epochOf returns the version that a consumer gets in an epoch, and calls fn within it. The state
// belongs to that version.
func epochOf(t testing.TB, c *feed.Client, fn func()) (n int64) {
	t.Helper()
	count := 0
	for batch, err := range c.Batches(t.Context()) {
		require.NoError(t, err)
		if read(t, batch, c.State()); count == 3 {
			fn()
		}
		count++
		now := tensor.Must(tensor.Of[int64](tensor.Must(tensor.Must(batch.Tensor("version")).Clone())))
		for _, v := range now {
			require.Equal(t, now[0], v)
		}
		if count > 1 {
			require.Equal(t, n, now[0], "one version in an epoch")
		}
		n = now[0]
		require.EqualValues(t, 200+10*n, c.State().Rows)
	}
	return n
}

// TestReplacedInAnEpoch has a source that ends the epoch with an error when it is replaced. The
// consumer gets the error.
func TestReplacedInAnEpoch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	require.NoError(t, memmap.Save(dir, version(t, 0)))
	replaced := make(chan struct{}, 1)
	live, err := memmap.OpenLive(dir, memmap.LiveOptions{
		Interval: time.Millisecond, OnReplace: func(*memmap.Dataset) { replaced <- struct{}{} },
	})
	require.NoError(t, err)
	defer live.Close()
	src, err := loader.FromLive(live, loader.LiveOptions{})
	require.NoError(t, err)
	s := serve(t, src, feed.Options{Loader: shuffled(1)})
	c := dial(t, s.path, feed.DialOptions{})
	consume(t, c, 1)
	require.NoError(t, memmap.Save(dir, version(t, 1)))
	<-replaced
	for _, err = range c.Batches(t.Context()) {
	}
	isRemote(t, err, loader.ErrReplaced.Error())
	require.ErrorIs(t, s.reported()[0], loader.ErrReplaced)
	require.NoError(t, c.Close())
	consume(t, dial(t, s.path, feed.DialOptions{}), 30)
	require.NoError(t, s.Close())
}

// TestEmptyEpochs: a feed of a dataset without rows does not run far ahead of its consumer. It
// waits for a while in each epoch.
func TestEmptyEpochs(t *testing.T) {
	dir, replaced := filepath.Join(t.TempDir(), "d"), make(chan struct{}, 9)
	require.NoError(t, memmap.Save(dir, table(t, 10)))
	live, err := memmap.OpenLive(dir, memmap.LiveOptions{
		Interval: time.Millisecond, OnReplace: func(*memmap.Dataset) { replaced <- struct{}{} },
	})
	require.NoError(t, err)
	defer live.Close()
	src, err := loader.FromLive(live, loader.LiveOptions{Finish: true})
	require.NoError(t, err)
	s := serve(t, src, feed.Options{Loader: shuffled(10), Slots: 1})
	c := dial(t, s.path, feed.DialOptions{})
	require.NoError(t, memmap.Save(dir, table(t, 0)))
	<-replaced
	empty, began := 0, time.Now()
	for empty < 3 {
		rows := 0
		for batch, err := range c.Batches(t.Context()) {
			require.NoError(t, err)
			rows += batch.Shape()[0]
		}
		if rows == 0 {
			empty++
		}
	}
	require.Greater(t, time.Since(began), 2*feed.EmptyPause)
	require.NoError(t, memmap.Save(dir, table(t, 10)))
	<-replaced
	for rows := 0; rows == 0; { // rows come back
		for batch, err := range c.Batches(t.Context()) {
			require.NoError(t, err)
			rows += batch.Shape()[0]
		}
	}
}
