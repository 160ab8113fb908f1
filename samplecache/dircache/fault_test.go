//go:build unix

package dircache_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
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
				os.WriteFile("x/MANIFEST", []byte(`{"format": "tensordict.samplecache", "version": 2, "news": 1}`), 0o666))
		}, errors.ErrUnsupported},
		{"another format", func(*testing.T) error {
			return errors.Join(os.Mkdir("x", 0o777), os.WriteFile("x/MANIFEST", []byte(`{"format": "leveldb"}`), 0o666))
		}, samplecache.ErrCorrupt},
		{"a store is missing", func(*testing.T) error {
			return errors.Join(s.writeTo("x"), os.RemoveAll("x/gen-0000000003"), os.RemoveAll("x/gen-0000000002"))
		}, samplecache.ErrCorrupt},
		{"the lock is missing", func(*testing.T) error { return errors.Join(s.writeTo("x"), os.Remove("x/lock")) }, fs.ErrNotExist},
		{"peers are missing", func(*testing.T) error { return errors.Join(s.writeTo("x"), os.Remove("x/peers")) }, fs.ErrNotExist},
		{"peers are a file", func(*testing.T) error {
			return errors.Join(s.writeTo("x"), os.Remove("x/peers"), os.WriteFile("x/peers", nil, 0o666))
		}, samplecache.ErrCorrupt},
		{"leaves are gone", func(*testing.T) error { return errors.Join(s.writeTo("x"), os.Remove("x/gen-0000000003/image.memmap")) }, memmap.ErrCorrupt},
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

