package nrt

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs/vfstest"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tensor"
)

// saveTo saves a collection as the file d/x of a disk.
func saveTo(disk *vfstest.Disk, j *ragged.Joint) error {
	p, err := newPlan(j)
	if err != nil {
		return err
	}
	s := &saver{disk: disk, at: filepath.Join("d", "x")}
	if s.perm, err = permissions(disk, s.at); err != nil {
		return err
	}
	return s.save(func(w io.Writer) error { return p.writeTo(context.Background(), w) })
}

// TestSaveSurvivesFaults fails each disk operation of a save in turn. Whatever a crash leaves then,
// the file is what was saved before or what is saved now, and if the save returned nil, the latter.
func TestSaveSurvivesFaults(t *testing.T) {
	before := tensor.Must(ragged.JointFromLists(map[string]any{"a": []any{[]any{1, 2}, []any{3}}}))
	after := tensor.Must(ragged.JointFromLists(map[string]any{"b": []any{[]any{4}, []any{5, 6}, []any{}}}))
	for _, fault := range []func(*vfstest.Disk, int){(*vfstest.Disk).FailOnce, (*vfstest.Disk).FailAfter} {
		for n := 1; ; n++ {
			disk := vfstest.New()
			require.NoError(t, disk.Mkdir("d", 0o777))
			require.NoError(t, disk.SyncDir("."))
			require.NoError(t, saveTo(disk, before))
			ops := disk.Ops()
			fault(disk, n)
			err := saveTo(disk, after)
			for _, mode := range vfstest.CrashModes() {
				dir := t.TempDir()
				require.NoError(t, disk.Crash(mode).Export(dir))
				f, failed := Open(filepath.Join(dir, "d", "x"))
				require.NoError(t, failed, "operation %d, %v, crash %v", n, err, mode)
				require.True(t, f.Equal(after) || err != nil && f.Equal(before), "operation %d, %v, crash %v: got %v", n, err, mode, f)
				require.NoError(t, f.Close())
			}
			if disk.Ops()-ops < n {
				require.NoError(t, err)
				break
			}
		}
	}
}

// TestFailedSaveLeavesNothingBehind fails one operation, after which the disk works.
func TestFailedSaveLeavesNothingBehind(t *testing.T) {
	j := tensor.Must(ragged.JointFromLists(map[string]any{"a": []any{1, 2}}))
	for n := 1; n <= 5; n++ { // mkdir, create, write, sync, rename
		disk := vfstest.New()
		require.NoError(t, disk.Mkdir("d", 0o777))
		disk.FailOnce(n)
		require.ErrorIs(t, saveTo(disk, j), vfstest.ErrInjected)
		dir := t.TempDir()
		require.NoError(t, disk.Export(dir))
		require.Empty(t, tensor.Must(filepath.Glob(filepath.Join(dir, "d", "*"))), "operation %d", n)
		require.Empty(t, tensor.Must(filepath.Glob(filepath.Join(dir, "d", ".*"))), "operation %d", n)
	}
}
