//go:build unix

package dircache_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
)

var flipsFlag = flag.String("flips", "", "which bytes of a cache tests damage: some, or full for all")

// patience is when something counts as hung.
const patience = 20 * time.Second

// soon returns a context that ends when something counts as hung.
func soon(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// A specimen is a small cache, at rest: generations 1 and 2 are published, 3 has two of its three
// samples. Sample v of generation g is in row of byG[g].
type specimen struct {
	files map[string][]byte // by their paths; directories, which end in a slash, have none
	links map[string]string
	byG   map[uint64][]int64
}

// marked returns a sample from which one sees that it is v, and nothing else.
func marked(v int64) *tdict.TensorDict {
	image := make([]uint8, 16)
	for i := range image {
		image[i] = uint8(v*7 + int64(i))
	}
	return tensor.Must(tdict.FromMap(nil, tdict.Entries{
		"image":  tensor.Must(tensor.From(image, 4, 4)),
		"deep/n": tensor.Must(tensor.From([]int64{v}, 1)),
		"none":   tensor.Must(tensor.New(tensor.Float32, 0, 3)),
	}))
}

// shown returns which sample the only row of td is, or an error if it is none.
func shown(td *tdict.TensorDict) (int64, error) {
	var n []int64
	var image []uint8
	var err error
	if n, err = tdict.Slice[int64](td, "deep/n"); err == nil {
		image, err = tdict.Slice[uint8](td, "image")
	}
	if err != nil {
		return 0, err
	}
	for i, b := range image {
		if b != uint8(n[0]*7+int64(i)) {
			return 0, fmt.Errorf("other data: %d with image %v", n[0], image)
		}
	}
	return n[0], nil
}

// newSpecimen makes a specimen, and keeps its files in memory.
func newSpecimen(t *testing.T) *specimen {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, dircache.Create(dir, marked(0), samplecache.Config{Samples: 3}))
	c := joinSound(t, dir)
	one, two := putter(t, c, "gen-7"), putter(t, c, "other")
	for v := range int64(5) {
		require.NoError(t, one.Put(soon(t), marked(v)))
	}
	require.NoError(t, two.Put(soon(t), marked(100)))
	require.NoError(t, one.Put(soon(t), marked(5)))
	require.NoError(t, two.Put(soon(t), marked(101)))
	_, err := c.Group("train", 1).Epoch(soon(t), 0) // which is left in the counts
	require.NoError(t, err)
	require.NoError(t, c.Close())
	s := &specimen{map[string][]byte{}, map[string]string{}, map[uint64][]int64{1: {0, 1, 2}, 2: {3, 4, 100}, 3: {5, 101}}}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		switch {
		case err != nil:
		case d.IsDir():
			s.files[rel+"/"] = nil
		case d.Type() == fs.ModeSymlink:
			s.links[rel], err = os.Readlink(path)
		default:
			s.files[rel], err = os.ReadFile(path)
		}
		return err
	}))
	return s
}

// names returns the paths of the files, sorted.
func (s *specimen) names() (names []string) {
	for name := range s.files {
		if !strings.HasSuffix(name, "/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// write makes a copy of the specimen.
func (s *specimen) write(t testing.TB) (dir string) {
	t.Helper()
	dir = filepath.Join(testkit.MemoryDir(t), "cache")
	require.NoError(t, s.writeTo(dir))
	return dir
}

func (s *specimen) writeTo(dir string) error {
	err := os.MkdirAll(dir, 0o777)
	for name := range s.files {
		if strings.HasSuffix(name, "/") {
			err = errors.Join(err, os.MkdirAll(filepath.Join(dir, name), 0o777))
		}
	}
	for name, b := range s.files {
		if !strings.HasSuffix(name, "/") {
			err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), b, 0o666))
		}
	}
	for name, to := range s.links {
		err = errors.Join(err, os.Symlink(to, filepath.Join(dir, name)))
	}
	return err
}