// wants opens a cache, reads what was published last, and puts a sample.
func wants(dir string) error {
	c, err := samplecache.Open(context.Background(), dircache.Engine{Dir: dir}, samplecache.Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
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
	for _, name := range []string{"gen-0000000001", "gen-0000000002", "gen-0000000003", "current"} {
		for _, part := range []string{"", ".samples", "both"} {
			if name == "current" && part != "" {
				continue
			}
			t.Run(name+part, func(t *testing.T) {
				t.Parallel()
				dir := s.write(t)
				if part != ".samples" {
					require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
				}
				if part != "" {
					require.NoError(t, os.Remove(filepath.Join(dir, name+".samples")))
				}
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
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err = c.Latest(ctx)
	require.ErrorIs(t, err, samplecache.ErrGenerationGone)
	require.NotErrorIs(t, err, context.DeadlineExceeded, "it spins")
}

// TestCurrent changes the link named current: who opens the cache sets it right, and follows it
// never. A directory in its place is not removed.
func TestCurrent(t *testing.T) {
	s := newSpecimen(t)
	tests := []struct {
		name string
		do   func(at string) error
		err  error
	}{
		{"removed", func(string) error { return nil }, nil},
		{"to an earlier generation", func(at string) error { return os.Symlink("gen-0000000001", at) }, nil},
		{"out of the directory", func(at string) error { return os.Symlink("/etc", at) }, nil},
		{"to nothing", func(at string) error { return os.Symlink("nowhere", at) }, nil},
		{"a file", func(at string) error { return os.WriteFile(at, []byte("mine"), 0o666) }, nil},
		{"a directory", func(at string) error { return os.MkdirAll(filepath.Join(at, "mine"), 0o777) }, fs.ErrExist},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := s.write(t)
			at := filepath.Join(dir, "current")
			require.NoError(t, os.Remove(at))
			require.NoError(t, tt.do(at))
			err := opened(dir)
			if tt.err != nil {
				require.ErrorIs(t, err, tt.err)
				require.ErrorContains(t, err, "current")
				require.DirExists(t, filepath.Join(at, "mine"))
				return
			}
			require.NoError(t, err)
			to, err := os.Readlink(at)
			require.NoError(t, err)
			require.Equal(t, "gen-0000000002", to)
		})
	}
}

// TestOthersFilesStay puts files and directories of others into a cache, with names like ours too.
func TestOthersFilesStay(t *testing.T) {
	s := newSpecimen(t)
	dir := s.write(t)
	mine := []string{
		"README", "notes/x", "gen-1/x", "gen-0000000042x/x", "gen-00000000042/x", "spare-x", "held-x.samples",
		".hidden/x", "gen-4.samples", ".new-mine/x", ".old-mine", "peers-of-mine/x", "peers/mine", "peers/more/x", "MANIFEST.bak", "control~",
	}
	for _, name := range mine {
		at := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o777))
		require.NoError(t, os.WriteFile(at, []byte("mine"), 0o666))
	}
	require.NoError(t, os.Symlink("/etc", filepath.Join(dir, "link")))
	require.NoError(t, tryOn(dir, harm{}, func(tr *trial) error { return tr.use(s) }))
	require.NoError(t, os.Remove(filepath.Join(dir, "control"))) // then all is made again
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
		"MANIFEST", "control", "lock", "peers", "gen-0000000003", "gen-0000000003.samples", "gen-0000000002",
		"gen-0000000002.samples", "gen-0000000001", "gen-0000000001.samples", "gen-0000000003/image.memmap",
		"gen-0000000003/meta.json", "gen-0000000003/deep", "gen-0000000001/image.memmap",
	}
	for _, thing := range things {
		for _, when := range []string{"at rest", "at rest, without control", "in use"} {
			t.Run(thing+" "+when, func(t *testing.T) {
				t.Parallel()
				dir, outside := s.write(t), filepath.Join(t.TempDir(), "outside")
				h := harm{name: "bytes"}
				var before string
				swap := func() error {
					at := filepath.Join(dir, thing)
					if err := os.Rename(at, outside); err != nil {
						return err
					}
					if thing == "peers" {
						if err := os.WriteFile(filepath.Join(outside, "mine"), nil, 0o666); err != nil {
							return err
						}
					}
					if before = contents(outside); thing == "peers" && when == "in use" {
						before = "" // who leaves takes his bell along
					}
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
					if err := swap(); err != nil {
						return err
					}
					if when != "at rest" && thing != "control" {
						if err := os.Remove(filepath.Join(dir, "control")); err != nil {
							return err
						}
					}
					_ = tr.use(s)
					return nil
				}))
				if thing == "control" && when == "in use" {
					return // it is mapped: what was moved is the control file still
				}
				if before == "" {
					require.FileExists(t, filepath.Join(outside, "mine"))
					return
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

// TestLinkToACache opens a cache through a symbolic link to it, which whoever names it means.
func TestLinkToACache(t *testing.T) {
	s := newSpecimen(t)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(s.write(t), link))
	require.NoError(t, tryOn(link, harm{}, func(tr *trial) error { return tr.use(s) }))
}

// TestBellIsAFile has a file in place of the FIFO of somebody who takes part: others are told, and
// nobody is taken for dead.
func TestBellIsAFile(t *testing.T) {
	s := newSpecimen(t)
	dir := s.write(t)
	c, err := samplecache.Open(soon(t), dircache.Engine{Dir: dir}, samplecache.Options{})
	require.NoError(t, err)
	p := putter(t, c, "gen-7")
	slot, err := p.Reserve(soon(t))
	require.NoError(t, err)
	bells, err := os.ReadDir(filepath.Join(dir, "peers"))
	require.NoError(t, err)
	require.Len(t, bells, 1)
	bell := filepath.Join(dir, "peers", bells[0].Name())
	require.NoError(t, os.Remove(bell))
	require.NoError(t, os.WriteFile(bell, []byte("mine"), 0o666))
	require.NoError(t, tryOn(dir, harm{}, func(*trial) error {
		err := opened(dir)
		if err == nil {
			return errors.New("a process joins that cannot reach another")
		}
		if failed, ok := errors.AsType[*dircache.Error](err); !ok || failed.Path != "peers" {
			return fmt.Errorf("the error does not name the file: %w", err)
		}
		err = slot.Sample().SetIndex(marked(6))
		return errors.Join(err, slot.Commit(context.Background()), c.Close())
	}))
	_ = os.Remove(bell)
	c = joinSound(t, dir)
	require.EqualValues(t, 7, putter(t, c, "gen-7").Next())
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
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for v := range int64(4) {
		require.Error(t, oldP.Put(ctx, marked(200+v)), "it would be in no cache")
	}
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

func TestCreateRefuses(t *testing.T) {
	ok := marked(0)
	tests := []struct {
		name   string
		dir    string
		schema *tdict.TensorDict
		config samplecache.Config
		err    error
	}{
		{"no samples", "x", ok, samplecache.Config{}, samplecache.ErrConfig},
		{"less than none", "x", ok, samplecache.Config{Samples: -1}, samplecache.ErrConfig},
		{"too many samples", "x", ok, samplecache.Config{Samples: 1<<20 + 1}, samplecache.ErrConfig},
		{"retains too many", "x", ok, samplecache.Config{Samples: 1, Retain: 17}, samplecache.ErrConfig},
		{"too many held", "x", ok, samplecache.Config{Samples: 1, MaxHeld: 65}, samplecache.ErrConfig},
		{"held for less than no time", "x", ok, samplecache.Config{Samples: 1, MaxHold: -1}, samplecache.ErrConfig},
		{"limits that are none", "x", ok, samplecache.Config{Samples: 1, Limits: samplecache.Limits{PerInsert: -1}}, samplecache.ErrLimits},
		{"limits under which nothing goes on", "x", ok, samplecache.Config{Samples: 4, Limits: samplecache.Limits{PerInsert: 1, MinSize: 5}}, samplecache.ErrLimits},
		{"passes that limits exclude", "x", ok, samplecache.Config{Samples: 4, Limits: samplecache.Limits{MinPasses: 3, MaxPasses: 2}}, samplecache.ErrLimits},
		{"no schema", "x", nil, samplecache.Config{Samples: 1}, samplecache.ErrSchema},
		{"a batch shape", "x", tdict.New(1), samplecache.Config{Samples: 1}, samplecache.ErrSchema},
		{"data", "x", entry("d", tensor.Must(tdict.NewData("x"))), samplecache.Config{Samples: 1}, samplecache.ErrSchema},
		{"an unbatched tensor", "x", entry("u", tensor.Must(tdict.NewUnbatched(tensor.Vector[int8](1)))), samplecache.Config{Samples: 1}, samplecache.ErrSchema},
		{"samples beyond memory", "x", entry("m", tensor.Must(tensor.NewMeta(tensor.Uint8, 1<<46))), samplecache.Config{Samples: 1 << 20}, samplecache.ErrSchema},
		{"a name of the format", "x", entry("shape", tensor.Scalar(int8(1))), samplecache.Config{Samples: 1}, samplecache.ErrSchema},
		{"a name that is too long", "x", entry(strings.Repeat("k", 300), tensor.Scalar(int8(1))), samplecache.Config{Samples: 1}, samplecache.ErrSchema},
		{"no directory", "", ok, samplecache.Config{Samples: 1}, fs.ErrInvalid},
		{"a file is there", "file", ok, samplecache.Config{Samples: 1}, fs.ErrExist},
		{"a directory is there", "dir", ok, samplecache.Config{Samples: 1}, fs.ErrExist},
		{"a link is there", "link", ok, samplecache.Config{Samples: 1}, fs.ErrExist},
		{"a link to nothing is there", "lost", ok, samplecache.Config{Samples: 1}, fs.ErrExist},
		{"the directory it is in", ".", ok, samplecache.Config{Samples: 1}, fs.ErrExist},
		{"the root", "/", ok, samplecache.Config{Samples: 1}, fs.ErrExist},
		{"no parent", "nowhere/x", ok, samplecache.Config{Samples: 1}, fs.ErrNotExist},
		{"a parent that is a file", "file/x", ok, samplecache.Config{Samples: 1}, syscall.ENOTDIR},
		{"a name that is too long for disks", strings.Repeat("n", 256), ok, samplecache.Config{Samples: 1}, syscall.ENAMETOOLONG},
		{"a zero byte", "a\x00b", ok, samplecache.Config{Samples: 1}, syscall.EINVAL},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			at := home(t)
			inDir(t)
			require.NoError(t, os.WriteFile("file", []byte("mine"), 0o666))
			require.NoError(t, os.Mkdir("dir", 0o777))
			require.NoError(t, os.Symlink("dir", "link"))
			require.NoError(t, os.Symlink("nowhere", "lost"))
			before := contents(".")
			err := dircache.Create(tt.dir, tt.schema, tt.config)
			require.True(t, before == contents("."), "something is left")
			fails(t, at, tt.err, err)
		})
	}
}

// entry returns a dictionary of one entry.
func entry(key string, v tdict.Value) *tdict.TensorDict {
	td := tdict.New()
	if err := td.Set(nestedkey.Of(key), v); err != nil {
		panic(err)
	}
	return td
}

func TestCreateRefusesRagged(t *testing.T) {
	lists := tensor.Must(ragged.From[int8]([][]int8{{1, 2}, {3}}))
	err := dircache.Create(filepath.Join(t.TempDir(), "x"), entry("r", lists), samplecache.Config{Samples: 1})
	require.ErrorIs(t, err, samplecache.ErrSchema)
}

func TestCreateInAParentThatIsNotWritable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	parent := t.TempDir()
	require.NoError(t, os.Chmod(parent, 0o555))
	require.ErrorIs(t, dircache.Create(filepath.Join(parent, "x"), marked(0), samplecache.Config{Samples: 1}), fs.ErrPermission)
}

// TestCreateOddNames makes caches whose directories have odd names, and uses them.
func TestCreateOddNames(t *testing.T) {
	for _, name := range []string{"with space", "ünï¢ode", "new\nline", "-rf", "%s%d", "gen-0000000001", "MANIFEST", "\xff\xfe", strings.Repeat("n", 255), "*", "a'\"b"} {
		t.Run(fmt.Sprintf("%.20q", name), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			require.NoError(t, dircache.Create(dir, marked(0), samplecache.Config{Samples: 2}))
			c := joinSound(t, dir)
			p := putter(t, c, "p")
			for v := range int64(5) {
				require.NoError(t, p.Put(soon(t), marked(v)))
			}
			require.NoError(t, tryOn(dir, harm{}, func(tr *trial) error { return tr.check(c, 2, []int64{2, 3}) }))
		})
	}
}

