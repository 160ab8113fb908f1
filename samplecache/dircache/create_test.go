//go:build unix

package dircache_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestCreateRefuses(t *testing.T) {
	ok := marked(0)
	tests := []struct {
		name   string
		dir    string
		schema *tdict.TensorDict
		config samplecache.Config
		err    error
	}{
		{"no samples", "x", ok, samplecache.Config{}, samplecache.ErrConfig},
		{"less than none", "x", ok, samplecache.Config{Samples: -1}, samplecache.ErrConfig},
		{"too many samples", "x", ok, samplecache.Config{Samples: 1<<20 + 1}, samplecache.ErrConfig},
		{"retains too many", "x", ok, samplecache.Config{Samples: 1, Retain: 17}, samplecache.ErrConfig},
		{"too many held", "x", ok, samplecache.Config{Samples: 1, MaxHeld: 65}, samplecache.ErrConfig},
		{"held for less than no time", "x", ok, samplecache.Config{Samples: 1, MaxHold: -1}, samplecache.ErrConfig},
		{"limits that are none", "x", ok, samplecache.Config{Samples: 1, Limits: samplecache.Limits{PerInsert: -1}}, samplecache.ErrLimits},
		{"limits under which nothing goes on", "x", ok, samplecache.Config{Samples: 4, MaxHold: time.Hour, Limits: samplecache.Limits{PerInsert: 1, MinSize: 5}}, samplecache.ErrLimits},
		{"a ratio without MaxHold", "x", ok, samplecache.Config{Samples: 4, Limits: samplecache.Limits{PerInsert: 1, MinSize: 1, MinDiff: -3, MaxDiff: 5}}, samplecache.ErrLimits},
		{"passes that limits exclude", "x", ok, samplecache.Config{Samples: 4, Limits: samplecache.Limits{MinPasses: 3, MaxPasses: 2}}, samplecache.ErrLimits},
		{"no schema", "x", nil, samplecache.Config{Samples: 1}, samplecache.ErrSchema},
		{"a batch shape", "x", tdict.New(1), samplecache.Config{Samples: 1}, samplecache.ErrSchema},
		{"data", "x", entry("d", tensor.Must(tdict.NewData("x"))), samplecache.Config{Samples: 1}, samplecache.ErrSchema},
		{"an unbatched tensor", "x", entry("u", tensor.Must(tdict.NewUnbatched(tensor.Vector[int8](1)))), samplecache.Config{Samples: 1}, samplecache.ErrSchema},
		{"samples beyond memory", "x", entry("m", tensor.Must(tensor.NewMeta(tensor.Uint8, 1<<46))), samplecache.Config{Samples: 1 << 20}, samplecache.ErrSchema},
		{"a name of the format", "x", entry("shape", tensor.Scalar(int8(1))), samplecache.Config{Samples: 1}, samplecache.ErrSchema},
		{"a name that is too long", "x", entry(strings.Repeat("k", 300), tensor.Scalar(int8(1))), samplecache.Config{Samples: 1}, samplecache.ErrSchema},
		{"no directory", "", ok, samplecache.Config{Samples: 1}, fs.ErrInvalid},
		{"a file is there", "file", ok, samplecache.Config{Samples: 1}, fs.ErrExist},
		{"a directory is there", "dir", ok, samplecache.Config{Samples: 1}, fs.ErrExist},
		{"a link is there", "link", ok, samplecache.Config{Samples: 1}, fs.ErrExist},
		{"a link to nothing is there", "lost", ok, samplecache.Config{Samples: 1}, fs.ErrExist},
		{"the directory it is in", ".", ok, samplecache.Config{Samples: 1}, fs.ErrExist},
		{"the root", "/", ok, samplecache.Config{Samples: 1}, fs.ErrExist},
		{"no parent", "nowhere/x", ok, samplecache.Config{Samples: 1}, fs.ErrNotExist},
		{"a parent that is a file", "file/x", ok, samplecache.Config{Samples: 1}, syscall.ENOTDIR},
		{"a name that is too long for disks", strings.Repeat("n", 256), ok, samplecache.Config{Samples: 1}, syscall.ENAMETOOLONG},
		{"a zero byte", "a\x00b", ok, samplecache.Config{Samples: 1}, syscall.EINVAL},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			at := home(t)
			inDir(t)
			require.NoError(t, os.WriteFile("file", []byte("mine"), 0o666))
			require.NoError(t, os.Mkdir("dir", 0o777))
			require.NoError(t, os.Symlink("dir", "link"))
			require.NoError(t, os.Symlink("nowhere", "lost"))
			before := contents(".")
			err := dircache.Create(tt.dir, tt.schema, tt.config)
			require.True(t, before == contents("."), "something is left")
			fails(t, at, tt.err, err)
		})
	}
}

// entry returns a dictionary of one entry.
func entry(key string, v tdict.Value) *tdict.TensorDict {
	td := tdict.New()
	if err := td.Set(nestedkey.Of(key), v); err != nil {
		panic(err)
	}
	return td
}

