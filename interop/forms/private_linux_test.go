package forms_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/tensor"
)

// asNobody calls fn with the rights of another user on files, which only this thread gets.
func asNobody(fn func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const nobody = 65534
	set := func(id uintptr) {
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, id, 0, 0) // never fails
	}
	set(nobody)
	defer set(0)
	fn()
}

// readable returns the files with content below a directory that another user can read: as another
// user, if this is root, and otherwise by their modes.
func readable(top string) (paths []string) {
	if os.Getuid() == 0 {
		asNobody(func() { paths = readableBy(top, opens) })
		return paths
	}
	return readableBy(top, func(path string, info fs.FileInfo) bool {
		if info.IsDir() {
			return info.Mode()&0o055 != 0
		}
		return info.Mode()&0o044 != 0
	})
}

func opens(path string, _ fs.FileInfo) bool {
	f, err := os.Open(path)
	if err == nil {
		_ = f.Close() // it was only read
	}
	return err == nil
}

func readableBy(top string, may func(path string, info fs.FileInfo) bool) (paths []string) {
	entries, err := os.ReadDir(top)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(top, e.Name())
		info, err := os.Lstat(path)
		switch {
		case err != nil || !may(path, info):
		case info.IsDir():
			paths = append(paths, readableBy(path, may)...)
		case info.Size() > 0:
			paths = append(paths, path)
		}
	}
	return paths
}

// temporary reports whether a path is of a save in progress.
func temporary(path string) bool {
	for _, name := range strings.Split(path, "/") {
		if vfs.Reserved(name) || name == ".meta-next" {
			return true
		}
	}
	return false
}

// TestPrivate runs all writers, in all forms. Another user reads, before each operation on the
// disk, what is there. A kill leaves what is there at such a time, too. Every 25th writer runs, and
// every third with TENSORDICT_LONG.
func TestPrivate(t *testing.T) {
	if os.Getuid() != 0 {
		t.Log("this is not root: what another user could read follows from the modes")
	}
	before := syscall.Umask(0o022)
	defer syscall.Umask(before)
	tests := []struct {
		name      string
		old       bool        // there is an old output, with these modes
		empty     bool        // there is an empty directory, with these modes
		source    bool        // the source has these modes
		dir, file fs.FileMode // 0: as new files
	}{
		{"over a private output", true, false, false, 0o700, 0o600},
		{"over an output for a group", true, false, false, 0o750, 0o640},
		{"onto a private directory", false, true, false, 0o700, 0},
		{"from a private source", false, false, true, 0o700, 0o600},
		{"from a source for a group", false, false, true, 0o750, 0o640},
		{"from a source that only the owner's files keep private", false, false, true, 0o755, 0o600},
		{"where nothing is", false, false, false, 0, 0},
	}
	writers, ops := writers(), 0
	every := longtests.Times(25, 3)
	turn := rand.IntN(every)
	for _, tt := range tests {
		for _, w := range writers {
			isDir := filepath.Ext(w.out) == "" || w.parts != nil
			if tt.old && w.old == nil || !tt.old && w.changes || tt.empty && !isDir || tt.source && !w.copies {
				continue
			}
			if turn++; turn%every != 0 {
				continue
			}
			name := tt.name + ": " + w.name + " " + w.out
			root := t.TempDir()
			require.NoError(t, os.Chmod(root, 0o755))
			for up := filepath.Dir(root); up != filepath.Dir(up); up = filepath.Dir(up) {
				if info, err := os.Stat(up); err == nil && info.Mode()&0o005 != 0o005 {
					require.NoError(t, os.Chmod(up, info.Mode()|0o005))
				}
			}
			shared, from := filepath.Join(root, "shared"), filepath.Join(root, "from")
			require.NoError(t, os.Mkdir(shared, 0o755))
			require.NoError(t, os.Mkdir(from, 0o755))
			to := filepath.Join(shared, w.out)
			sources(t, from, 2)
			switch {
			case tt.old:
				w.old(t, to)
				setModes(t, to, tt.dir, tt.file)
			case tt.empty:
				require.NoError(t, os.Mkdir(to, tt.dir))
			case tt.source:
				for _, e := range tensor.Must(os.ReadDir(from)) {
					setModes(t, filepath.Join(from, e.Name()), tt.dir, tt.file)
				}
			}
			require.NoError(t, os.Chmod(from, 0o700))
			secret := tt.old || tt.empty || tt.source
			seen := map[string]string{}
			var mu sync.Mutex
			vfs.Observe(func(op, path string) error {
				mu.Lock()
				defer mu.Unlock()
				ops++
				for _, found := range readable(shared) {
					if secret || temporary(found) {
						seen[found] = op + " " + path
					}
				}
				return nil
			})
			err := w.write(to, from)
			vfs.Observe(nil)
			require.NoError(t, err, name)
			if secret {
				for _, found := range readable(shared) {
					seen[found] = "the end"
				}
			}
			require.Empty(t, seen, "%s: another user reads %v", name, slices.Sorted(maps.Keys(seen)))
			walkFiles(t, shared, func(path string, info fs.FileInfo) {
				require.False(t, temporary(path), path)
				want, mode := tt.file, info.Mode().Perm()
				if !secret {
					want = 0o644
				}
				if info.IsDir() {
					want = tt.dir
					if !secret {
						want = 0o755
					} else if tt.dir == 0o755 { // a source that is a file has no directory
						want &= mode
					}
				}
				if path != shared && filepath.Base(path) != ".lock" && want != 0 {
					require.Equal(t, fmt.Sprintf("%o", want), fmt.Sprintf("%o", mode), "%s: %s", name, path)
				}
			})
		}
	}
	t.Logf("%d operations", ops)
}

