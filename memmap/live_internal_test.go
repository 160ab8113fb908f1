package memmap

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestCloseReturnsWhatOnErrorDidNotGet: without OnError, an error of closing a replaced dictionary
// stays until Close returns it.
func TestCloseReturnsWhatOnErrorDidNotGet(t *testing.T) {
	failure := errors.New("closing failed")
	for _, handled := range []bool{false, true} {
		dir := t.TempDir() + "/a"
		require.NoError(t, Save(dir, tdict.New(1)))
		got := error(nil)
		opt := LiveOptions{}
		if handled {
			opt.OnError = func(err error) { got = err }
		}
		l, err := OpenLive(dir, opt)
		require.NoError(t, err)
		l.note(failure)
		l.notify(nil)
		err = l.Close() // after the watcher
		if handled {
			require.NoError(t, err)
			require.ErrorIs(t, got, failure)
		} else {
			require.ErrorIs(t, err, failure)
		}
	}
}

// TestLiveSeesACommitWithinATick makes a commit whose meta.json has the inode number, the size and
// the time of the one before, as some file systems do if three commits are within a tick of the
// clock.
func TestLiveSeesACommitWithinATick(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	rows := tdict.New(1)
	require.NoError(t, rows.Set("n", tensor.Vector[int64](7)))
	w, err := NewWriter(dir, nil, WriterOptions{NoSync: true, Schema: tdict.SchemaOf(rows)})
	require.NoError(t, err)
	defer w.Close()
	commit := func() {
		require.NoError(t, w.Append(rows))
		require.NoError(t, w.Commit())
	}
	commit()
	at, kept := filepath.Join(dir, metaName), filepath.Join(dir, "kept")
	info, err := os.Stat(at)
	require.NoError(t, err)
	l, err := OpenLive(dir, LiveOptions{Interval: time.Hour})
	require.NoError(t, err)
	defer l.Close()
	next, err := l.newer(l.current, time.Now())
	require.NoError(t, err)
	require.Nil(t, next)

	require.NoError(t, os.Link(at, kept))
	commit()
	text, err := os.ReadFile(at)
	require.NoError(t, err)
	require.Len(t, text, int(info.Size()))
	require.NoError(t, os.WriteFile(kept, text, 0o666))
	require.NoError(t, os.Rename(kept, at))
	require.NoError(t, os.Chtimes(at, time.Time{}, info.ModTime()))
	require.True(t, l.current.ds.sameMeta())
	next, err = l.newer(&served{ds: l.current.ds, opened: l.current.opened}, l.current.opened)
	require.NoError(t, err)
	require.Equal(t, 2, next.Shape()[0])

	now := &served{ds: next, opened: time.Now()}
	for _, after := range []time.Duration{clockTick, clockTick + 1} {
		again, err := l.newer(now, now.opened.Add(after))
		require.NoError(t, err)
		require.Nil(t, again)
		require.Equal(t, after > clockTick, now.settled, "texts are compared once after a tick")
	}
	require.NoError(t, next.Close())
}
