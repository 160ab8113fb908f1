//go:build unix

package dircache_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
)

// inDir runs the rest of a test in a directory of its own, so that texts have no other in them.
func inDir(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	t.Chdir(dir)
	return dir
}

// opened opens a cache and closes it again.
func opened(dir string) error {
	c, err := samplecache.Open(context.Background(), dircache.Engine{Dir: dir}, samplecache.Options{})
	if err == nil {
		err = c.Close()
	}
	return err
}

// fails is testkit.Fails, which reads its file in the directory that the test was started in. The
// text does not have the directory that it is in now.
func fails(t *testing.T, home string, want, err error) {
	t.Helper()
	at, failed := os.Getwd()
	require.NoError(t, failed)
	require.Error(t, err)
	require.NoError(t, os.Chdir(home))
	defer func() { require.NoError(t, os.Chdir(at)) }()
	testkit.Fails(t, want, &placeless{err, at, "DIR"})
}

// A placeless error does not say what is different in each run.
type placeless struct {
	error
	old, as string
}

func (e *placeless) Error() string {
	return strings.NewReplacer(e.old, e.as, "\x00", "\\x00").Replace(e.error.Error())
}
func (e *placeless) Unwrap() error { return e.error }

func home(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	return dir
}

// TestForeign opens what is not a cache.
func TestForeign(t *testing.T) {
	s := newSpecimen(t)
	tests := []struct {
		name string
		make func(t *testing.T) error
		err  error
	}{
		{"nothing", func(*testing.T) error { return nil }, fs.ErrNotExist},
		{"an empty directory", func(*testing.T) error { return os.Mkdir("x", 0o777) }, fs.ErrNotExist},
		{"a file", func(*testing.T) error { return os.WriteFile("x", []byte("x"), 0o666) }, syscall.ENOTDIR},
		{"a dataset", func(*testing.T) error { return memmap.Save("x", marked(1)) }, fs.ErrNotExist},
		{"a link to nothing", func(*testing.T) error { return os.Symlink("nowhere", "x") }, fs.ErrNotExist},
		{"a link in a circle", func(*testing.T) error { return os.Symlink("x", "x") }, syscall.ELOOP},
		{"a MANIFEST that is a directory", func(*testing.T) error { return os.MkdirAll("x/MANIFEST", 0o777) }, samplecache.ErrCorrupt},
		{"an empty MANIFEST", func(*testing.T) error {
			return errors.Join(os.Mkdir("x", 0o777), os.WriteFile("x/MANIFEST", nil, 0o666))
		}, samplecache.ErrCorrupt},
		{"a MANIFEST that is a FIFO", func(*testing.T) error {
			return errors.Join(os.Mkdir("x", 0o777), syscall.Mkfifo("x/MANIFEST", 0o666))
		}, samplecache.ErrCorrupt},
		{"a MANIFEST without end", func(*testing.T) error {
			return errors.Join(os.Mkdir("x", 0o777), os.WriteFile("x/MANIFEST", nil, 0o666), os.Truncate("x/MANIFEST", 1<<40))
		}, samplecache.ErrCorrupt},
		{"a MANIFEST of a newer version", func(*testing.T) error {
			return errors.Join(os.Mkdir("x", 0o777),
				os.WriteFile("x/MANIFEST", []byte(`{"format": "tensordict.samplecache", "version": 9, "news": 1}`), 0o666))
		}, errors.ErrUnsupported},
		{"another format", func(*testing.T) error {
			return errors.Join(os.Mkdir("x", 0o777), os.WriteFile("x/MANIFEST", []byte(`{"format": "leveldb"}`), 0o666))
		}, samplecache.ErrCorrupt},
		{"a store is missing", func(*testing.T) error {
			return errors.Join(s.writeTo("x"), os.RemoveAll("x/gen-0000000003"), os.RemoveAll("x/gen-0000000002"))
		}, samplecache.ErrGenerationGone},
		{"control is missing", func(*testing.T) error { return errors.Join(s.writeTo("x"), os.Remove("x/control")) }, samplecache.ErrCorrupt},
		{"control is a directory", func(*testing.T) error {
			return errors.Join(s.writeTo("x"), os.Remove("x/control"), os.Mkdir("x/control", 0o777))
		}, samplecache.ErrCorrupt},
		{"control is a link", func(*testing.T) error {
			return errors.Join(s.writeTo("x"), os.Rename("x/control", "control"), os.Symlink("../control", "x/control"))
		}, samplecache.ErrCorrupt},
		{"control is a FIFO", func(*testing.T) error {
			return errors.Join(s.writeTo("x"), os.Remove("x/control"), syscall.Mkfifo("x/control", 0o666))
		}, samplecache.ErrCorrupt},
		{"a type that is none", func(*testing.T) error { return errors.Join(s.writeTo("x"), retype("x/gen-0000000002/meta.json")) }, samplecache.ErrCorrupt},
		{"a type that is none, to be filled", func(*testing.T) error { return errors.Join(s.writeTo("x"), retype("x/gen-0000000003/meta.json")) }, samplecache.ErrCorrupt},
		{"records are gone", func(*testing.T) error { return errors.Join(s.writeTo("x"), os.Remove("x/gen-0000000003/.samples")) }, samplecache.ErrCorrupt},
		{"leaves are gone", func(*testing.T) error { return errors.Join(s.writeTo("x"), os.Remove("x/gen-0000000003/image.memmap")) }, samplecache.ErrCorrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			at := home(t)
			inDir(t)
			require.NoError(t, tt.make(t))
			var err error
			require.NoError(t, tryOn("x", harm{name: tt.name}, func(tr *trial) error {
				if err = opened("x"); err == nil { // it may show only when it is wanted
					err = wants("x")
				}
				return nil
			}))
			fails(t, at, tt.err, err)
		})
	}
}

