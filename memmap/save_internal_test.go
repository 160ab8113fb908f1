package memmap

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/vfs/vfstest"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// nested returns a dictionary of two leaves at two depths, filled with v, and of ragged rows of
// which v says how many.
func nested(v int32) *tdict.TensorDict {
	td := tdict.New(3)
	require.NoError(nil, td.Set("a", tensor.Must(tensor.Full(v, 3, 2))))
	require.NoError(nil, td.Set("sub/b", tensor.Must(tensor.Full(v, 3, 2))))
	l := tensor.Must(ragged.NewLayout(shapeops.Shape{3}, []int64{0, 2, 2, 2 + int64(v%5)}))
	require.NoError(nil, td.Set("sub/c", tensor.Must(ragged.New(tensor.Must(tensor.Full(v, 2+int(v%5))), l))))
	return td
}

// saveTo saves td as the directory d of a disk.
func saveTo(disk vfs.FS, td *tdict.TensorDict) error { return saveOver(disk, td, replaceSaved) }

// saveOver is saveTo that does not replace everything.
func saveOver(disk vfs.FS, td *tdict.TensorDict, may replacing) error {
	k, err := (&saver{op: "save", ctx: context.Background(), dir: "d", may: may}).beside(disk, "d", onDisk(disk), td)
	if err != nil {
		return err
	}
	return k.commit()
}

// onDisk returns what is to be replaced: the directory d, if it is there.
func onDisk(disk vfs.FS) *oldTree {
	old := new(oldTree)
	if info, err := disk.Lstat("d"); err == nil {
		old.info = info
		old.modes = &vfs.Modes{Exact: true}
		old.modes.Note("", info)
	}
	return old
}

// openCrashed opens what a crash left of the directory d, or nil if there is none.
func openCrashed(t *testing.T, disk *vfstest.Disk) *tdict.TensorDict {
	t.Helper()
	dir := testkit.TempDir(t)
	require.NoError(t, disk.Export(dir))
	at := filepath.Join(dir, "d")
	if _, err := disk.Lstat("d"); err != nil {
		found := tensor.Must(filepath.Glob(filepath.Join(dir, ".saving-*", "new.old"))) // the one moment, without Exchange, at which d is absent
		at = found[0]
	}
	ds := tensor.Must(Open(at))
	td := tensor.Must(ds.Clone())
	require.NoError(t, ds.Close())
	return td
}

// step is how many disk operations a test of faults goes on at a time, from one of the first.
var step = longtests.Times(8, 1)

// TestSaveSurvivesFaults fails disk operations of a save in turn. Whatever a crash leaves then, the
// directory holds what was saved before or what is saved now, and if Save returned nil, the latter.
func TestSaveSurvivesFaults(t *testing.T) {
	before, after := nested(1), nested(2)
	for _, noExchange := range []bool{false, true} {
		for _, fault := range []func(*vfstest.Disk, int){(*vfstest.Disk).FailOnce, (*vfstest.Disk).FailAfter} {
			for n := 1 + rand.IntN(step); ; n += step {
				disk := vfstest.New()
				disk.NoExchange = noExchange
				require.NoError(t, saveTo(disk, before))
				ops := disk.Ops()
				fault(disk, n)
				err := saveTo(disk, after)
				for _, mode := range vfstest.CrashModes() {
					got := openCrashed(t, disk.Crash(mode))
					isOld, isNew := got.Equal(before), got.Equal(after)
					require.True(t, isNew || err != nil && isOld, "operation %d, %v, crash %v: got %v", n, err, mode, got)
				}
				if disk.Ops()-ops < n {
					require.NoError(t, err)
					break
				}
			}
		}
	}
}

