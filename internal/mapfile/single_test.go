package mapfile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/tensor"
)

// single makes a file of ten digits and opens it.
func single(t *testing.T) (string, *mapfile.Single) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(path, []byte("0123456789"), 0o666))
	return path, openSingle(t, path)
}

func openSingle(t *testing.T, path string) *mapfile.Single {
	t.Helper()
	s, err := mapfile.OpenSingle(path, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// read returns n elements of a lender from an offset on.
func read(t *testing.T, l tensor.Lender, offset, n int) string {
	t.Helper()
	x, err := tensor.FromLender(tensor.Uint8, l, offset, n)
	require.NoError(t, err)
	var b bytes.Buffer
	_, err = x.WriteTo(&b)
	require.NoError(t, err)
	return b.String()
}

func TestSingleIsMappedWhenWanted(t *testing.T) {
	live := mapping.Live()
	path, s := single(t)
	head := make([]byte, 3)
	for _, mapped := range []int{0, 1} {
		n, err := s.ReadAt(head, 4)
		require.NoError(t, err)
		require.Equal(t, "456", string(head[:n]))
		n, err = s.ReadAt(head, 8)
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, "89", string(head[:n]))
		require.Error(t, testkit.Err(s.ReadAt(head, -1)))
		require.Equal(t, live+mapped, mapping.Live())
		require.Equal(t, "789", read(t, s, 7, 3))
		require.NoError(t, s.Map())
		require.Equal(t, live+1, mapping.Live())
	}
	require.Equal(t, path, s.String())
	require.Equal(t, 10, s.Size())
	require.Equal(t, 0, s.Offset())
	require.Equal(t, "", s.Path())
	require.Equal(t, 10, s.Size())
	x := tensor.Must(tensor.FromLender(tensor.Uint8, s, 0, 10))
	err := x.CopyFrom(tensor.Must(tensor.Zeros[uint8](10)))
	require.ErrorIs(t, err, tensor.ErrReadOnly)
}

// TestPartsShareOneMapping: archives have many.
func TestPartsShareOneMapping(t *testing.T) {
	live := mapping.Live()
	path, s := single(t)
	a, b := tensor.Must(s.Lend("a", 2, 3)), tensor.Must(s.Lend("b/c", 5, 5))
	require.Equal(t, "234", read(t, a, a.Offset(), a.Size()))
	require.Equal(t, "56789", read(t, b, b.Offset(), b.Size()))
	require.Equal(t, live+1, mapping.Live())
	require.Equal(t, path+": b/c", b.String())
	require.Equal(t, "b/c", b.Path())
	require.True(t, a.Identity() == b.Identity() && b.Identity() == s.Identity())
	require.True(t, openSingle(t, path).Identity() == s.Identity())
	require.NoError(t, b.Advise(mapping.WillNeed, 0, 5))
	require.ErrorIs(t, b.Advise(mapping.WillNeed, 0, 6), mapping.ErrSize)
	for _, at := range [][2]int{{-1, 1}, {0, -1}, {0, 11}, {11, 0}, {1 << 62, 1 << 62}} {
		require.ErrorIs(t, testkit.Err(s.Lend("a", at[0], at[1])), mapping.ErrSize)
	}
}

func TestSingleErrorsNameFileAndPart(t *testing.T) {
	path, s := single(t)
	part := tensor.Must(s.Lend("b/c", 0, 10))
	require.NoError(t, s.Close())
	require.EqualError(t, testkit.Err(part.Borrow()), "read "+path+": b/c: already closed")
	require.EqualError(t, testkit.Err(s.Pin()), "read "+path+": already closed")

	broken := errors.New("broken")
	s, err := mapfile.OpenSingle(path, func(op, part string, err error) error {
		return fmt.Errorf("%s %q: %w: %w", op, part, err, broken)
	})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	err = testkit.Err(tensor.Must(s.Lend("b/c", 0, 10)).Borrow())
	require.EqualError(t, err, `read "b/c": already closed: broken`)
	require.ErrorIs(t, err, broken)
	require.Error(t, testkit.Err(mapfile.OpenSingle("", nil)))
}

func TestOpenSingleRefuses(t *testing.T) {
	dir := t.TempDir()
	require.ErrorIs(t, testkit.Err(mapfile.OpenSingle(dir, nil)), mapping.ErrNotRegular)
	require.ErrorIs(t, testkit.Err(mapfile.OpenSingle(filepath.Join(dir, "nope"), nil)), fs.ErrNotExist)
	if os.Symlink("nope", filepath.Join(dir, "dead")) == nil {
		require.ErrorIs(t, testkit.Err(mapfile.OpenSingle(filepath.Join(dir, "dead"), nil)), fs.ErrNotExist)
	}
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o666))
	require.ErrorIs(t, testkit.Err(openSingle(t, empty).Borrow()), mapping.ErrSize)
}