// retype has a meta.json name a type that there is not.
func retype(path string) error {
	b, err := os.ReadFile(path)
	if err == nil && !bytes.Contains(b, []byte("uint8")) {
		err = errors.New("no uint8")
	}
	return errors.Join(err, os.WriteFile(path, bytes.ReplaceAll(b, []byte("uint8"), []byte("uint9")), 0o666))
}

// wants opens a cache, reads what was published last, and puts a sample.
func wants(dir string) error {
	c, err := samplecache.Open(context.Background(), dircache.Engine{Dir: dir}, samplecache.Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	g, err := c.Latest(ctx)
	if err != nil {
		return err
	}
	_, err = g.Fetch(ctx, []int{0, 1, 2}, nil)
	err = errors.Join(err, g.Close())
	if err != nil {
		return err
	}
	p, err := c.Producer("p")
	if err == nil {
		_, err = p.Reserve(ctx)
	}
	return err
}

// TestStoresRemoved removes one store, or its records, of a cache that nobody has open: whatever is
// there is read right, and what is not is an error; nothing else is removed.
func TestStoresRemoved(t *testing.T) {
	s := newSpecimen(t)
	for _, name := range []string{"gen-0000000001", "gen-0000000002", "gen-0000000003"} {
		for _, part := range []string{"", ".samples"} {
			t.Run(filepath.Join(name, part), func(t *testing.T) {
				t.Parallel()
				dir := s.write(t)
				require.NoError(t, os.RemoveAll(filepath.Join(dir, name, part)))
				h := harm{name: "bytes"}
				require.NoError(t, tryOn(dir, h, func(tr *trial) error { return tr.use(s) }))
			})
		}
	}
}

// TestLatestGoneIsAnError asks for the generation published last, whose store somebody has removed.
func TestLatestGoneIsAnError(t *testing.T) {
	s := newSpecimen(t)
	dir := s.write(t)
	c, err := samplecache.Open(soon(t), dircache.Engine{Dir: dir}, samplecache.Options{})
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "gen-0000000002")))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err = c.Latest(ctx)
	require.ErrorIs(t, err, samplecache.ErrGenerationGone)
	require.NotErrorIs(t, err, context.DeadlineExceeded, "it spins")
}