// TestCreateRelative makes a cache at a relative path, and uses it after the process has moved.
func TestCreateRelative(t *testing.T) {
	inDir(t)
	require.NoError(t, os.Mkdir("elsewhere", 0o777))
	require.NoError(t, dircache.Create("x/", marked(0), samplecache.Config{Samples: 2}))
	c := joinSound(t, "./x")
	t.Chdir("elsewhere")
	p := putter(t, c, "p")
	for v := range int64(5) {
		require.NoError(t, p.Put(soon(t), marked(v)))
	}
	require.NoError(t, c.Close())
}

// createIn is set to a directory in which a process makes one cache after another.
const createIn = "DIRCACHE_TEST_CREATE"

// TestCreateKilled kills processes that make caches. What they leave is removed by the next Create,
// but for what another is at work on, and what is not ours.
func TestCreateKilled(t *testing.T) {
	if parent := os.Getenv(createIn); parent != "" {
		for i := 0; ; i++ {
			if err := dircache.Create(filepath.Join(parent, fmt.Sprint("cache-", i)), marked(0), samplecache.Config{Samples: 100}); err != nil {
				t.Fatal(err)
			}
		}
	}
	parent := t.TempDir()
	mine := []string{".creating-my-thesis/x", ".creating-/x", ".creating-ABCDEFGHI/x", ".creating-abcdefgh/x"}
	for _, name := range mine {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(parent, name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(parent, name), nil, 0o666))
	}
	require.NoError(t, os.Mkdir(filepath.Join(parent, ".creating-ABCDEFGH"), 0o777), "of one who is at work")
	held, err := vfs.TryLock(filepath.Join(parent, ".creating-ABCDEFGH"), vfs.Exclusive)
	require.NoError(t, err)
	leftovers := func() (n int) {
		all, err := filepath.Glob(filepath.Join(parent, ".creating-????????"))
		require.NoError(t, err)
		for _, name := range all {
			if base := filepath.Base(name); base != ".creating-ABCDEFGH" && base != ".creating-abcdefgh" {
				n++
			}
		}
		return n
	}
	for deadline := time.Now().Add(patience); leftovers() == 0; {
		require.True(t, time.Now().Before(deadline), "no kill came in the middle")
		child := exec.Command(os.Args[0], "-test.run=^TestCreateKilled$")
		child.Env = append(os.Environ(), createIn+"="+parent)
		require.NoError(t, child.Start())
		for leftovers() == 0 && time.Now().Before(deadline) {
			time.Sleep(100 * time.Microsecond)
		}
		require.NoError(t, child.Process.Kill())
		_ = child.Wait() // it was killed
		caches, err := filepath.Glob(filepath.Join(parent, "cache-*"))
		require.NoError(t, err)
		for _, dir := range caches {
			require.NoError(t, opened(dir), "a cache is there whole or not at all")
			require.NoError(t, os.RemoveAll(dir))
		}
	}
	require.NoError(t, dircache.Create(filepath.Join(parent, "x"), marked(0), samplecache.Config{Samples: 2}))
	require.Zero(t, leftovers(), "what the dead have left is removed")
	require.DirExists(t, filepath.Join(parent, ".creating-ABCDEFGH"), "another is at work on it")
	require.NoError(t, held.Unlock())
	for _, name := range mine {
		require.FileExists(t, filepath.Join(parent, name), "it is not ours")
	}
}

