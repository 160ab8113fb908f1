package vfs_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs"
)

// lock locks path. It skips the test where the system cannot.
func lock(t *testing.T, path string, sharing vfs.Sharing) *vfs.Lock {
	t.Helper()
	l, err := vfs.TryLock(path, sharing)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("cannot be locked here: ", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Unlock()) })
	return l
}

// eachKind runs test on a file and on a directory.
func eachKind(t *testing.T, test func(t *testing.T, path string)) {
	t.Run("file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "f")
		require.NoError(t, os.WriteFile(path, []byte("text"), 0o666))
		test(t, path)
	})
	t.Run("directory", func(t *testing.T) { test(t, t.TempDir()) })
}

func TestTryLock(t *testing.T) {
	tests := []struct {
		name          string
		first, second vfs.Sharing
		err           error
	}{
		{"one holds an exclusive lock alone", vfs.Exclusive, vfs.Exclusive, vfs.ErrHeld},
		{"nobody shares an exclusive lock", vfs.Exclusive, vfs.Shared, vfs.ErrHeld},
		{"nobody has a shared lock alone", vfs.Shared, vfs.Exclusive, vfs.ErrHeld},
		{"two share a shared lock", vfs.Shared, vfs.Shared, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			eachKind(t, func(t *testing.T, path string) {
				first := lock(t, path, tt.first)
				second, err := vfs.TryLock(path, tt.second)
				require.ErrorIs(t, err, tt.err)
				if tt.err != nil {
					require.ErrorContains(t, err, path)
					require.Nil(t, second)
					require.NoError(t, first.Unlock())
					second = lock(t, path, tt.second)
				}
				require.NoError(t, second.Unlock())
			})
		})
	}
}

func TestTryLockOfNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	_, err := vfs.TryLock(path, vfs.Shared)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = os.Lstat(path)
	require.ErrorIs(t, err, fs.ErrNotExist, "a lock makes no file")
}

func TestLockOfAFileThatMayOnlyBeRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, nil, 0o444))
	l := lock(t, path, vfs.Shared)
	_, err := vfs.TryLock(path, vfs.Exclusive)
	require.ErrorIs(t, err, vfs.ErrHeld)
	require.NoError(t, l.Unlock())
}

// TestUnlockTwice checks that the second call does no harm to the lock another has by then.
func TestUnlockTwice(t *testing.T) {
	eachKind(t, func(t *testing.T, path string) {
		first := lock(t, path, vfs.Exclusive)
		require.NoError(t, first.Unlock())
		lock(t, path, vfs.Exclusive)
		require.NoError(t, first.Unlock())
		_, err := vfs.TryLock(path, vfs.Exclusive)
		require.ErrorIs(t, err, vfs.ErrHeld)
	})
}

func TestBecome(t *testing.T) {
	eachKind(t, func(t *testing.T, path string) {
		l := lock(t, path, vfs.Exclusive)
		require.NoError(t, l.Become(vfs.Shared))
		other := lock(t, path, vfs.Shared)
		require.ErrorIs(t, l.Become(vfs.Exclusive), vfs.ErrHeld, "two share it")
		require.NoError(t, other.Unlock())
		require.NoError(t, l.Become(vfs.Exclusive))
		_, err := vfs.TryLock(path, vfs.Shared)
		require.ErrorIs(t, err, vfs.ErrHeld)

		require.NoError(t, l.Unlock())
		require.Error(t, l.Become(vfs.Shared), "the lock was given back")
	})
}

// TestLockBindsNobodyElse reads and writes a locked file.
func TestLockBindsNobodyElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, nil, 0o666))
	lock(t, path, vfs.Exclusive)
	require.NoError(t, os.WriteFile(path, []byte("text"), 0o666))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "text", string(data))
}

