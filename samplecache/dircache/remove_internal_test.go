//go:build unix

package dircache

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestRemoveReplaced has another Remove, and a Create, before Remove gets the lock: the new cache
// stays.
func TestRemoveReplaced(t *testing.T) {
	schema := tdict.New()
	require.NoError(t, schema.Set("x", tensor.Must(tensor.NewMeta(tensor.Uint8))))
	dir := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, Create(dir, schema, engine.Config{Samples: 1}))
	s, err := Engine{Dir: dir}.session(mapping.ReadWrite, engine.Options{})
	require.NoError(t, err)
	require.NoError(t, s.openControl())
	require.NoError(t, os.Rename(dir, dir+"-old"))
	require.ErrorIs(t, s.removeUnused(), fs.ErrNotExist)
	require.NoError(t, Create(dir, schema, engine.Config{Samples: 1}))
	require.ErrorIs(t, s.removeUnused(), fs.ErrNotExist)
	require.NoError(t, s.closeFiles())
	require.FileExists(t, filepath.Join(dir, manifestName))
}