// TestOthersFilesStay puts files and directories of others into a cache, with names like ours too.
func TestOthersFilesStay(t *testing.T) {
	s := newSpecimen(t)
	dir := s.write(t)
	mine := []string{
		"README", "notes/x", "gen-1/x", "gen-0000000042x/x", "gen-00000000042/x", "gen-x", "current",
		".hidden/x", "gen-4.samples", ".new-mine/x", ".old-mine", "MANIFEST.bak", "control~",
	}
	for _, name := range mine {
		at := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o777))
		require.NoError(t, os.WriteFile(at, []byte("mine"), 0o666))
	}
	require.NoError(t, os.Symlink("/etc", filepath.Join(dir, "link")))
	require.NoError(t, tryOn(dir, harm{}, func(tr *trial) error { return tr.use(s) }))
	require.NoError(t, dircache.Reboot(dir)) // then all is made again
	require.NoError(t, opened(dir))
	for _, name := range mine {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, "mine", string(b))
	}
	require.FileExists(t, filepath.Join(dir, "link", "passwd"))
}

// TestSymlinksAreNotFollowed has a link out of the directory in place of each thing in a cache.
// What it leads to is never changed, nor does anything appear there, whether the cache is used, or
// made again, or is in use already.
func TestSymlinksAreNotFollowed(t *testing.T) {
	s := newSpecimen(t)
	things := []string{
		"MANIFEST", "control", "gen-0000000003", "gen-0000000003/.samples", "gen-0000000002",
		"gen-0000000002/.samples", "gen-0000000001", "gen-0000000001/.samples", "gen-0000000003/image.memmap",
		"gen-0000000003/meta.json", "gen-0000000003/deep", "gen-0000000001/image.memmap",
	}
	for _, thing := range things {
		for _, when := range []string{"at rest", "at rest, started anew", "in use"} {
			t.Run(thing+" "+when, func(t *testing.T) {
				t.Parallel()
				dir, outside := s.write(t), filepath.Join(testkit.MemoryDir(t), "outside")
				h := harm{name: "bytes"}
				var before string
				swap := func() error {
					at := filepath.Join(dir, thing)
					if err := os.Rename(at, outside); err != nil {
						return err
					}
					before = contents(outside)
					return os.Symlink(outside, at)
				}
				require.NoError(t, tryOn(dir, h, func(tr *trial) error {
					if when == "in use" {
						c, err := tr.open()
						if err != nil {
							return err
						}
						err = swap()
						if err == nil {
							_ = tr.work(s, c)
						}
						_ = c.Close()
						return err
					}
					if when != "at rest" {
						if err := dircache.Reboot(dir); err != nil {
							return err
						}
					}
					if err := swap(); err != nil {
						return err
					}
					_ = tr.use(s)
					return nil
				}))
				if thing == "control" && when == "in use" {
					return // it is mapped: what was moved is the control file still
				}
				require.True(t, before == contents(outside), "what the link leads to was changed")
			})
		}
	}
}

// contents returns what is in a file, or a directory.
func contents(at string) string {
	var b bytes.Buffer
	_ = filepath.WalkDir(at, func(path string, d fs.DirEntry, err error) error {
		fmt.Fprintf(&b, "%s %v\n", strings.TrimPrefix(path, at), err)
		if err == nil && d.Type().IsRegular() {
			text, err := os.ReadFile(path)
			fmt.Fprintf(&b, "%x %v\n", text, err)
		}
		return nil
	})
	return b.String()
}

// tree returns the paths and sizes of what is in a directory, but for the control file and the
// link.
func tree(t *testing.T, dir string) (all []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Type()&fs.ModeNamedPipe != 0 {
			return err
		}
		info, err := d.Info()
		if err == nil {
			all = append(all, fmt.Sprintf("%s %d", strings.TrimPrefix(path, dir), info.Size()))
		}
		return err
	}))
	slices.Sort(all)
	return all
}

// TestLinkToACache opens a cache through a symbolic link to it, which whoever names it means.
func TestLinkToACache(t *testing.T) {
	s := newSpecimen(t)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(s.write(t), link))
	require.NoError(t, tryOn(link, harm{}, func(tr *trial) error { return tr.use(s) }))
}

