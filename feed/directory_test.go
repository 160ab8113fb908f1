package feed_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/feed"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
)

// TestSocketDirectoryChanges removes or replaces the directory of the socket while a consumer gets
// batches. They go on, and Close removes nothing that is not the feed's.
func TestSocketDirectoryChanges(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(dir, other string) error
		left   []string // in dir, after Close
	}{
		{"removed", func(dir, _ string) error { return os.RemoveAll(dir) }, nil},
		{"moved", func(dir, other string) error { return os.Rename(dir, other) }, nil},
		{"replaced by a file", func(dir, other string) error {
			if err := os.Rename(dir, other); err != nil {
				return err
			}
			return os.WriteFile(dir, nil, 0o600)
		}, nil},
		{"replaced", func(dir, other string) error {
			if err := os.Rename(dir, other); err != nil {
				return err
			}
			if err := os.Mkdir(dir, 0o700); err != nil {
				return err
			}
			return os.WriteFile(dir+"/s", []byte("mine"), 0o600)
		}, []string{"s"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			require.NoError(t, os.Mkdir(dir, 0o700))
			slots := testkit.MemoryDir(t)
			f, err := feed.Listen(filepath.Join(dir, "s"), rows(t, 40), feed.Options{Loader: shuffled(4), Epochs: 2, Dir: slots})
			require.NoError(t, err)
			served := make(chan error, 1)
			go func() { served <- f.Serve(t.Context()) }()
			c := dial(t, filepath.Join(dir, "s"), feed.DialOptions{})
			require.Len(t, consume(t, c, 3), 3)
			require.NoError(t, tt.change(dir, dir+"2"))
			require.Len(t, consume(t, c, 17), 17)
			require.NoError(t, f.Close())
			require.NoError(t, <-served)
			require.Empty(t, names(t, slots))
			if tt.left != nil {
				require.Equal(t, tt.left, names(t, dir))
			}
		})
	}
}

// TestSlotDirectoryIsRemoved removes the slots while a consumer gets batches: the batches go on.
func TestSlotDirectoryIsRemoved(t *testing.T) {
	dir := testkit.MemoryDir(t)
	path := filepath.Join(t.TempDir(), "s")
	f, err := feed.Listen(path, rows(t, 40), feed.Options{Loader: shuffled(4), Epochs: 2, Dir: dir})
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- f.Serve(t.Context()) }()
	c := dial(t, path, feed.DialOptions{})
	require.Len(t, consume(t, c, 3), 3)
	require.NoError(t, os.RemoveAll(dir))
	require.Len(t, consume(t, c, 17), 17)
	require.ErrorIs(t, f.Close(), memmap.ErrReplaced)
	require.NoError(t, <-served)
}