// TestMisuse uses things wrongly: errors with names, and texts that say what is wrong.
func TestMisuse(t *testing.T) {
	type thing struct {
		ctx  context.Context
		c    *samplecache.Cache
		p    *samplecache.Producer
		slot *samplecache.Slot
		g    *samplecache.Generation
	}
	open := func(eng samplecache.Engine) error {
		return testkit.Err(samplecache.Open(context.Background(), eng, samplecache.Options{}))
	}
	tests := []testkit.Refusal[*thing]{
		{"nil engine", func(*thing) error { return open(nil) }, samplecache.ErrEngine},
		{"zero engine", func(*thing) error { return open(dircache.Engine{}) }, fs.ErrInvalid},
		{"a wrong option", func(*thing) error {
			return testkit.Err(samplecache.Open(context.Background(), dircache.Engine{Dir: "x"}, samplecache.Options{Verify: 9}))
		}, samplecache.ErrConfig},
		{"a context that has ended", func(x *thing) error {
			ctx, cancel := context.WithCancel(x.ctx)
			cancel()
			return testkit.Err(samplecache.Open(ctx, dircache.Engine{Dir: "x"}, samplecache.Options{}))
		}, context.Canceled},
		{"nil sample", func(x *thing) error { return x.p.Put(x.ctx, nil) }, samplecache.ErrSchema},
		{"a sample with a batch shape", func(x *thing) error { return x.p.Put(x.ctx, tdict.New(1)) }, samplecache.ErrSchema},
		{"a sample without a key", func(x *thing) error { return x.p.Put(x.ctx, tdict.New()) }, samplecache.ErrSchema},
		{"a sample of another shape", func(x *thing) error {
			td := marked(1)
			return errors.Join(td.Set("image", tensor.Vector[uint8](1)), x.p.Put(x.ctx, td))
		}, samplecache.ErrSchema},
		{"a sample without elements", func(x *thing) error { return x.p.Put(x.ctx, x.c.Schema()) }, tensor.ErrMeta},
		{"a key set in a slot", func(x *thing) error { return x.slot.Sample().Set("more", tensor.Scalar(int8(1))) }, tdict.ErrLocked},
		{"a key deleted from a slot", func(x *thing) error { return x.slot.Sample().Delete("image") }, tdict.ErrLocked},
		{"a view written", func(x *thing) error {
			image := tensor.Must(tensor.Must(x.g.Slice(0, 2)).Tensor("image"))
			return tensor.Write(image, func(b []uint8) { b[0] = 1 })
		}, tensor.ErrReadOnly},
		{"commit after abort", func(x *thing) error { return errors.Join(x.slot.Abort(), x.slot.Commit(x.ctx)) }, samplecache.ErrClosed},
		{"abort twice", func(x *thing) error { return errors.Join(x.slot.Abort(), x.slot.Abort()) }, samplecache.ErrClosed},
		{"abort after commit", func(x *thing) error { return errors.Join(x.slot.Commit(x.ctx), x.slot.Abort()) }, samplecache.ErrClosed},
		{"a sample after commit", func(x *thing) error {
			return errors.Join(x.slot.Commit(x.ctx), x.slot.Sample().SetIndex(marked(1)))
		}, samplecache.ErrClosed},
		{"a sample read after abort", func(x *thing) error {
			return errors.Join(x.slot.Abort(), testkit.Err(x.slot.Sample().Clone()))
		}, samplecache.ErrClosed},
		{"a slot's slice after commit", func(x *thing) error {
			image := tensor.Must(x.slot.Sample().Tensor("image"))
			return errors.Join(x.slot.Commit(x.ctx), testkit.Err(tensor.Of[uint8](image)))
		}, samplecache.ErrClosed},
		{"a producer closed before its slot", func(x *thing) error { return x.p.Close() }, samplecache.ErrReserved},
		{"a closed producer", func(x *thing) error {
			return errors.Join(x.slot.Abort(), x.p.Close(), x.p.Put(x.ctx, marked(1)))
		}, samplecache.ErrClosed},
		{"a producer closed twice", func(x *thing) error { return errors.Join(x.slot.Abort(), x.p.Close(), x.p.Close()) }, samplecache.ErrClosed},
		{"a producer twice", func(x *thing) error { return testkit.Err(x.c.Producer("p")) }, samplecache.ErrProducerBusy},
		{"a number that is reserved", func(x *thing) error { return testkit.Err(x.p.ReserveAt(x.ctx, x.slot.Number())) }, samplecache.ErrReserved},
		{"a number that is committed", func(x *thing) error { return testkit.Err(x.p.ReserveAt(x.ctx, 0)) }, samplecache.ErrCommitted},
		{"a number without a name", func(x *thing) error {
			return testkit.Err(tensor.Must(x.c.Producer("")).ReserveAt(x.ctx, 0))
		}, samplecache.ErrProducer},
		{"a name that is too long", func(x *thing) error { return testkit.Err(x.c.Producer(strings.Repeat("n", 65))) }, samplecache.ErrProducer},
		{"to forget one that is busy", func(x *thing) error { return x.c.Forget(x.ctx, "p") }, samplecache.ErrProducerBusy},
		{"to forget nobody", func(x *thing) error { return x.c.Forget(x.ctx, "q") }, samplecache.ErrProducer},
		{"to forget no name", func(x *thing) error { return x.c.Forget(x.ctx, "") }, samplecache.ErrProducer},
		{"generation 0", func(x *thing) error { return testkit.Err(x.c.At(x.ctx, 0)) }, samplecache.ErrGenerationGone},
		{"one to come", func(x *thing) error { return testkit.Err(x.c.At(x.ctx, 2)) }, samplecache.ErrGenerationGone},
		{"one that cannot be", func(x *thing) error { return testkit.Err(x.c.At(x.ctx, 1<<63)) }, samplecache.ErrGenerationGone},
		{"a row that is none", func(x *thing) error { return testkit.Err(x.g.Fetch(x.ctx, []int{2}, nil)) }, shapeops.ErrIndex},
		{"a row below 0", func(x *thing) error { return testkit.Err(x.g.Info(-1)) }, shapeops.ErrIndex},
		{"rows in reverse", func(x *thing) error { return testkit.Err(x.g.Slice(1, 0)) }, shapeops.ErrIndex},
		{"a closed generation", func(x *thing) error {
			return errors.Join(x.g.Close(), testkit.Err(x.g.Fetch(x.ctx, []int{0}, nil)))
		}, samplecache.ErrClosed},
		{"a view of a closed generation", func(x *thing) error {
			view := tensor.Must(x.g.Slice(0, 2))
			return errors.Join(x.g.Close(), testkit.Err(view.Clone()))
		}, samplecache.ErrClosed},
		{"a generation closed twice", func(x *thing) error { return errors.Join(x.g.Close(), x.g.Close()) }, samplecache.ErrClosed},
		{"a group without a name", func(x *thing) error { return testkit.Err(x.c.Group("", 1).Epoch(x.ctx, 0)) }, samplecache.ErrGroup},
		{"a group of none", func(x *thing) error { return testkit.Err(x.c.Group("g", 0).Epoch(x.ctx, 0)) }, samplecache.ErrGroup},
		{"a group of too many", func(x *thing) error { return testkit.Err(x.c.Group("g", 1<<20).Epoch(x.ctx, 0)) }, samplecache.ErrGroup},
		{"an epoch that cannot be", func(x *thing) error { return testkit.Err(x.c.Group("g", 1).Epoch(x.ctx, 1<<63)) }, samplecache.ErrGroup},
		{"to keep what is not there", func(x *thing) error { return x.c.Keep(x.ctx, 7, "kept") }, samplecache.ErrGenerationGone},
		{"to keep at a file", func(x *thing) error { return x.c.Keep(x.ctx, 1, "file") }, fs.ErrExist},
		{"an epoch after Close", func(x *thing) error {
			return errors.Join(x.c.Close(), testkit.Err(x.c.Group("g", 1).Epoch(x.ctx, 0)))
		}, samplecache.ErrClosed},
		{"a producer after Close", func(x *thing) error { return errors.Join(x.c.Close(), testkit.Err(x.c.Producer("q"))) }, samplecache.ErrClosed},
		{"a slot after Close", func(x *thing) error { return errors.Join(x.c.Close(), x.slot.Commit(x.ctx)) }, samplecache.ErrClosed},
		{"the latest after Close", func(x *thing) error { return errors.Join(x.c.Close(), testkit.Err(x.c.Latest(x.ctx))) }, samplecache.ErrClosed},
		{"to wait after Close", func(x *thing) error { return errors.Join(x.c.Close(), testkit.Err(x.c.Wait(x.ctx, 9))) }, samplecache.ErrClosed},
		{"stats after Close", func(x *thing) error { return errors.Join(x.c.Close(), testkit.Err(x.c.Stats())) }, samplecache.ErrClosed},
		{"Close twice", func(x *thing) error { return errors.Join(x.c.Close(), x.c.Close()) }, samplecache.ErrClosed},
	}
	for _, tt := range tests {
		t.Run(tt.Name, func(t *testing.T) {
			at := home(t)
			inDir(t)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			require.NoError(t, os.WriteFile("file", nil, 0o666))
			require.NoError(t, dircache.Create("x", marked(0), samplecache.Config{Samples: 2}))
			c := joinSound(t, "x")
			x := &thing{ctx: ctx, c: c, p: putter(t, c, "p")}
			for v := range int64(2) {
				require.NoError(t, x.p.Put(ctx, marked(v)))
			}
			var err error
			x.g, err = c.Latest(ctx)
			require.NoError(t, err)
			x.slot, err = x.p.Reserve(ctx)
			require.NoError(t, err)
			err = tt.Op(x)
			require.NotErrorIs(t, err, context.DeadlineExceeded)
			if strings.Contains(tt.Name, "producer twice") {
				err = &placeless{err, fmt.Sprint(os.Getpid()), "PID"}
			}
			fails(t, at, tt.Is, err)
		})
	}
}

