package mapfile_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/tensor"
)

// leafBytes is the size of each file in the directories of these tests.
const leafBytes = 8

// filled makes the directory top/name with the files a and b/c.
func filled(t *testing.T, top, name string) string {
	t.Helper()
	dir := filepath.Join(top, name)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "b"), 0o777))
	for _, file := range []string{"a", "b/c"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte("01234567"), 0o666))
	}
	return dir
}

// openSet opens a directory.
func openSet(t *testing.T, dir string, opt mapfile.Options) *mapfile.Set {
	t.Helper()
	s, err := mapfile.Open(dir, opt)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// add adds the files a and b/c of the directory of s.
func add(t *testing.T, s *mapfile.Set) (a, c *mapfile.File) {
	t.Helper()
	lstat := func(at string) fs.FileInfo { return tensor.Must(s.Root().Lstat(at)) }
	inner := s.Dir(s.Top(), "b", lstat("b"))
	return s.Add(s.Top(), "a", lstat("a"), leafBytes), s.Add(inner, "b/c", lstat("b/c"), leafBytes)
}

// opened makes and opens a directory, and returns its two files.
func opened(t *testing.T, opt mapfile.Options) (dir string, s *mapfile.Set, a, c *mapfile.File) {
	t.Helper()
	dir = filled(t, t.TempDir(), "d")
	s = openSet(t, dir, opt)
	a, c = add(t, s)
	return dir, s, a, c
}

// use borrows the memory of a file for as long as fn takes.
func use(t *testing.T, f *mapfile.File, fn func(b []byte)) {
	t.Helper()
	b, err := f.Borrow()
	require.NoError(t, err)
	defer f.Return()
	require.NoError(t, f.Touch())
	fn(b)
}

// swap puts a fresh copy of the same content in the place of a directory or a file.
func swap(t *testing.T, at string) {
	t.Helper()
	aside := filepath.Join(t.TempDir(), "aside")
	require.NoError(t, os.Rename(at, aside))
	if info := tensor.Must(os.Stat(aside)); !info.IsDir() {
		require.NoError(t, os.WriteFile(at, tensor.Must(os.ReadFile(aside)), 0o666))
		return
	}
	require.NoError(t, os.CopyFS(at, os.DirFS(aside)))
}

// TestIdentity opens two directories of two files each, the first of them twice.
func TestIdentity(t *testing.T) {
	top := t.TempDir()
	files := func(dir string) []*mapfile.File {
		a, c := add(t, openSet(t, dir, mapfile.Options{}))
		return []*mapfile.File{a, c}
	}
	first := files(filled(t, top, "d"))
	again := files(filepath.Join(top, "d"))
	other := files(filled(t, top, "other"))
	tests := []struct {
		name string
		a, b *mapfile.File
		same bool
	}{
		{"a file is itself", first[0], first[0], true},
		{"the directory was opened twice", first[0], again[0], true},
		{"a nested file too", first[1], again[1], true},
		{"another file", first[0], again[1], false},
		{"the file of that name in another directory", first[0], other[0], false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.same, tt.a.Identity() == tt.b.Identity())
			require.Equal(t, tt.same, len(map[any]bool{tt.a.Identity(): true, tt.b.Identity(): true}) == 1)
		})
	}
}

func TestIdentityAllocatesNothing(t *testing.T) {
	_, _, a, _ := opened(t, mapfile.Options{})
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = a.Identity() }))
}

// TestIdentityIsOfTheFileAdded replaces a file after it was added.
func TestIdentityIsOfTheFileAdded(t *testing.T) {
	dir, _, before, _ := opened(t, mapfile.Options{})
	swap(t, filepath.Join(dir, "a"))
	after, _ := add(t, openSet(t, dir, mapfile.Options{}))
	require.NotEqual(t, before.Identity(), after.Identity())
}