// TestRemovalInUse removes the directory while producers, readers and ranks are at work: errors
// that name a file, no crash, no hang; who holds views reads on.
func TestRemovalInUse(t *testing.T) {
	s := newSpecimen(t)
	dir := s.write(t)
	err := tryOn(dir, harm{}, func(tr *trial) error {
		c, err := samplecache.Open(tr.ctx, dircache.Engine{Dir: dir}, samplecache.Options{})
		if err != nil {
			return err
		}
		g, err := c.Latest(tr.ctx)
		if err != nil {
			return err
		}
		view, err := g.Slice(0, 3)
		if err != nil {
			return err
		}
		want, err := view.Clone()
		if err != nil {
			return err
		}
		var wg sync.WaitGroup
		started := make(chan struct{}, 4)
		stopped, stop := context.WithCancel(tr.ctx)
		defer stop()
		var mu sync.Mutex
		var bad []error
		work := func(fn func(i uint64) error) {
			wg.Go(func() {
				for i := uint64(0); stopped.Err() == nil; i++ {
					err := fn(i)
					if i == 3 {
						started <- struct{}{}
					}
					if err != nil && stopped.Err() == nil {
						mu.Lock()
						bad = append(bad, namedOrGone(err))
						mu.Unlock()
						if i < 3 {
							started <- struct{}{}
						}
						return
					}
				}
			})
		}
		p, err := c.Producer("gen-7")
		if err != nil {
			return err
		}
		work(func(i uint64) error { return p.Put(stopped, marked(int64(i))) })
		work(func(uint64) error {
			g, err := c.Latest(stopped)
			if err == nil {
				_, err = g.Fetch(stopped, []int{0, 1, 2}, nil)
				err = errors.Join(err, g.Close())
			}
			return err
		})
		work(func(i uint64) error {
			e, err := c.Group("train", 1).Epoch(stopped, i)
			if err == nil {
				err = e.Close()
			}
			return err
		})
		work(func(uint64) error { return opened(dir) })
		for range 4 {
			<-started
		}
		for os.RemoveAll(dir) != nil { // somebody makes files meanwhile
		}
		time.AfterFunc(time.Second, stop)
		wg.Wait()
		got, err := view.Clone()
		if err != nil || !got.Equal(want) {
			return fmt.Errorf("who holds views reads %v, %w", got, err)
		}
		_, err = g.Fetch(tr.ctx, []int{1}, nil)
		_ = g.Close()
		_ = c.Close() // there is nothing to be left
		if err := g.Close(); !errors.Is(err, samplecache.ErrClosed) {
			return err
		}
		return errors.Join(append(bad, err)...)
	})
	require.NoError(t, err)
}

// namedOrGone returns an error unless err is one that tells of a removal.
func namedOrGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, samplecache.ErrBlocked) || errors.Is(err, syscall.ENOTEMPTY) {
		return nil
	}
	return named(err)
}

// TestRemovedAndMadeAnew removes a cache that is in use and makes another one there: who has the
// old one open can do it no harm.
func TestRemovedAndMadeAnew(t *testing.T) {
	s := newSpecimen(t)
	dir := s.write(t)
	old, err := samplecache.Open(soon(t), dircache.Engine{Dir: dir}, samplecache.Options{})
	require.NoError(t, err)
	oldP := putter(t, old, "gen-7")
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, dircache.Create(dir, marked(0), samplecache.Config{Samples: 3}))
	c := joinSound(t, dir)
	p := putter(t, c, "gen-7")
	for v := range int64(8) {
		require.NoError(t, p.Put(soon(t), marked(v)))
	}
	g, err := c.Latest(soon(t))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for v := range int64(4) { // at the latest when its generation is full
		if err = oldP.Put(ctx, marked(200+v)); err != nil {
			break
		}
	}
	require.ErrorIs(t, err, fs.ErrNotExist, "it would be in no cache")
	_, err = old.Latest(ctx)
	require.Error(t, err, "it is of another cache")
	_, err = old.Group("train", 1).Epoch(ctx, 0)
	require.Error(t, err)
	require.Error(t, old.Keep(ctx, 2, filepath.Join(t.TempDir(), "kept")))
	_ = old.Close()
	require.NoError(t, p.Put(soon(t), marked(8)))
	for id, want := range map[uint64][]int64{2: {3, 4, 5}, 3: {6, 7, 8}} {
		require.NoError(t, tryOn(dir, harm{}, func(tr *trial) error { return tr.check(c, id, want) }))
	}
	require.NoError(t, g.Close())
}