// joinSound opens a cache that nothing is wrong with.
func joinSound(t testing.TB, dir string) *samplecache.Cache {
	t.Helper()
	c, err := samplecache.Open(soon(t), dircache.Engine{Dir: dir}, samplecache.Options{
		OnError: func(err error) { t.Errorf("told: %v", err) }})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func putter(t testing.TB, c *samplecache.Cache, name string) *samplecache.Producer {
	t.Helper()
	p, err := c.Producer(name)
	require.NoError(t, err)
	return p
}

// A harm is something done to the files of a cache.
type harm struct {
	file string
	name string
	do   func(path string) error
}

func (h harm) String() string { return h.file + ": " + h.name }

func flip(file string, at int64, mask byte) harm {
	return harm{file, fmt.Sprintf("byte %d flipped by %#x", at, mask), func(path string) error {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		var b [1]byte
		_, err = f.ReadAt(b[:], at)
		b[0] ^= mask
		if err == nil {
			_, err = f.WriteAt(b[:], at)
		}
		return errors.Join(err, f.Close())
	}}
}

func cut(file string, size int64) harm {
	return harm{file, fmt.Sprintf("cut to %d bytes", size), func(path string) error { return os.Truncate(path, size) }}
}

// harms returns what is done to the files: every step-th byte flipped, and cuts.
func (s *specimen) harms(step int) (all []harm) {
	for _, name := range s.names() {
		size, n := len(s.files[name]), step
		if name == "control" { // each kind of word is done by its own test
			n *= 9
		}
		if *flipsFlag == "full" {
			n = 1
		}
		for at := len(name) % n; at < size; at += n {
			if first, second := dircache.CountsAt(); at > int(first)+64 && at < int(second) {
				at = int(second) // nobody reads what lies between
			}
			all = append(all, flip(name, int64(at), []byte{0x01, 0xFF, 0x80}[at%3]))
		}
		for part := 0; part < 8; part += min(n, 4) {
			if keep := size * part / 8; keep < size {
				all = append(all, cut(name, int64(keep)))
			}
		}
		if size > 1 {
			all = append(all, cut(name, int64(size-1)))
		}
	}
	return all
}

// A trial is one use of a cache to which something was done.
type trial struct {
	dir    string
	h      harm
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu   sync.Mutex
	told []error // all errors that somebody was given
}

// tryOn runs fn, which must end soon.
func tryOn(dir string, h harm, fn func(tr *trial) error) (err error) {
	tr := &trial{dir: dir, h: h}
	tr.ctx, tr.cancel = context.WithCancelCause(context.Background())
	defer tr.cancel(nil)
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("panic: %v\n%s", r, stack())
			}
		}()
		done <- fn(tr)
	}()
	select {
	case err = <-done:
	case <-time.After(patience):
		err = fmt.Errorf("hangs\n%s", stack())
		tr.cancel(err)
	}
	if err != nil {
		return fmt.Errorf("%v: %w", h, err)
	}
	return nil
}

// underRace reports whether the race detector is on. It does atomic operations in C, where a fault,
// as in a control file that is cut while it is mapped, ends the process; else that is an error.
func underRace() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// stack returns what all goroutines do.
func stack() []byte {
	b := make([]byte, 1<<16)
	return b[:runtime.Stack(b, true)]
}

// tell takes an error that somebody was given. It returns another one if that is not a named one.
func (tr *trial) tell(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return nil
	}
	tr.mu.Lock()
	tr.told = append(tr.told, err)
	tr.mu.Unlock()
	return named(err)
}

// heardOf reports whether somebody was given an error.
func (tr *trial) heardOf() error {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return errors.Join(tr.told...)
}