func TestFileSaysWhatItIs(t *testing.T) {
	dir, _, a, c := opened(t, mapfile.Options{})
	require.Equal(t, []any{"a", 0, leafBytes}, []any{a.Path(), a.Number(), a.Size()})
	require.Equal(t, []any{"b/c", 1, leafBytes}, []any{c.Path(), c.Number(), c.Size()})
	require.Equal(t, filepath.Join(dir, "b", "c"), c.String())
	require.True(t, a.ReadOnly())
	_, _, x, _ := opened(t, mapfile.Options{Writable: true})
	require.False(t, x.ReadOnly())
}

func TestFilesAreMappedWhenWanted(t *testing.T) {
	live := mapping.Live()
	_, s, a, c := opened(t, mapfile.Options{})
	require.Equal(t, live, mapping.Live(), "adding maps nothing")
	use(t, a, func(b []byte) { require.Equal(t, "01234567", string(b)) })
	use(t, a, func([]byte) {})
	require.Equal(t, live+1, mapping.Live(), "once, however often it is borrowed")
	require.NoError(t, s.MapAll())
	require.Equal(t, live+2, mapping.Live())
	var mapped []*mapfile.File
	for f := range s.Mapped() {
		mapped = append(mapped, f)
	}
	require.Equal(t, []*mapfile.File{a, c}, mapped)
	require.NoError(t, s.Close())
	require.Equal(t, live, mapping.Live())
}

// TestMapAllMissesNothing: once all is mapped, what happens to the directory does not matter.
func TestMapAllMissesNothing(t *testing.T) {
	dir, s, a, c := opened(t, mapfile.Options{})
	require.NoError(t, s.MapAll())
	require.NoError(t, os.RemoveAll(dir))
	for _, f := range []*mapfile.File{a, c} {
		use(t, f, func(b []byte) { require.Equal(t, "01234567", string(b)) })
	}
	dir, s, _, _ = opened(t, mapfile.Options{})
	require.NoError(t, os.Remove(filepath.Join(dir, "b", "c")))
	require.ErrorIs(t, s.MapAll(), mapfile.ErrGone)
}

// TestLost changes the directory after the files were added: what is wanted for the first time is
// gone, or all of it was replaced.
func TestLost(t *testing.T) {
	tests := []struct {
		name   string
		change func(t *testing.T, dir string)
		a, c   error
	}{
		{"nothing happened", func(*testing.T, string) {}, nil, nil},
		{"a file was removed", func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "a")))
		}, mapfile.ErrGone, nil},
		{"another file has its name", func(t *testing.T, dir string) {
			swap(t, filepath.Join(dir, "b", "c"))
		}, nil, mapfile.ErrGone},
		{"the directory was replaced", func(t *testing.T, dir string) {
			swap(t, dir)
		}, nil, nil}, // the set still holds the old one
		{"the directory was replaced and the old one removed", func(t *testing.T, dir string) {
			require.NoError(t, os.RemoveAll(dir))
			filled(t, filepath.Dir(dir), "d")
		}, mapfile.ErrReplaced, mapfile.ErrReplaced},
		{"the directory was removed", func(t *testing.T, dir string) {
			require.NoError(t, os.RemoveAll(dir))
		}, mapfile.ErrReplaced, mapfile.ErrReplaced},
		{"a nested directory was replaced", func(t *testing.T, dir string) {
			swap(t, filepath.Join(dir, "b"))
		}, nil, mapfile.ErrReplaced},
		{"a nested directory was removed", func(t *testing.T, dir string) {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, "b")))
		}, nil, mapfile.ErrReplaced},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, _, a, c := opened(t, mapfile.Options{})
			tt.change(t, dir)
			for f, want := range map[*mapfile.File]error{a: tt.a, c: tt.c} {
				_, err := f.Borrow()
				require.ErrorIs(t, err, want, f.Path())
				if err == nil {
					f.Return()
				}
			}
		})
	}
}