func TestAt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not move or remove what is open")
	}
	tests := []struct {
		name string
		do   func(path string) error
		at   bool
	}{
		{"what nobody touched", func(string) error { return nil }, true},
		{"what was removed", os.Remove, false},
		{"what was moved away", func(path string) error { return os.Rename(path, path+".old") }, false},
		{"what another has replaced", func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.Mkdir(path, 0o777))
		}, false},
		{"what a link leads to", func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.Symlink(path+".old", path))
		}, false},
		{"what is back", func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.Rename(path+".old", path))
		}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			eachKind(t, func(t *testing.T, path string) {
				l := lock(t, path, vfs.Exclusive)
				require.NoError(t, tt.do(path))
				require.Equal(t, tt.at, l.At(path))
				require.NoError(t, l.Unlock())
				require.False(t, l.At(path), "the lock was given back")
			})
		})
	}
}

func TestHold(t *testing.T) {
	dir := t.TempDir()
	lock(t, dir, vfs.Shared).Unlock() // skips where nothing can be held
	release, err := vfs.OS.Hold(dir)
	require.NoError(t, err)
	_, err = vfs.OS.Hold(dir)
	require.ErrorIs(t, err, vfs.ErrHeld)
	require.NoError(t, release())
	release, err = vfs.OS.Hold(dir)
	require.NoError(t, err)
	require.NoError(t, release())

	_, err = vfs.OS.Hold(filepath.Join(dir, "nothing"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// The variable that makes TestChildProcess do something, and what.
const (
	childTask    = "VFS_TEST_CHILD"
	taskLock     = "lock"
	taskSave     = "save"
	taskSaveFile = "save file"
	taskNumbers  = "numbers"
)

// TestChildProcess is the process that other tests start in order to kill it. It tells what it has
// locked and waits.
func TestChildProcess(t *testing.T) {
	path := os.Getenv(childTask + "_PATH")
	switch os.Getenv(childTask) {
	default:
		return // started by nobody
	case taskLock:
		lock(t, path, vfs.Exclusive)
	case taskNumbers:
		require.True(t, try(t, openNumbers(t, path), 5, 3))
		path = strconv.Itoa(os.Getpid())
	case taskSave:
		tmp, err := vfs.MakeTemp(vfs.OS, path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(tmp.New(), nil, 0o666))
		path = tmp.New()
	case taskSaveFile:
		go saveFiles(path)
	}
	fmt.Println(path)
	_, _ = io.Copy(io.Discard, os.Stdin) // ends if the parent does
}

// startChild starts a process that does the task, and returns what it has locked and what kills it.
func startChild(t *testing.T, task, path string) (locked string, kill func()) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe, "-test.run=^TestChildProcess$")
	cmd.Env = append(os.Environ(), childTask+"="+task, childTask+"_PATH="+path)
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	t.Cleanup(func() { stdin.Close() })
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	kill = func() {
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait(), "it was killed")
	}
	lines := bufio.NewScanner(stdout)
	require.True(t, lines.Scan())
	return lines.Text(), kill
}

func TestLockDiesWithItsProcess(t *testing.T) {
	eachKind(t, func(t *testing.T, path string) {
		require.NoError(t, lock(t, path, vfs.Exclusive).Unlock())
		_, kill := startChild(t, taskLock, path)
		_, err := vfs.TryLock(path, vfs.Shared)
		require.ErrorIs(t, err, vfs.ErrHeld)
		kill()
		require.NoError(t, lock(t, path, vfs.Exclusive).Unlock())
	})
}

// TestUnlockWhileProcessesStart checks that a lock is free once it was given back, even if
// processes are being started that have the open files of this one until they run.
func TestUnlockWhileProcessesStart(t *testing.T) {
	eachKind(t, func(t *testing.T, path string) {
		require.NoError(t, lock(t, path, vfs.Exclusive).Unlock())
		exe, err := os.Executable()
		require.NoError(t, err)
		stop, stopped := make(chan struct{}), make(chan error)
		go func() { stopped <- startUntil(stop, exe) }()
		for range 2000 {
			l, err := vfs.TryLock(path, vfs.Exclusive)
			require.NoError(t, err)
			require.NoError(t, l.Unlock())
		}
		close(stop)
		require.NoError(t, <-stopped)
	})
}

// startUntil starts processes that do nothing, one after the other.
func startUntil(stop <-chan struct{}, exe string) error {
	for {
		select {
		case <-stop:
			return nil
		default:
			if err := exec.Command(exe, "-test.run=^$").Run(); err != nil {
				return err
			}
		}
	}
}