// hears reports whether somebody is given an error, which OnError may be a moment later.
func (tr *trial) hears() bool {
	for end := time.Now().Add(5 * time.Second); tr.heardOf() == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// named returns an error unless err says by name what is wrong, and where.
func named(err error) error {
	known := []error{
		samplecache.ErrCorrupt, samplecache.ErrChecksum, memmap.ErrCorrupt, memmap.ErrFault, memmap.ErrUnsupported,
		errors.ErrUnsupported, fs.ErrNotExist, samplecache.ErrGenerationGone, memmap.ErrReplaced,
	}
	if !slices.ContainsFunc(known, func(want error) bool { return errors.Is(err, want) }) {
		return fmt.Errorf("unclassified error: %w", err)
	}
	_, ofCache := errors.AsType[*dircache.Error](err)
	_, ofRow := errors.AsType[*samplecache.RowError](err)
	_, ofFile := errors.AsType[*memmap.DatasetError](err)
	if !ofCache && !ofRow && !ofFile && !strings.Contains(err.Error(), "generation ") {
		return fmt.Errorf("the error does not say where: %w", err)
	}
	return nil
}

// open opens the cache. What it tells ends what waits.
func (tr *trial) open() (*samplecache.Cache, error) {
	c, err := samplecache.Open(tr.ctx, dircache.Engine{Dir: tr.dir}, samplecache.Options{OnError: func(err error) {
		_ = tr.tell(err)
		tr.cancel(fmt.Errorf("told: %w", err))
	}})
	return c, err
}

// read reads a generation row by row: each is what want has, or a named error. It returns what it
// could read.
func (tr *trial) read(g *samplecache.Generation) (got []int64, err error) {
	for row := range g.Len() {
		td, failed := g.Fetch(context.Background(), []int{row}, nil)
		if failed != nil {
			err = errors.Join(err, tr.tell(failed))
			got = append(got, -1)
			continue
		}
		v, failed := shown(td)
		err = errors.Join(err, failed)
		got = append(got, v)
	}
	return got, err
}

// check opens a generation, which has the rows wanted, or errors in their place.
func (tr *trial) check(c *samplecache.Cache, id uint64, want []int64) error {
	g, err := c.At(context.Background(), id)
	if err != nil {
		return tr.tell(err)
	}
	got, err := tr.read(g)
	lost := 0
	for i, v := range got {
		if v == -1 {
			lost++
		} else if v != want[i] {
			err = errors.Join(err, fmt.Errorf("generation %d, row %d: got sample %d, want %d", id, i, v, want[i]))
		}
	}
	if lost > 1 && !strings.HasSuffix(tr.h.name, "bytes") {
		err = errors.Join(err, fmt.Errorf("generation %d: one byte costs %d rows: %w", id, lost, tr.heardOf()))
	}
	return errors.Join(err, g.Close())
}

// numbers checks that a producer knows what it has committed, and returns it; nil if there is an
// error that says so.
func (tr *trial) numbers(c *samplecache.Cache, name string, want uint64) (*samplecache.Producer, error) {
	p, err := c.Producer(name)
	if err != nil {
		return nil, tr.tell(err)
	}
	if got := p.Next(); got != want && !tr.hears() {
		return p, fmt.Errorf("producer %q: got number %d next, want %d: forgotten, without an error", name, got, want)
	}
	return p, nil
}

// fill puts samples from v on until generation 3 is published, and checks that it has what was
// acknowledged, unless there was an error about that.
func (tr *trial) fill(c *samplecache.Cache, p *samplecache.Producer, v int64) error {
	acked := []int64{5, 101}
	for range 4 {
		s, err := c.Stats()
		if err != nil {
			return tr.tell(err)
		}
		if s.Latest >= 3 {
			break
		}
		if err := p.Put(tr.ctx, marked(v)); err != nil {
			if errors.Is(err, context.Canceled) {
				return nil // it was told
			}
			return tr.tell(err)
		}
		acked = append(acked, v)
		v++
	}
	g, err := c.Wait(tr.ctx, 2)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return tr.tell(err)
	}
	got, err := tr.read(g)
	for _, want := range acked[:3] {
		if !slices.Contains(got, want) && !tr.hears() {
			err = errors.Join(err, fmt.Errorf("lost sample %d without an error: generation 3 has %v of %v", want, got, acked))
		}
	}
	for i, v := range got {
		if v != -1 && (!slices.Contains(acked, v) || slices.Contains(got[:i], v)) {
			err = errors.Join(err, fmt.Errorf("generation 3 has %v, want once each of %v", got, acked))
		}
	}
	return errors.Join(err, g.Close())
}