func TestReplaced(t *testing.T) {
	dir, s, _, _ := opened(t, mapfile.Options{})
	require.False(t, tensor.Must(s.Replaced()))
	require.NoError(t, os.Remove(filepath.Join(dir, "a")))
	swap(t, filepath.Join(dir, "b"))
	require.False(t, tensor.Must(s.Replaced()), "what is in it does not matter")
	swap(t, dir)
	require.True(t, tensor.Must(s.Replaced()))
	require.NoError(t, os.RemoveAll(dir))
	require.ErrorIs(t, testkit.Err(s.Replaced()), fs.ErrNotExist)
}

// TestFlushOfWhatNobodySees: stores into a file that is not where it was are lost to others.
func TestFlushOfWhatNobodySees(t *testing.T) {
	tests := []struct {
		name   string
		change func(t *testing.T, dir string)
		want   error
	}{
		{"the files are where they were", func(*testing.T, string) {}, nil},
		{"the directory was replaced", func(t *testing.T, dir string) { swap(t, dir) }, mapfile.ErrReplaced},
		{"a nested directory was replaced", func(t *testing.T, dir string) { swap(t, filepath.Join(dir, "b")) }, mapfile.ErrReplaced},
		{"a file was replaced", func(t *testing.T, dir string) { swap(t, filepath.Join(dir, "b", "c")) }, mapfile.ErrGone},
		{"a file that is not mapped was replaced", func(t *testing.T, dir string) { swap(t, filepath.Join(dir, "a")) }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, s, _, c := opened(t, mapfile.Options{Writable: true})
			use(t, c, func(b []byte) { copy(b, "ABCDEFGH") })
			tt.change(t, dir)
			require.ErrorIs(t, s.Flush(), tt.want)
		})
	}
}

func TestFlushReachesTheFile(t *testing.T) {
	dir, s, a, _ := opened(t, mapfile.Options{Writable: true})
	use(t, a, func(b []byte) { copy(b, "ABCDEFGH") })
	require.NoError(t, s.Flush())
	require.Equal(t, "ABCDEFGH", string(tensor.Must(os.ReadFile(filepath.Join(dir, "a")))))
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.Flush(), mapping.ErrClosed)
}

// A touched takes note of the files that are touched, and refuses what it is told to refuse.
type touched struct {
	mu    sync.Mutex
	calls []string
	err   error
}

func (c *touched) touch(f *mapfile.File) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, f.Path())
	return c.err
}

func (c *touched) options() mapfile.Options {
	return mapfile.Options{Writable: true, Touch: c.touch}
}

// TestTouch: whoever asks is told before memory is first written.
func TestTouch(t *testing.T) {
	var log touched
	_, _, a, c := opened(t, log.options())
	require.Empty(t, log.calls)
	use(t, a, func([]byte) { require.Equal(t, []string{"a"}, log.calls, "before it is written") })
	use(t, a, func([]byte) {})
	require.Equal(t, []string{"a"}, log.calls, "once")
	require.NoError(t, testkit.Err(c.Pin()))
	require.Equal(t, []string{"a", "b/c"}, log.calls, "pinned memory can be written too")
}

func TestTouchOfWhatCannotBeWritten(t *testing.T) {
	log := touched{}
	opt := log.options()
	opt.Writable = false
	_, _, a, _ := opened(t, opt)
	use(t, a, func([]byte) {})
	require.Empty(t, log.calls)
}

// TestTouchRefuses: its error is that of whoever was going to write.
func TestTouchRefuses(t *testing.T) {
	log := touched{err: errors.New("no")}
	live := mapping.Live()
	_, s, a, _ := opened(t, log.options())
	require.NoError(t, testkit.Err(a.Borrow()))
	require.ErrorIs(t, a.Touch(), log.err)
	a.Return()
	require.ErrorIs(t, testkit.Err(a.Pin()), log.err)
	require.NoError(t, s.Close())
	require.Equal(t, live, mapping.Live(), "what was not lent keeps nothing mapped")
}