func TestCreateRefusesRagged(t *testing.T) {
	lists := tensor.Must(ragged.From[int8]([][]int8{{1, 2}, {3}}))
	err := dircache.Create(filepath.Join(t.TempDir(), "x"), entry("r", lists), samplecache.Config{Samples: 1})
	require.ErrorIs(t, err, samplecache.ErrSchema)
}

func TestCreateInAParentThatIsNotWritable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	parent := t.TempDir()
	require.NoError(t, os.Chmod(parent, 0o555))
	require.ErrorIs(t, dircache.Create(filepath.Join(parent, "x"), marked(0), samplecache.Config{Samples: 1}), fs.ErrPermission)
}

// TestCreateOddNames makes caches whose directories have odd names, and uses them.
func TestCreateOddNames(t *testing.T) {
	for _, name := range []string{"with space", "ünï¢ode", "new\nline", "-rf", "%s%d", "gen-0000000001", "MANIFEST", "\xff\xfe", strings.Repeat("n", 255), "*", "a'\"b"} {
		t.Run(fmt.Sprintf("%.20q", name), func(t *testing.T) {
			dir := filepath.Join(testkit.MemoryDir(t), name)
			require.NoError(t, dircache.Create(dir, marked(0), samplecache.Config{Samples: 2}))
			c := joinSound(t, dir)
			p := putter(t, c, "p")
			for v := range int64(5) {
				require.NoError(t, p.Put(soon(t), marked(v)))
			}
			require.NoError(t, tryOn(dir, harm{}, func(tr *trial) error { return tr.check(c, 2, []int64{2, 3}) }))
		})
	}
}

// TestCreateRelative makes a cache at a relative path, and uses it after the process has moved.
func TestCreateRelative(t *testing.T) {
	inDir(t)
	require.NoError(t, os.Mkdir("elsewhere", 0o777))
	require.NoError(t, dircache.Create("x/", marked(0), samplecache.Config{Samples: 2}))
	c := joinSound(t, "./x")
	t.Chdir("elsewhere")
	p := putter(t, c, "p")
	for v := range int64(5) {
		require.NoError(t, p.Put(soon(t), marked(v)))
	}
	require.NoError(t, c.Close())
}

// createIn is set to a directory in which a process makes one cache after another.
const createIn = "DIRCACHE_TEST_CREATE"

// TestCreateKilled kills processes that make caches. What they leave is removed by the next Create,
// but for what another is at work on, and what is not ours.
func TestCreateKilled(t *testing.T) {
	if parent := os.Getenv(createIn); parent != "" {
		for i := 0; ; i++ {
			if err := dircache.Create(filepath.Join(parent, fmt.Sprint("cache-", i)), marked(0), samplecache.Config{Samples: 100}); err != nil {
				t.Fatal(err)
			}
		}
	}
	parent := t.TempDir()
	mine := []string{".saving-my-thesis/x", ".saving-/x", ".saving-ABCDEFGHI/x", ".saving-abcdefgh/x"}
	for _, name := range mine {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(parent, name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(parent, name), nil, 0o666))
	}
	require.NoError(t, os.Mkdir(filepath.Join(parent, ".saving-ABCDEFGH"), 0o777), "of one who is at work")
	held, err := vfs.TryLock(filepath.Join(parent, ".saving-ABCDEFGH"), vfs.Exclusive)
	require.NoError(t, err)
	leftovers := func() (n int) {
		all, err := filepath.Glob(filepath.Join(parent, ".saving-????????"))
		require.NoError(t, err)
		for _, name := range all {
			if base := filepath.Base(name); base != ".saving-ABCDEFGH" && base != ".saving-abcdefgh" {
				n++
			}
		}
		return n
	}
	for deadline := time.Now().Add(patience); leftovers() == 0; {
		require.True(t, time.Now().Before(deadline), "no kill came in the middle")
		child := exec.Command(os.Args[0], "-test.run=^TestCreateKilled$")
		child.Env = append(os.Environ(), createIn+"="+parent)
		require.NoError(t, child.Start())
		for leftovers() == 0 && time.Now().Before(deadline) {
			time.Sleep(100 * time.Microsecond)
		}
		require.NoError(t, child.Process.Kill())
		_ = child.Wait() // it was killed
		caches, err := filepath.Glob(filepath.Join(parent, "cache-*"))
		require.NoError(t, err)
		for _, dir := range caches {
			require.NoError(t, opened(dir), "a cache is there whole or not at all")
			require.NoError(t, os.RemoveAll(dir))
		}
	}
	require.NoError(t, dircache.Create(filepath.Join(parent, "x"), marked(0), samplecache.Config{Samples: 2}))
	require.Zero(t, leftovers(), "what the dead have left is removed")
	require.DirExists(t, filepath.Join(parent, ".saving-ABCDEFGH"), "another is at work on it")
	require.NoError(t, held.Unlock())
	for _, name := range mine {
		require.FileExists(t, filepath.Join(parent, name), "it is not ours")
	}
}