// use opens a damaged cache and does with it what there is to do.
func (tr *trial) use(s *specimen) (err error) {
	c, err := tr.open()
	if err != nil {
		return tr.tell(err)
	}
	defer func() { err = errors.Join(err, tr.tell(c.Close())) }()
	return tr.work(s, c)
}

func (tr *trial) work(s *specimen, c *samplecache.Cache) error {
	err := errors.Join(tr.check(c, 1, s.byG[1]), tr.check(c, 2, s.byG[2]))
	if err != nil {
		return err
	}
	p, err := tr.numbers(c, "gen-7", 6)
	if err != nil {
		return err
	}
	if _, err := tr.numbers(c, "other", 2); err != nil {
		return err
	}
	if p != nil {
		return tr.fill(c, p, 6)
	}
	return nil
}

// inParallel runs a trial for each harm, on a few copies of the specimen at a time, and fails the
// test with the first few of what goes wrong.
func inParallel(t *testing.T, harms []harm, fn func(dir string, h harm) error) {
	t.Helper()
	top := testkit.MemoryDir(t)
	queue := make(chan int)
	var mu sync.Mutex
	failed := 0
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := range queue {
				dir := filepath.Join(top, fmt.Sprint(i))
				if err := fn(dir, harms[i]); err != nil {
					mu.Lock()
					if failed++; failed <= 8 {
						t.Error(err)
					}
					mu.Unlock()
				}
				_ = os.RemoveAll(dir)
			}
		})
	}
	for i := range harms {
		if mu.Lock(); failed < 30 {
			mu.Unlock()
			queue <- i
			continue
		}
		mu.Unlock()
		break
	}
	close(queue)
	wg.Wait()
	t.Logf("%d of %d trials failed", failed, len(harms))
}

// TestW15AtRest damages caches that nobody has open.
func TestW15AtRest(t *testing.T) {
	s := newSpecimen(t)
	inParallel(t, s.harms(longtests.Times(151, 61)), func(dir string, h harm) error {
		if err := errors.Join(s.writeTo(dir), h.do(filepath.Join(dir, h.file))); err != nil {
			return err
		}
		err := tryOn(dir, h, func(tr *trial) error { return tr.use(s) })
		if err != nil || h.file != "control" {
			return err
		}
		return tryOn(dir, h, func(tr *trial) error { return tr.healed() })
	})
}

// healed checks that a control file that was damaged is sound once everybody has left: its content
// is in other files too.
func (tr *trial) healed() error {
	c, err := tr.open()
	if err != nil {
		return fmt.Errorf("opened again: %w", err)
	}
	for _, name := range []string{"gen-7", "other"} {
		if _, err := c.Producer(name); err != nil {
			return errors.Join(fmt.Errorf("opened again: %w", err), c.Close())
		}
	}
	_, err = c.Stats()
	return errors.Join(err, c.Close())
}

// TestW15InUse damages caches that are in use, by somebody who goes on.
func TestW15InUse(t *testing.T) {
	s := newSpecimen(t)
	harms := slices.DeleteFunc(s.harms(longtests.Times(251, 101)), func(h harm) bool {
		return underRace() && h.file == "control" && strings.HasPrefix(h.name, "cut")
	})
	inParallel(t, harms, func(dir string, h harm) error {
		if err := s.writeTo(dir); err != nil {
			return err
		}
		err := tryOn(dir, h, func(tr *trial) (err error) {
			c, err := tr.open()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, tr.tell(c.Close())) }()
			g, err := c.Group("train", 1).Epoch(tr.ctx, 0)
			if err != nil {
				return err
			}
			if err := h.do(filepath.Join(dir, h.file)); err != nil {
				return err
			}
			got, err := tr.read(g)
			for i, v := range got {
				if v != -1 && v != s.byG[2][i] {
					err = errors.Join(err, fmt.Errorf("row %d of generation 2: got sample %d", i, v))
				}
			}
			err = errors.Join(err, tr.tell(g.Close()), tr.work(s, c))
			_, failed := c.Group("train", 1).Epoch(tr.ctx, 1)
			return errors.Join(err, tr.tell(failed))
		})
		if err != nil || strings.HasPrefix(h.file, "gen-0000000003") {
			return err
		}
		return tryOn(dir, h, func(tr *trial) error { return tr.reuse() })
	})
}