// TestPrivateInnerDirectory resumes, copies, slices and converts a dataset of which only an inner
// directory is private: nobody else can read its leaves, before, meanwhile or afterwards.
func TestPrivateInnerDirectory(t *testing.T) {
	before := syscall.Umask(0o022)
	defer syscall.Umask(before)
	for _, w := range writers() {
		if !w.copies && !strings.HasPrefix(w.name, "Writer that resumes 6") || w.parts != nil || filepath.Ext(w.out) != "" && filepath.Ext(w.out) != ".tdz" && filepath.Ext(w.out) != ".tdc" {
			continue
		}
		root := t.TempDir()
		for up := root; up != filepath.Dir(up); up = filepath.Dir(up) {
			if info, err := os.Stat(up); err == nil && info.Mode()&0o005 != 0o005 {
				require.NoError(t, os.Chmod(up, info.Mode()|0o005))
			}
		}
		from, shared := filepath.Join(root, "from"), filepath.Join(root, "shared")
		require.NoError(t, os.Mkdir(from, 0o755))
		require.NoError(t, os.Mkdir(shared, 0o755))
		to := filepath.Join(shared, w.out)
		sources(t, from, 2)
		for _, name := range []string{"in", "dir-", "dir.tdz-", "dir.tdc-"} {
			require.NoError(t, os.Chmod(filepath.Join(from, name, "n"), 0o700))
		}
		for _, name := range []string{"in.tdz", "in.tdc"} {
			require.NoError(t, os.Chmod(filepath.Join(from, name), 0o600))
		}
		if w.changes {
			w.old(t, to)
			require.NoError(t, os.Chmod(filepath.Join(to, "n"), 0o700))
		}
		check := func() {
			for _, found := range readable(shared) {
				name := filepath.Base(found)
				private := strings.HasPrefix(name, "n.") || strings.Contains(found, "/n/") || filepath.Ext(to) != ""
				require.False(t, private, "%s %s: %s", w.name, w.out, found)
			}
		}
		vfs.Observe(func(string, string) error { check(); return nil })
		err := w.write(to, from)
		vfs.Observe(nil)
		require.NoError(t, err, "%s %s", w.name, w.out)
		check()
	}
}
