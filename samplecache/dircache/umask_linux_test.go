package dircache_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
)

// memberOf names the cache and the umask of a process that is another user's.
const memberOf = "DIRCACHE_TEST_MEMBER"

// others is the group of the users.
const others = 54321

// public returns a directory that other users can reach, and in it this program.
func public(t *testing.T) (top, exe string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be other users")
	}
	top, err := os.MkdirTemp("", "dircache-users")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(top)) })
	require.NoError(t, os.Chmod(top, 0o755))
	exe = filepath.Join(top, "test")
	from, err := os.Open(os.Args[0])
	require.NoError(t, err)
	defer from.Close()
	to, err := os.OpenFile(exe, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(to, from)
	require.NoError(t, errors.Join(err, to.Close()))
	return top, exe
}

// as runs a member as another user, which puts so many samples, and returns what it has said.
func as(t *testing.T, exe, dir string, uid uint32, umask, samples int) (string, error) {
	t.Helper()
	cmd := exec.Command(exe, "-test.run=^TestUmask$", "-test.v")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), memberOf+"="+strings.Join([]string{dir, strconv.Itoa(umask), strconv.Itoa(samples)}, ":"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid, Groups: []uint32{others}}}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestUmask has users with different umasks take part in one cache, in a directory that a group, or
// all, may write: what one makes the others can use. Those who cannot are refused, with the reason.
func TestUmask(t *testing.T) {
	if args := os.Getenv(memberOf); args != "" {
		work(t, strings.Split(args, ":"))
		return
	}
	top, exe := public(t)
	for _, mode := range []fs.FileMode{0o775 | fs.ModeSetgid, 0o777} {
		t.Run(mode.String(), func(t *testing.T) {
			dir := filepath.Join(top, "cache")
			defer func() { require.NoError(t, os.RemoveAll(dir)) }()
			made := func() error {
				defer syscall.Umask(syscall.Umask(int(0o777 &^ mode.Perm())))
				return dircache.Create(dir, marked(0), samplecache.Config{Samples: 2, Retain: -1, MaxHeld: 3})
			}
			require.NoError(t, made())
			require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				err = errors.Join(err, os.Lchown(path, 0, others))
				if d.IsDir() {
					err = errors.Join(err, os.Chmod(path, mode))
				}
				return err
			}))
			for i, umask := range []int{0o077, 0o002, 0o027} { // each publishes, and makes a store
				out, err := as(t, exe, dir, uint32(40001+i%3), umask, 3)
				require.NoError(t, err, "%04o: %s", umask, out)
			}
			require.NoError(t, opened(dir))
			for path, mode := range map[string]fs.FileMode{filepath.Join(dir, "control"): 0o600, dir: 0o755} {
				was, err := os.Stat(path)
				require.NoError(t, err)
				require.NoError(t, os.Chmod(path, mode))
				out, err := as(t, exe, dir, 40009, 0o002, 0)
				require.Error(t, err, path)
				require.Contains(t, out, "open "+path+": permission denied")
				require.NoError(t, os.Chmod(path, was.Mode()))
			}
		})
	}
}

// work puts samples, reads all generations that are kept, and holds one while others are published,
// so that a store is made.
func work(t *testing.T, args []string) {
	umask, err := strconv.Atoi(args[1])
	require.NoError(t, err)
	n, err := strconv.Atoi(args[2])
	require.NoError(t, err)
	syscall.Umask(umask)
	c := joinSound(t, args[0])
	p := putter(t, c, "")
	for range n {
		require.NoError(t, p.Put(soon(t), marked(1)))
	}
	for range 2 {
		g, err := c.Wait(soon(t), 0)
		require.NoError(t, err)
		defer g.Close()
		_, err = g.Fetch(soon(t), []int{0, 1}, nil)
		require.NoError(t, err)
		for range 2 {
			require.NoError(t, p.Put(soon(t), marked(1)))
		}
	}
	require.NoError(t, c.Close())
}
