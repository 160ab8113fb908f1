package natscache_test

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
)

// TestDisk puts many generations. The disk has little more than those that are kept, and soon, not
// only once servers tidy up their files every two minutes.
func TestDisk(t *testing.T) {
	t.Parallel()
	const size, samples, generations = 2 << 20, 3, 20
	s := newServer(t)
	config := natscache.Config{Config: engine.Config{Samples: samples, Retain: -1, MaxHeld: -1}}
	require.NoError(t, natscache.Create(soon(t), s.url(), "disk", marked("", 0, size), config))
	p := producer(t, join(t, natscache.Engine{URL: s.url(), Name: "disk"}), "one")
	for n := range uint64(samples * generations) {
		require.NoError(t, p.Put(soon(t), marked("one", n, size)))
	}
	const kept, block = 2 * samples * size, 8 << 20
	eventually(t, patience, "old generations leave the disk", func() bool { return filesOf(t, s.setup.Dir) < kept+2*block })
}

// filesOf returns the sum of the sizes of the files in a directory.
func filesOf(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // the server removes files meanwhile
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}