func TestClose(t *testing.T) {
	live := mapping.Live()
	_, s, a, c := opened(t, mapfile.Options{})
	require.False(t, s.Closed())
	use(t, a, func(b []byte) {
		require.NoError(t, s.Close())
		require.True(t, s.Closed())
		require.Equal(t, "01234567", string(b), "what is borrowed stays")
		require.Equal(t, live+1, mapping.Live())
	})
	require.Equal(t, live, mapping.Live(), "unmapped when the last loan ended")
	require.ErrorIs(t, s.Close(), mapping.ErrClosed)
	for _, f := range []*mapfile.File{a, c} {
		require.ErrorIs(t, testkit.Err(f.Borrow()), mapping.ErrClosed, f.Path())
		require.ErrorIs(t, testkit.Err(f.Pin()), mapping.ErrClosed, f.Path())
	}
	require.ErrorIs(t, s.MapAll(), mapping.ErrClosed)
}

func TestCloseWait(t *testing.T) {
	_, s, a, _ := opened(t, mapfile.Options{})
	require.NoError(t, testkit.Err(a.Borrow()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.CloseWait(ctx), context.Canceled, "it is borrowed")
	require.True(t, s.Closed())
	a.Return()
	require.NoError(t, s.CloseWait(t.Context()))
	require.NoError(t, s.CloseWait(t.Context()), "any number of times")
}

// TestErrorsNameTheFile: Options.Name makes every error of a file.
func TestErrorsNameTheFile(t *testing.T) {
	named := func(op, at string, err error) error { return &fs.PathError{Op: op, Path: at, Err: err} }
	dir, s, a, c := opened(t, mapfile.Options{Writable: true, Name: named})
	use(t, c, func([]byte) {})
	require.NoError(t, os.Remove(filepath.Join(dir, "a")))
	swap(t, filepath.Join(dir, "b", "c"))
	require.EqualError(t, testkit.Err(a.Borrow()), "read a: "+mapfile.ErrGone.Error())
	require.EqualError(t, s.Flush(), "flush b/c: "+mapfile.ErrGone.Error())

	_, s, a, _ = opened(t, mapfile.Options{})
	require.NoError(t, s.Close())
	require.EqualError(t, testkit.Err(a.Borrow()), "map a: "+mapping.ErrClosed.Error(), "unless there is none")
}

// TestFilesCannotLead puts something else in the place of a file, between Add and the first loan.
func TestFilesCannotLead(t *testing.T) {
	tests := []struct {
		name  string
		place func(t *testing.T, at string)
	}{
		{"a link to a file outside", func(t *testing.T, at string) {
			outside := filepath.Join(t.TempDir(), "outside")
			require.NoError(t, os.WriteFile(outside, []byte("01234567"), 0o666))
			require.NoError(t, os.Symlink(outside, at))
		}},
		{"a link to a file beside it", func(t *testing.T, at string) {
			require.NoError(t, os.Symlink(path.Join("b", "c"), at))
		}},
		{"a directory", func(t *testing.T, at string) { require.NoError(t, os.Mkdir(at, 0o777)) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, _, a, _ := opened(t, mapfile.Options{})
			require.NoError(t, os.Remove(filepath.Join(dir, "a")))
			tt.place(t, filepath.Join(dir, "a"))
			require.Error(t, testkit.Err(a.Borrow()))
		})
	}
}

// TestShortFile: a file that has become shorter than what was added is not mapped.
func TestShortFile(t *testing.T) {
	dir, _, a, _ := opened(t, mapfile.Options{})
	require.NoError(t, os.Truncate(filepath.Join(dir, "a"), leafBytes-1))
	require.ErrorIs(t, testkit.Err(a.Borrow()), mapping.ErrSize)
}

// TestConcurrentLoans: many goroutines want the same files for the first time.
func TestConcurrentLoans(t *testing.T) {
	live := mapping.Live()
	_, s, a, c := opened(t, mapfile.Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				for _, f := range []*mapfile.File{a, c} {
					if b, err := f.Borrow(); err != nil || string(b) != "01234567" {
						t.Errorf("got %q: %v", b, err)
					} else {
						f.Return()
					}
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, live+2, mapping.Live())
	require.NoError(t, s.Close())
}