// TestCommitTwice commits a slot again, which changes nothing.
func TestCommitTwice(t *testing.T) {
	s := newSpecimen(t)
	c := joinSound(t, s.write(t))
	p := putter(t, c, "gen-7")
	slot, err := p.Reserve(soon(t))
	require.NoError(t, err)
	require.NoError(t, slot.Sample().SetIndex(marked(6)))
	for range 3 {
		require.NoError(t, slot.Commit(soon(t)))
	}
	require.EqualValues(t, 7, p.Next())
}

// writing writes a slot's sample in another goroutine, until end is called.
func writing(t *testing.T, slot *samplecache.Slot) (end func() error) {
	t.Helper()
	image := tensor.Must(slot.Sample().Tensor("image"))
	began, stop, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- tensor.Write(image, func(b []uint8) {
			close(began)
			<-stop
			copy(b, tensor.Must(tdict.Slice[uint8](marked(6), "image")))
		})
	}()
	<-began
	return func() error { close(stop); return <-done }
}

// TestCommitWaitsForWriters commits while another writes: it waits, and its context ends that.
func TestCommitWaitsForWriters(t *testing.T) {
	s := newSpecimen(t)
	c := joinSound(t, s.write(t))
	slot, err := putter(t, c, "gen-7").Reserve(soon(t))
	require.NoError(t, err)
	require.NoError(t, slot.Sample().SetIndex(marked(6)))
	end := writing(t, slot)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- slot.Commit(ctx) }()
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	go func() { done <- slot.Commit(soon(t)) }()
	require.NoError(t, end())
	require.NoError(t, <-done)
	g, err := c.Latest(soon(t))
	require.NoError(t, err)
	td, err := g.Fetch(soon(t), []int{2}, nil)
	require.NoError(t, err)
	require.EqualValues(t, 6, tensor.Must(shown(td)))
	require.NoError(t, g.Close())
}

