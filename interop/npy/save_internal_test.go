package npy

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/vfs/vfstest"
	"github.com/go-tensordict/tensordict/internal/zipfile"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestSaveSurvivesFaults fails each disk operation of a save in turn. Whatever a crash leaves then,
// the file is the old one or the new one, and if the save returned nil, the new one.
func TestSaveSurvivesFaults(t *testing.T) {
	td := tdict.New()
	require.NoError(t, td.Set("a", tensor.Must(tensor.Zeros[float32](1<<16)))) // more than one write
	require.NoError(t, td.Set("b", tensor.Vector(1.0)))
	array := tensor.Must(newArray(tensor.Vector(1.0, 2)))
	members := tensor.Must(newMembers(td, "/"))
	for name, write := range map[string]func(vfs.File) error{
		"array":   func(f vfs.File) error { return array.writeTo(f) },
		"archive": func(f vfs.File) error { return writeArchive(f, members, SaveDictOptions{}) },
		"packed":  func(f vfs.File) error { return writeArchive(f, members, SaveDictOptions{Compress: true}) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, fault := range []func(*vfstest.Disk, int){(*vfstest.Disk).FailOnce, (*vfstest.Disk).FailAfter} {
				for n := 1; !survives(t, fault, n, write); n++ {
				}
			}
		})
	}
}

// survives fails operation n, and reports whether there is none.
func survives(t *testing.T, fault func(*vfstest.Disk, int), n int, write func(vfs.File) error) (last bool) {
	disk := vfstest.New()
	require.NoError(t, disk.Mkdir("d", 0o777))
	require.NoError(t, disk.SyncDir("."))
	path := filepath.Join("d", "x")
	old := func(f vfs.File) error { _, err := f.Write([]byte("before")); return err }
	require.NoError(t, vfs.SaveFile(t.Context(), disk, path, vfs.FileOptions{}, old))
	ops := disk.Ops()
	fault(disk, n)
	err := vfs.SaveFile(t.Context(), disk, path, vfs.FileOptions{}, write)
	for _, mode := range vfstest.CrashModes() {
		got, failed := fs.ReadFile(disk.Crash(mode).Tree(), "d/x")
		require.NoError(t, failed, "operation %d, %v, crash %v", n, err, mode)
		if err == nil || string(got) != "before" {
			require.NoError(t, sound(got), "operation %d, %v, crash %v", n, err, mode)
		}
	}
	require.True(t, err == nil || errors.Is(err, vfstest.ErrInjected), "%v", err)
	return disk.Ops()-ops < n
}

// sound returns an error unless a file can be read.
func sound(file []byte) error {
	if !isArchive(file) {
		_, err := Read(bytes.NewReader(file))
		return err
	}
	a, err := zipfile.Open(bytes.NewReader(file), int64(len(file)), zipfile.MaxEntries)
	if err != nil {
		return err
	}
	for _, e := range a.Entries {
		if _, err := Read(e.Reader(bytes.NewReader(file))); err != nil {
			return err
		}
	}
	return nil
}
