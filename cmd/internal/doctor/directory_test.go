//go:build unix

package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func schema() *tdict.TensorDict {
	td := tdict.New()
	_ = td.Set("x", tensor.Must(tensor.NewMeta(tensor.Uint8, 892)))
	_ = td.Set("y", tensor.Must(tensor.NewMeta(tensor.Uint8, 100)))
	return td
}

// TestDirectory examines what may be at a path, on a machine of which nothing else is known.
func TestDirectory(t *testing.T) {
	dir := testkit.TempDir(t)
	config := samplecache.Config{Samples: 4}
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"good", "damaged", "old", "torn"} {
		require.NoError(t, dircache.Create(in(name), schema(), config))
	}
	require.NoError(t, os.WriteFile(in("damaged/MANIFEST"), []byte("{}"), 0o644))
	require.NoError(t, os.WriteFile(in("old/MANIFEST"), []byte(`{"format":"tensordict.samplecache","version":1}`), 0o644))
	require.NoError(t, os.Remove(in("torn/control")))
	require.NoError(t, os.Mkdir(in("empty"), 0o755))
	require.NoError(t, os.WriteFile(in("file"), nil, 0o644))
	require.NoError(t, os.Symlink("good", in("link")))
	require.NoError(t, os.Symlink("nowhere", in("dangling")))
	const mine, blind = "ok this user may write to ", "ok not looked at"
	for _, tt := range []struct {
		name string
		want []string
	}{
		{"good", []string{"ok good is a cache: no generation yet, the next has 0 of 4 samples", mine, blind}},
		{"link", []string{"ok link is a cache", mine, blind}},
		{"damaged", []string{"problem MANIFEST: corrupt: got format", mine, blind}},
		{"old", []string{"problem got version 1", mine, blind}},
		{"torn", []string{"problem control", mine, blind}},
		{"empty", []string{"problem empty is not a cache: it has no file MANIFEST", mine, blind}},
		{"file", []string{"problem file is a file, not a cache"}},
		{"file/below", []string{"problem file/below: not a directory"}},
		{"none", []string{"ok none does not exist yet", blind}},
		{"good/below", []string{"ok good/below does not exist yet", blind}},
		{"none/", []string{"ok none does not exist yet", blind}},
		{"dangling", []string{"problem dangling is a link to a path that does not exist"}},
		{"none/below", []string{"problem no cache can be made in none: no such file or directory"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(dir)
			says(t, tt.name, machineOf(t, nil).directory(t.Context(), tt.name, facts{}), tt.want...)
		})
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 8, "nothing was made")
}

// TestFacts compares the bytes of a cache with its files.
func TestFacts(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "c")
	require.NoError(t, dircache.Create(dir, schema(), samplecache.Config{Samples: 500, Retain: 2, MaxHeld: 3}))
	f, err := look(t.Context(), dir)
	require.NoError(t, err)
	require.Equal(t, []int64{2, 992, 892, 4, 7}, []int64{f.leaves, f.sample, f.largest, f.made(), f.most()})
	require.Equal(t, 3*f.generation(), f.later())
	require.Zero(t, f.now())
	var bytes int64
	require.NoError(t, filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() && info.Name() != "control" {
			bytes += info.Size()
		}
		return err
	}))
	require.InEpsilon(t, f.made()*f.generation(), bytes, 0.05, "without the control file and the metadata")
	planned := factsOf(samplecache.Config{Samples: 500, Retain: 2, MaxHeld: 3}, schema())
	require.Equal(t, f.made()*f.generation(), planned.now())
}

// TestLeftovers has directories that a killed command left.
func TestLeftovers(t *testing.T) {
	dir := testkit.TempDir(t)
	require.Empty(t, leftovers(dir))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".saving-AAAAAAAA"), 0o755))
	require.Empty(t, leftovers(dir), "it has no mark")
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".saving-AAAAAAAA", ".saving"), nil, 0o644))
	says(t, "marked", leftovers(dir), "warning has 1 directories such as .saving-AAAAAAAA")
	require.Empty(t, leftovers(filepath.Join(dir, "none")))
}

// TestThisMachine examines a cache with the files of this machine: nothing
// is a problem in a directory of tests.
func TestThisMachine(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "c")
	require.False(t, Bad(Directory(t.Context(), dir, samplecache.Config{Samples: 4}, schema())))
	require.NoError(t, dircache.Create(dir, schema(), samplecache.Config{Samples: 4}))
	list := Directory(t.Context(), dir, samplecache.Config{}, nil)
	require.False(t, Bad(list), "%v", list)
	require.Greater(t, len(list), 2)
}