// TestCloseWhileWriting closes the cache, and aborts, in the middle of a write, by the goroutine
// that writes: neither waits for it, and the memory stays until it is done.
func TestCloseWhileWriting(t *testing.T) {
	for name, end := range map[string]func(c *samplecache.Cache, slot *samplecache.Slot) error{
		"close": func(c *samplecache.Cache, _ *samplecache.Slot) error { return c.Close() },
		"abort": func(_ *samplecache.Cache, slot *samplecache.Slot) error { return slot.Abort() },
		"abort and close": func(c *samplecache.Cache, slot *samplecache.Slot) error {
			return errors.Join(slot.Abort(), c.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSpecimen(t)
			dir := s.write(t)
			require.NoError(t, tryOn(dir, harm{}, func(tr *trial) error {
				c, err := tr.open()
				if err != nil {
					return err
				}
				defer c.Close()
				p, err := c.Producer("gen-7")
				if err != nil {
					return err
				}
				slot, err := p.Reserve(tr.ctx)
				if err != nil {
					return err
				}
				image, err := slot.Sample().Tensor("image")
				if err != nil {
					return err
				}
				var failed error
				err = tensor.Write(image, func(b []uint8) {
					failed = end(c, slot)
					for i := range b {
						b[i] = 9
					}
				})
				return errors.Join(err, failed)
			}))
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			p := putter(t, joinSound(t, dir), "other")
			require.NoError(t, p.Put(ctx, marked(102)), "the slot is free")
		})
	}
}