// TestSaveThatReplacesNothingSurvivesFaults fails disk operations of a save that replaces nothing,
// where nothing is, where an empty directory is, and where another was faster: then that
// stays, whatever a crash leaves; else d is as it was or all of what is saved, and if there was no
// error, the latter.
func TestSaveThatReplacesNothingSurvivesFaults(t *testing.T) {
	before, after := nested(1), nested(2)
	empty := func(disk *vfstest.Disk) error { return errors.Join(disk.Mkdir("d", 0o777), disk.SyncDir(".")) }
	tests := []struct {
		name  string
		may   replacing
		there func(disk *vfstest.Disk) error // what is at d, or nil
		taken bool
	}{
		{"nothing", replaceNothing, nil, false},
		{"an empty directory", replaceEmpty, empty, false},
		{"an empty directory that stays", replaceNothing, empty, true},
		{"a dictionary", replaceNothing, func(disk *vfstest.Disk) error { return saveTo(disk, before) }, true},
		{"a dictionary, where an empty directory may be replaced", replaceEmpty, func(disk *vfstest.Disk) error { return saveTo(disk, before) }, true},
	}
	for _, tt := range tests {
		for _, fault := range []func(*vfstest.Disk, int){(*vfstest.Disk).FailOnce, (*vfstest.Disk).FailAfter} {
			for n := 1 + rand.IntN(step); ; n += step {
				disk := vfstest.New()
				if tt.there != nil {
					require.NoError(t, tt.there(disk))
				}
				was := found(t, disk.Crash(vfstest.Synced))
				ops := disk.Ops()
				fault(disk, n)
				err := saveOver(disk, after, tt.may)
				for _, mode := range vfstest.CrashModes() {
					got := found(t, disk.Crash(mode))
					isNew := got.td != nil && got.td.Equal(after)
					isOld := got.there == was.there && (got.td == nil) == (was.td == nil) && (got.td == nil || got.td.Equal(was.td))
					require.True(t, isNew && !tt.taken || isOld && err != nil, "%s: operation %d, %v, crash %v: got %v", tt.name, n, err, mode, got)
				}
				if disk.Ops()-ops < n {
					require.Equal(t, tt.taken, errors.Is(err, fs.ErrExist), "%s: %v", tt.name, err)
					require.Equal(t, tt.taken, err != nil)
					break
				}
			}
		}
	}
}

// A finding is what is at the directory d of a disk.
type finding struct {
	there bool
	td    *tdict.TensorDict // nil if it is empty
}

func found(t *testing.T, disk *vfstest.Disk) (f finding) {
	t.Helper()
	_, err := disk.Lstat("d")
	if f.there = err == nil; !f.there {
		return f
	}
	entries, err := fs.ReadDir(disk.Tree(), "d")
	require.NoError(t, err)
	if len(entries) > 0 {
		f.td = openCrashed(t, disk)
	}
	return f
}

func TestFailedSaveLeavesNothingBehind(t *testing.T) {
	disk := vfstest.New()
	require.NoError(t, saveTo(disk, nested(1)))
	disk.FailOnce(6)
	require.ErrorIs(t, saveTo(disk, nested(2)), vfstest.ErrInjected)
	dir := testkit.TempDir(t)
	require.NoError(t, disk.Export(dir))
	require.Equal(t, []string{filepath.Join(dir, "d")}, tensor.Must(filepath.Glob(filepath.Join(dir, "*"))))
	require.Empty(t, tensor.Must(filepath.Glob(filepath.Join(dir, ".*"))))
}

func TestFileName(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"letters stay", "a.b-C", "a.b-C"},
		{"the empty key", "", "%"},
		{"a directory's own name", ".", "%2E"},
		{"a directory's parent", "..", "%2E%2E"},
		{"only whole names are dots", "..a", "..a"},
		{"a separator", "a/b", "a%2Fb"},
		{"a way out", "../outside", "..%2Foutside"},
		{"the escape itself", "100%", "100%25"},
		{"what Windows refuses", `<>:"|?*\`, "%3C%3E%3A%22%7C%3F%2A%5C"},
		{"spaces and controls", "a b\n\x7f\x00", "a%20b%0A%7F%00"},
		{"other scripts stay", "ünïcode-你", "ünïcode-你"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, fileName(tt.text)) })
	}
}

// TestScanOldIsOfOneDirectory has a directory with a foreign file change places with a saved one,
// as when another save has exchanged the two and exchanges them back: what is said of one is never
// taken as said of the other.
func TestScanOldIsOfOneDirectory(t *testing.T) {
	parent := t.TempDir()
	dir, other := filepath.Join(parent, "dir"), filepath.Join(parent, "other")
	require.NoError(t, Save(other, tdict.New(1)))
	require.NoError(t, os.Mkdir(dir, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "precious"), nil, 0o666))
	foreign, err := os.Lstat(dir)
	require.NoError(t, err)
	if err := vfs.OS.Exchange(dir, other); errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	ended, wait := make(chan struct{}), sync.WaitGroup{}
	wait.Go(func() {
		for {
			select {
			case <-ended:
				return
			default:
				_ = vfs.OS.Exchange(dir, other) // both are always there
			}
		}
	})
	defer wait.Wait()
	defer close(ended)
	for range 3000 {
		if old, err := scanOld(dir); err == nil {
			require.False(t, os.SameFile(old.info, foreign), "a directory with a foreign file would be replaced")
			old.unlock()
		}
	}
}
