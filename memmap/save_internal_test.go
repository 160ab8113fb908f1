package memmap

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/vfs/vfstest"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// nested returns a dictionary of two leaves at two depths, filled with v.
func nested(v int32) *tdict.TensorDict {
	td := tdict.New(3)
	require.NoError(nil, td.Set("a", tensor.Must(tensor.Full(v, 3, 2))))
	require.NoError(nil, td.Set("sub/b", tensor.Must(tensor.Full(v, 3, 2))))
	return td
}

// openCrashed opens what a crash left of the directory d, or nil if there is none.
func openCrashed(t *testing.T, disk *vfstest.Disk) *tdict.TensorDict {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, disk.Export(dir))
	at := filepath.Join(dir, "d")
	if _, err := disk.Lstat("d"); err != nil {
		at = vfs.AsidePath(at) // the one moment, without Exchange, at which d is absent
	}
	ds := tensor.Must(Open(at))
	td := tensor.Must(ds.Clone())
	require.NoError(t, ds.Close())
	return td
}

// TestSaveSurvivesFaults fails each disk operation of a save in turn. Whatever a crash leaves then,
// the directory holds what was saved before or what is saved now, and if Save returned nil, the
// latter.
func TestSaveSurvivesFaults(t *testing.T) {
	before, after := nested(1), nested(2)
	for _, noExchange := range []bool{false, true} {
		for _, fault := range []func(*vfstest.Disk, int){(*vfstest.Disk).FailOnce, (*vfstest.Disk).FailAfter} {
			for n := 1; ; n++ {
				disk := vfstest.New()
				disk.NoExchange = noExchange
				require.NoError(t, saveTo(context.Background(), disk, "d", 0o777, before, SaveOptions{}))
				ops := disk.Ops()
				fault(disk, n)
				err := saveTo(context.Background(), disk, "d", 0o777, after, SaveOptions{})
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

func TestFailedSaveLeavesNothingBehind(t *testing.T) {
	disk := vfstest.New()
	require.NoError(t, saveTo(context.Background(), disk, "d", 0o777, nested(1), SaveOptions{}))
	disk.FailOnce(6)
	require.ErrorIs(t, saveTo(context.Background(), disk, "d", 0o777, nested(2), SaveOptions{}), vfstest.ErrInjected)
	dir := t.TempDir()
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

// leaves opens a directory and returns its leaves.
func leaves(t *testing.T, dir string) []*leafFile {
	t.Helper()
	d := tensor.Must(Open(dir))
	t.Cleanup(func() { _ = d.Close() })
	return d.files.leaves
}

// TestIdentity opens two directories of two leaves each, the first of them twice.
func TestIdentity(t *testing.T) {
	td := tdict.New()
	require.NoError(t, td.Set("a", tensor.Scalar(1.5)))
	require.NoError(t, td.Set("b/c", tensor.Scalar(1.5)))
	top := t.TempDir()
	t.Chdir(top)
	for _, dir := range []string{"d", "other"} {
		require.NoError(t, Save(dir, td))
	}
	first, again := leaves(t, "d"), leaves(t, filepath.Join(top, "d"))
	other := leaves(t, "other")
	tests := []struct {
		name string
		a, b *leafFile
		same bool
	}{
		{"a leaf is itself", first[0], first[0], true},
		{"the directory was opened twice", first[0], again[0], true},
		{"a nested leaf too", first[1], again[1], true},
		{"another leaf", first[0], again[1], false},
		{"the same leaf of another directory", first[0], other[0], false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.same, tt.a.Identity() == tt.b.Identity())
			require.Equal(t, tt.same, tt.a.SameMemory(tt.b), "both say the same")
			require.Equal(t, tt.same, len(map[any]bool{tt.a.Identity(): true, tt.b.Identity(): true}) == 1)
		})
	}
}

func TestIdentityAllocatesNothing(t *testing.T) {
	td := tdict.New()
	require.NoError(t, td.Set("a", tensor.Scalar(1.5)))
	dir := filepath.Join(t.TempDir(), "d")
	require.NoError(t, Save(dir, td))
	l := leaves(t, dir)[0]
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = l.Identity() }))
}