// TestSlotEndsOnce commits, aborts and closes from many goroutines: a slot ends in one way.
func TestSlotEndsOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, dircache.Create(dir, marked(0), samplecache.Config{Samples: 1000}))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for round := range 60 {
		c := joinSound(t, dir)
		p := putter(t, c, "p")
		next := p.Next()
		slot, err := p.Reserve(ctx)
		require.NoError(t, err)
		require.NoError(t, slot.Sample().SetIndex(marked(1)))
		var wg sync.WaitGroup
		errs := make([]error, 7)
		for i := range errs {
			wg.Go(func() {
				switch {
				case i == 6 && round%3 == 0:
					_ = c.Close()
				case i%2 == 0:
					errs[i] = slot.Commit(ctx)
				default:
					errs[i] = slot.Abort()
				}
			})
		}
		wg.Wait()
		_ = c.Close()
		committed, aborted := false, 0
		for i, err := range errs {
			if err != nil {
				require.ErrorIs(t, err, samplecache.ErrClosed)
			} else if i%2 == 0 && !(i == 6 && round%3 == 0) {
				committed = true
			} else if i%2 == 1 {
				aborted++
			}
		}
		require.LessOrEqual(t, aborted, 1)
		require.False(t, committed && aborted > 0)
		c = joinSound(t, dir)
		got := putter(t, c, "p").Next()
		require.Equal(t, committed, got == next+1, "acknowledged %v, got %d after %d", committed, got, next)
		require.NoError(t, c.Close())
	}
}

