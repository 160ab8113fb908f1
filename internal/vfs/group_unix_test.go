//go:build unix

package vfs_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs"
)

// TestGroupIsKept replaces a tree and a file of another group, as root, which may give files to any
// group, and as a user who may not: then the group gets no permissions, since it would be another.
func TestGroupIsKept(t *testing.T) {
	const other, nobody = 60, 65534
	if dir := os.Getenv("VFS_GROUP_DIR"); dir != "" {
		replaceBoth(t, dir)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root can make files of another group")
	}
	for _, uid := range []uint32{0, nobody} {
		dir, err := os.MkdirTemp("", "group")
		require.NoError(t, err)
		defer os.RemoveAll(dir)
		tree, file := filepath.Join(dir, "tree"), filepath.Join(dir, "file")
		require.NoError(t, os.Mkdir(tree, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(tree, "leaf"), []byte("old"), 0o600))
		require.NoError(t, os.WriteFile(file, []byte("old"), 0o600))
		for path, mode := range map[string]fs.FileMode{tree: 0o750 | fs.ModeSetgid, filepath.Join(tree, "leaf"): 0o640, file: 0o640} {
			require.NoError(t, os.Lchown(path, int(uid), other))
			require.NoError(t, os.Chmod(path, mode))
		}
		require.NoError(t, os.Lchown(dir, int(uid), int(uid)))
		exe := filepath.Join(dir, "exe") // where nobody can read it
		text, err := os.ReadFile(os.Args[0])
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(exe, text, 0o755))
		require.NoError(t, os.Chmod(exe, 0o755))
		cmd := exec.Command(exe, "-test.run", "^TestGroupIsKept$")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "VFS_GROUP_DIR="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		for path, mode := range map[string]fs.FileMode{tree: 0o750, filepath.Join(tree, "leaf"): 0o640, file: 0o640} {
			info, err := os.Lstat(path)
			require.NoError(t, err)
			gid := info.Sys().(*syscall.Stat_t).Gid
			if uid == 0 {
				require.EqualValues(t, other, gid, path)
			} else {
				require.EqualValues(t, uid, gid, path)
				mode &^= 0o070
			}
			require.Equal(t, mode, info.Mode().Perm(), path)
		}
	}
}

// replaceBoth replaces the tree and the file in dir by ones of the same permissions.
func replaceBoth(t *testing.T, dir string) {
	at := filepath.Join(dir, "tree")
	old, err := os.Lstat(at)
	require.NoError(t, err)
	tmp, err := vfs.MakeTemp(vfs.OS, at)
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(tmp.New(), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(tmp.New(), "leaf"), []byte("new"), 0o600))
	require.NoError(t, os.Chmod(filepath.Join(tmp.New(), "leaf"), 0o640))
	require.NoError(t, os.Chmod(tmp.New(), old.Mode()))
	require.NoError(t, vfs.Publish(vfs.OS, tmp.New(), at, old))
	require.NoError(t, tmp.Remove())
	require.NoError(t, vfs.SaveFile(context.Background(), vfs.OS, filepath.Join(dir, "file"), vfs.FileOptions{}, func(f vfs.File) error {
		_, err := f.Write([]byte("new"))
		return err
	}))
}