// TestSingleReplaced: who has opened a file keeps it, mapped or not.
func TestSingleReplaced(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("open files are not replaced")
	}
	path, s := single(t)
	stale, err := s.Replaced()
	require.NoError(t, err)
	require.False(t, stale)
	require.NoError(t, os.WriteFile(path+"2", []byte("abcdefghij"), 0o666))
	require.NoError(t, os.Rename(path+"2", path))
	require.Equal(t, "012", read(t, s, 0, 3))
	stale, err = s.Replaced()
	require.NoError(t, err)
	require.True(t, stale)
	require.NoError(t, os.Remove(path))
	require.ErrorIs(t, testkit.Err(s.Replaced()), fs.ErrNotExist)
	require.NoError(t, s.Close())
	require.ErrorIs(t, testkit.Err(s.Replaced()), mapping.ErrClosed)
}

// TestSingleChanged changes a file in its place.
func TestSingleChanged(t *testing.T) {
	path, s := single(t)
	require.NoError(t, os.Chtimes(path, time.Time{}, tensor.Must(os.Stat(path)).ModTime().Add(time.Second)))
	stale, err := s.Replaced()
	require.NoError(t, err)
	require.True(t, stale)
}

// A relative path is that of the same file wherever the process goes.
func TestSingleOfARelativePath(t *testing.T) {
	path, _ := single(t)
	t.Chdir(filepath.Dir(path))
	s := openSingle(t, "x")
	t.Chdir(t.TempDir())
	stale, err := s.Replaced()
	require.NoError(t, err)
	require.False(t, stale)
	require.Equal(t, "x", s.String())
}

func TestCloseSingle(t *testing.T) {
	live := mapping.Live()
	_, s := single(t)
	require.NoError(t, s.Close(), "not mapped")
	require.ErrorIs(t, s.Close(), mapping.ErrClosed)
	require.NoError(t, s.CloseWait(t.Context()))
	require.ErrorIs(t, s.Map(), mapping.ErrClosed)
	require.ErrorIs(t, testkit.Err(s.ReadAt(make([]byte, 1), 0)), mapping.ErrClosed)
	require.True(t, s.Closed())

	_, s = single(t)
	_, err := s.Borrow()
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.Close(), mapping.ErrClosed)
	require.Equal(t, live+1, mapping.Live())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.CloseWait(ctx), context.Canceled)
	s.Return()
	require.NoError(t, s.CloseWait(t.Context()))
	require.Equal(t, live, mapping.Live())
}

// TestSingleByMany has goroutines read and map one file while it is closed.
func TestSingleByMany(t *testing.T) {
	live := mapping.Live()
	for range 20 {
		_, s := single(t)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				b := make([]byte, 10)
				if _, err := s.ReadAt(b, 0); err == nil {
					require.Equal(t, "0123456789", string(b))
				} else {
					require.ErrorIs(t, err, mapping.ErrClosed)
				}
				switch i {
				case 3:
					require.NoError(t, s.Close())
				default:
					if _, err := s.Borrow(); err == nil {
						s.Return()
					}
				}
			})
		}
		all.Wait()
		require.NoError(t, s.CloseWait(t.Context()))
	}
	require.Equal(t, live, mapping.Live())
}

// Opening takes memory for headers alone, and a part for itself.
func TestOpenSingleAllocates(t *testing.T) {
	path, s := single(t)
	n := testing.AllocsPerRun(100, func() {
		s, err := mapfile.OpenSingle(path, nil)
		require.NoError(t, err)
		require.NoError(t, s.Close())
	})
	require.LessOrEqual(t, n, 8.0)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = s.Lend("x", 0, 1) }), 1.0)
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = s.Borrow(); s.Return() }))
}

func BenchmarkOpenSingle(b *testing.B) {
	for _, size := range []int64{4 << 10, 500 << 20} {
		path := filepath.Join(b.TempDir(), "x")
		require.NoError(b, os.WriteFile(path, []byte("head"), 0o666))
		require.NoError(b, os.Truncate(path, size))
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s, err := mapfile.OpenSingle(path, nil)
				if err == nil {
					err = errors.Join(s.Map(), s.Close())
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