// TestSlotSlices has slices of a slot's leaves: they are the place itself.
func TestSlotSlices(t *testing.T) {
	s := newSpecimen(t)
	c := joinSound(t, s.write(t))
	slot, err := putter(t, c, "gen-7").Reserve(soon(t))
	require.NoError(t, err)
	for key, x := range marked(6).Tensors() {
		to := tensor.Must(slot.Sample().Tensor(key))
		switch key {
		case "image":
			copy(tensor.Must(tensor.Of[uint8](to)), tensor.Must(tensor.Of[uint8](x)))
		case "deep/n":
			copy(tensor.Must(tensor.Of[int64](to)), tensor.Must(tensor.Of[int64](x)))
		default:
			require.Empty(t, tensor.Must(tensor.Of[float32](to)))
		}
	}
	require.NoError(t, slot.Commit(soon(t)))
	g, err := c.Latest(soon(t))
	require.NoError(t, err)
	view := tensor.Must(g.Slice(2, 3))
	require.EqualValues(t, 6, tensor.Must(shown(tensor.Must(g.Fetch(soon(t), []int{2}, nil)))))
	image, err := tensor.Of[uint8](tensor.Must(view.Tensor("image")))
	if err == nil { // a loan that pins
		require.Equal(t, tensor.Must(tdict.Slice[uint8](marked(6), "image")), image)
	} else {
		require.ErrorIs(t, err, tensor.ErrReadOnly)
	}
	require.NoError(t, g.Close())
}

// TestNamesOfProducers gives producers odd names: what is taken is found again after everybody was
// gone, and after the control file was made anew; the rest is refused.
func TestNamesOfProducers(t *testing.T) {
	names := []string{"a", strings.Repeat("x", 64), strings.Repeat("ü", 32), "new\nline", "\x00", "a\x00b", `"quoted"\`, "<&>", "\u2028", "\xff", "a\xffb", "\xed\xa0\x80"}
	s := newSpecimen(t)
	for _, name := range names {
		t.Run(fmt.Sprintf("%.20q", name), func(t *testing.T) {
			dir := s.write(t)
			c := joinSound(t, dir)
			p, err := c.Producer(name)
			if err != nil {
				require.ErrorIs(t, err, samplecache.ErrProducer)
				_, err = c.Group(name, 1).Epoch(soon(t), 0)
				require.ErrorIs(t, err, samplecache.ErrGroup, "groups are named alike")
				return
			}
			for v := range int64(5) {
				require.NoError(t, p.Put(soon(t), marked(v)))
			}
			require.NoError(t, c.Close())
			require.NoError(t, os.Remove(filepath.Join(dir, "control")))
			c = joinSound(t, dir)
			require.EqualValues(t, 5, putter(t, c, name).Next())
			g, err := c.Latest(soon(t))
			require.NoError(t, err)
			info, err := g.Info(1)
			require.NoError(t, err)
			require.Equal(t, name, info.Producer)
			require.NoError(t, g.Close())
			e, err := c.Group(name, 1).Epoch(soon(t), 1<<40)
			require.NoError(t, err, "and an epoch may have a large number")
			require.NoError(t, e.Close())
		})
	}
}