// reuse opens a cache whose damage others have seen: what can be read is right.
func (tr *trial) reuse() error {
	c, err := tr.open()
	if err != nil {
		return tr.tell(err)
	}
	for id := range uint64(5) {
		g, failed := c.At(context.Background(), id)
		if failed != nil {
			err = errors.Join(err, tr.tell(failed))
			continue
		}
		_, failed = tr.read(g)
		err = errors.Join(err, failed, g.Close())
	}
	return errors.Join(err, tr.tell(c.Close()))
}

// TestW15Views damages what is read through views: a sample that was compared is read as the file
// is, one that is compared each time is an error, and one that was cut off is a fault, not a crash.
func TestW15Views(t *testing.T) {
	s := newSpecimen(t)
	tests := []struct {
		name string
		h    harm
		err  error
	}{
		{"a byte of a leaf", flip("gen-0000000002/image.memmap", 20, 0xFF), samplecache.ErrChecksum},
		{"a leaf is empty", cut("gen-0000000002/image.memmap", 0), memmap.ErrFault},
		{"a leaf is shorter", cut("gen-0000000002/image.memmap", 20), memmap.ErrFault},
		{"a byte of a record", flip("gen-0000000002/.samples", 64+120+50, 1), samplecache.ErrChecksum},
		{"no records", cut("gen-0000000002/.samples", 0), memmap.ErrFault},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := s.write(t)
			c, err := samplecache.Open(soon(t), dircache.Engine{Dir: dir}, samplecache.Options{Verify: samplecache.Always})
			require.NoError(t, err)
			defer c.Close()
			g, err := c.Latest(t.Context())
			require.NoError(t, err)
			view, err := g.Slice(0, 3)
			require.NoError(t, err)
			require.NoError(t, tt.h.do(filepath.Join(dir, tt.h.file)))
			_, err = g.Fetch(soon(t), []int{1}, nil)
			require.ErrorIs(t, err, tt.err)
			row, ok := errors.AsType[*samplecache.RowError](err)
			require.True(t, ok, "got %v, want an error that names the row", err)
			require.EqualValues(t, 2, row.Generation)
			require.Equal(t, 1, row.Row)
			if strings.Contains(tt.h.file, "image") {
				require.Equal(t, "image", row.Key)
			}
			_, err = view.Clone() // reads all of it
			if tt.err == memmap.ErrFault && row.Key != "" {
				require.ErrorIs(t, err, memmap.ErrFault)
			} else {
				require.NoError(t, err)
			}
			require.NoError(t, g.Close())
		})
	}
}

// TestW15DamageIsTold counts what a damaged record of an acknowledged sample costs: that sample,
// and an error about it, though the sample that completes the generation is acknowledged.
func TestW15DamageIsTold(t *testing.T) {
	s := newSpecimen(t)
	dir := s.write(t)
	told := make(chan error, 10)
	c, err := samplecache.Open(soon(t), dircache.Engine{Dir: dir}, samplecache.Options{OnError: func(err error) { told <- err }})
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, flip("", 64+20, 0xFF).do(filepath.Join(dir, "gen-0000000003/.samples")))
	p := putter(t, c, "gen-7")
	require.NoError(t, p.Put(soon(t), marked(6)))
	select {
	case err := <-told:
		require.ErrorIs(t, err, samplecache.ErrCorrupt)
		require.NoError(t, named(err))
	case <-time.After(patience):
		t.Error("a sample that was acknowledged is lost, and nobody is told")
	}
	st, err := c.Stats()
	require.NoError(t, err)
	require.EqualValues(t, 2, st.Latest, "the affected generation is not published")
	require.NoError(t, p.Put(soon(t), marked(7)))
	g, err := c.Latest(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 3, g.ID())
	require.NoError(t, g.Close())
}
