package feed_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/feed"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
)

// TestCloseLeavesTheSuccessor closes a feed that has ended after another took its socket: the other
// still has it, though its file may have the same number.
func TestCloseLeavesTheSuccessor(t *testing.T) {
	disk, err := os.MkdirTemp("/tmp", "feed") // where a new file may get the number of a removed one
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(disk)) })
	for _, dir := range []string{disk, t.TempDir()} {
		for range 5 {
			path := filepath.Join(dir, "s")
			opt := feed.Options{Loader: shuffled(4), Dir: testkit.MemoryDir(t)}
			first, err := feed.Listen(path, rows(t, 10), opt)
			require.NoError(t, err)
			ended, end := context.WithCancel(t.Context())
			end()
			require.NoError(t, first.Serve(ended))
			second, err := feed.Listen(path, rows(t, 10), opt)
			require.NoError(t, err)
			require.NoError(t, first.Close())
			require.FileExists(t, path)
			require.NoError(t, second.Close())
			require.NoFileExists(t, path)
		}
	}
}

// TestListenDuringClose takes the socket of a feed while that is being closed.
func TestListenDuringClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	opt := feed.Options{Loader: shuffled(4), Dir: testkit.MemoryDir(t)}
	for range longtests.Times(20, 2000) {
		first, err := feed.Listen(path, rows(t, 8), opt)
		require.NoError(t, err)
		ended, end := context.WithCancel(t.Context())
		end()
		require.NoError(t, first.Serve(ended))
		closed := make(chan error, 1)
		go func() { closed <- first.Close() }()
		second, err := feed.Listen(path, rows(t, 8), opt)
		for errors.Is(err, feed.ErrBusy) {
			second, err = feed.Listen(path, rows(t, 8), opt)
		}
		require.NoError(t, err)
		require.NoError(t, <-closed)
		conn, err := net.Dial("unix", path)
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		require.NoError(t, second.Close())
	}
}
