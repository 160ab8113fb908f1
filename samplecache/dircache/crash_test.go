//go:build unix

package dircache_test

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A stamp is what a sample says of itself: who put it, and its number.
type stamp struct{ who, number int64 }

// unnamed is the least who of producers without a name.
const unnamed = 1000

// nobodyElse is the test itself without a name.
const nobodyElse = 1 << 40

// producerOf returns the name of a producer.
func producerOf(who int64) string {
	if who >= unnamed {
		return ""
	}
	return fmt.Sprintf("p%d", who)
}

// sum returns what a sample must have besides the stamp.
func (m stamp) sum() uint32 {
	return crc32.ChecksumIEEE(fmt.Appendf(nil, "%d of %d", m.number, m.who))
}

// pixels are the bytes of an image.
const pixels = 61

// write sets the elements of a sample.
func (m stamp) write(td *tdict.TensorDict) error {
	x, err := tdict.Get[*tensor.Tensor](td, "deep/mark")
	if err == nil {
		err = tensor.Write(x, func(s []int64) { s[0], s[1], s[2] = m.who, m.number, int64(m.sum()) })
	}
	if err == nil {
		x, err = tdict.Get[*tensor.Tensor](td, "image")
	}
	if err == nil {
		err = tensor.Write(x, func(s []uint8) {
			for i := range s {
				s[i] = uint8(m.sum()>>(i%4*8)) + uint8(i)
			}
		})
	}
	return err
}

// marked returns a sample.
func (m stamp) marked() *tdict.TensorDict {
	td := tensor.Must(tdict.FromMap(nil, tdict.Entries{
		"image":     tensor.Must(tensor.New(tensor.Uint8, pixels)),
		"deep/mark": tensor.Must(tensor.New(tensor.Int64, 3)),
		"none":      tensor.Must(tensor.New(tensor.Float32, 0, 3)),
	}))
	if err := m.write(td); err != nil {
		panic(err)
	}
	return td
}

// errTorn says that a sample is not what anybody put.
var errTorn = errors.New("torn")

// stampsOf returns the stamps of all rows of a dictionary, whose images must be theirs.
func stampsOf(td *tdict.TensorDict) ([]stamp, error) {
	image, err := tdict.Slice[uint8](td, "image")
	if err != nil {
		return nil, err
	}
	words, err := tdict.Slice[int64](td, "deep/mark")
	if err != nil {
		return nil, err
	}
	stamps := make([]stamp, len(words)/3)
	for row := range stamps {
		m := stamp{words[row*3], words[row*3+1]}
		if words[row*3+2] != int64(m.sum()) {
			return nil, fmt.Errorf("%w: row %d says %v", errTorn, row, m)
		}
		for i, got := range image[row*pixels:][:pixels] {
			if want := uint8(m.sum()>>(i%4*8)) + uint8(i); got != want {
				return nil, fmt.Errorf("%w: row %d, %v: pixel %d: got %d, want %d", errTorn, row, m, i, got, want)
			}
		}
		stamps[row] = m
	}
	return stamps, nil
}

// readStamps returns the stamps of a generation, which must agree with what the cache says of its
// rows.
func readStamps(ctx context.Context, g *samplecache.Generation) ([]stamp, error) {
	rows := make([]int, g.Len())
	for i := range rows {
		rows[i] = i
	}
	td, err := g.Fetch(ctx, rows, nil)
	if err != nil {
		return nil, err
	}
	stamps, err := stampsOf(td)
	for row, m := range stamps {
		info, failed := g.Info(row)
		if name := producerOf(m.who); failed == nil && (info.Producer != name || name != "" && info.Number != uint64(m.number)) {
			failed = fmt.Errorf("generation %d: row %d: got %q number %d, want %v", g.ID(), row, info.Producer, info.Number, m)
		}
		err = errors.Join(err, failed)
	}
	return stamps, err
}

// A ledger has what processes have told: the samples they were about to commit, those they heard to
// be committed, and those they saw in generations. Safe for concurrent use.
type ledger struct {
	mu           sync.Mutex
	begun, acked map[stamp]bool
	seen         map[uint64][]stamp
	kept         map[string]uint64
	trouble      []string
}

func newLedger() *ledger {
	return &ledger{begun: map[stamp]bool{}, acked: map[stamp]bool{}, seen: map[uint64][]stamp{}, kept: map[string]uint64{}}
}

// saw enters a generation, which must be what others saw.
func (l *ledger) saw(id uint64, stamps []stamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if was := l.seen[id]; was != nil && !slices.Equal(was, stamps) {
		l.trouble = append(l.trouble, fmt.Sprintf("generation %d is %v and %v", id, was, stamps))
	}
	l.seen[id] = stamps
}

// has reports whether a generation was seen.
func (l *ledger) has(id uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen[id] != nil
}

func (l *ledger) begins(m stamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun[m] = true
}

func (l *ledger) acks(m stamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acked[m] = true
}

// hears enters an error that nobody waited for.
func (l *ledger) hears(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trouble = append(l.trouble, "heard of "+err.Error())
}

// read enters a line of a process.
func (l *ledger) read(line string) {
	what, rest, _ := strings.Cut(line, " ")
	var m stamp
	var id uint64
	switch what {
	case "put", "ok":
		if _, err := fmt.Sscan(rest, &m.who, &m.number); err != nil {
			return // the line was cut
		}
		if what == "put" {
			l.begins(m)
		} else {
			l.acks(m)
		}
	case "saw":
		text, list, _ := strings.Cut(rest, " ")
		_, _ = fmt.Sscan(text, &id)
		var stamps []stamp
		for _, one := range strings.Fields(list) {
			_, _ = fmt.Sscanf(one, "%d:%d", &m.who, &m.number)
			stamps = append(stamps, m)
		}
		l.saw(id, stamps)
	case "error":
		l.hears(errors.New(rest))
	case "kept":
		text, path, _ := strings.Cut(rest, " ")
		_, _ = fmt.Sscan(text, &id)
		l.kept[path] = id
	}
}

// check returns what is wrong if all generations up to latest were seen, and nothing that was
// committed is in none.
func (l *ledger) check(latest uint64) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := map[stamp]uint64{}
	for _, id := range slices.Sorted(maps.Keys(l.seen)) {
		for _, m := range l.seen[id] {
			if before, twice := at[m]; twice {
				l.trouble = append(l.trouble, fmt.Sprintf("%v is in generations %d and %d", m, before, id))
			}
			if !l.begun[m] {
				l.trouble = append(l.trouble, fmt.Sprintf("%v is in generation %d, and nobody put it", m, id))
			}
			at[m] = id
		}
	}
	for id := uint64(1); id <= latest; id++ {
		if l.seen[id] == nil {
			l.trouble = append(l.trouble, fmt.Sprintf("nobody saw generation %d", id))
		}
	}
	for m := range l.acked {
		if at[m] == 0 {
			l.trouble = append(l.trouble, fmt.Sprintf("%v was acknowledged, and is lost", m))
		}
	}
	return l.trouble
}

// small is how caches of these tests are made.
var small = samplecache.Config{Samples: 4, MaxHeld: 2}

// newCache makes a cache and returns its directory.
func newCache(t testing.TB, config samplecache.Config) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, dircache.Create(dir, stamp{}.marked(), config))
	return dir
}

// A tapped is an engine that remembers the session that joined.
type tapped struct {
	dircache.Engine
	session samplecache.Session
}

func (e *tapped) Join(ctx context.Context, opt samplecache.Options) (s samplecache.Session, err error) {
	s, err = e.Engine.Join(ctx, opt)
	e.session = s
	return s, err
}

// A part is what a process does with a cache.
type part struct {
	c    *samplecache.Cache
	tell func(format string, args ...any)
	base int64 // of the producers of this process
	last uint64
	tags atomic.Int64 // samples without a name
}

// put puts one sample, and tells before and after.
func (w *part) put(ctx context.Context, p *samplecache.Producer, who int64) error {
	if who >= unnamed {
		m := stamp{who, w.tags.Add(1)}
		w.tell("put %d %d", m.who, m.number)
		if err := p.Put(ctx, m.marked()); err != nil {
			return err
		}
		w.tell("ok %d %d", m.who, m.number)
		return nil
	}
	s, err := p.Reserve(ctx)
	if err != nil {
		return err
	}
	m := stamp{who, int64(s.Number())}
	if err := m.write(s.Sample()); err != nil {
		return err
	}
	w.tell("put %d %d", m.who, m.number)
	if err := s.Commit(ctx); err != nil {
		return err
	}
	w.tell("ok %d %d", m.who, m.number)
	return nil
}

// batch puts as many samples as a generation has, from three producers at once, and then sees what
// was published.
func (w *part) batch(ctx context.Context) error {
	errs := make(chan error, 3)
	for i, n := range []int{1, 1, 2} {
		go func() {
			who := w.base + int64(i)
			if i == 2 {
				who += unnamed
			}
			p, err := w.c.Producer(producerOf(who))
			for range n {
				if err == nil {
					err = w.put(ctx, p, who)
				}
			}
			if err == nil {
				err = p.Close()
			}
			errs <- err
		}()
	}
	err := errors.Join(<-errs, <-errs, <-errs)
	if err == nil {
		err = w.see(ctx)
	}
	return err
}

// see tells of the generations that it has not seen yet, and waits for one. If another process puts
// samples too, one of the two sees each: neither puts more than a generation without seeing.
func (w *part) see(ctx context.Context) error {
	g, err := w.c.Wait(ctx, w.last)
	if err != nil {
		return err
	}
	latest := g.ID()
	if err := g.Close(); err != nil {
		return err
	}
	for w.last = max(w.last+1, latest-min(latest-1, 1)); ; w.last++ {
		err := w.tellOf(ctx, w.last)
		if err != nil && !errors.Is(err, samplecache.ErrGenerationGone) || w.last == latest {
			return err
		}
	}
}

// tellOf tells of a generation.
func (w *part) tellOf(ctx context.Context, id uint64) error {
	g, err := w.c.At(ctx, id)
	if err != nil {
		return err
	}
	defer g.Close()
	stamps, err := readStamps(ctx, g)
	if err != nil {
		return err
	}
	text := ""
	for _, m := range stamps {
		text += fmt.Sprintf(" %d:%d", m.who, m.number)
	}
	w.tell("saw %d%s", id, text)
	return nil
}

// A hand is a process at work in the matrix: each round of its work passes all moments.
type hand struct {
	part
	dir   string
	keep  string // directory to keep generations in
	alone bool
	round int
}

// open opens the cache.
func (h *hand) open(ctx context.Context) (err error) {
	h.c, err = samplecache.Open(ctx, dircache.Engine{Dir: h.dir}, samplecache.Options{OnError: func(err error) { h.tell("error %v", err) }})
	return err
}

// desert has a session die that holds a slot, a name, a generation and an epoch.
func (h *hand) desert(ctx context.Context) error {
	e := &tapped{Engine: dircache.Engine{Dir: h.dir}}
	c, err := samplecache.Open(ctx, e, samplecache.Options{})
	if err != nil {
		return err
	}
	p, err := c.Producer(producerOf(h.base + 9))
	if err == nil {
		_, err = p.Reserve(ctx)
	}
	if err == nil {
		_, err = c.Group("deserted", 1).Epoch(ctx, 0)
	}
	if err != nil {
		return err
	}
	return dircache.Vanish(e.session)
}

// hold reads a generation for so long that its store is put aside.
func (h *hand) hold(ctx context.Context) error {
	g, err := h.c.Latest(ctx)
	for range 3 {
		if err == nil {
			err = h.batch(ctx)
		}
	}
	if err != nil {
		return err
	}
	if err := g.Close(); err != nil {
		return err
	}
	return h.batch(ctx)
}

// moveOut keeps the latest generation, and goes on until its store is retired.
func (h *hand) moveOut(ctx context.Context) error {
	path := filepath.Join(h.keep, fmt.Sprintf("%d-%d", h.base, h.round))
	g, err := h.c.Latest(ctx)
	if err != nil {
		return err
	}
	id := g.ID()
	if err := g.Close(); err != nil {
		return err
	}
	if err := h.c.Keep(ctx, id, path); err != nil {
		return err
	}
	h.tell("kept %d %s", id, path)
	return errors.Join(h.batch(ctx), h.batch(ctx))
}

// epoch reads an epoch of a group.
func (h *hand) epoch(ctx context.Context) error {
	group := h.c.Group(fmt.Sprint("train-", h.base), 1)
	g, err := group.Epoch(ctx, uint64(h.round))
	if err == nil {
		_, err = readStamps(ctx, g)
	}
	if err != nil {
		return err
	}
	return errors.Join(g.Close(), group.Close())
}

// again leaves the cache; if nobody else takes part, its control file is lost then, in some way.
func (h *hand) again(ctx context.Context) error {
	err := h.c.Close()
	if err == nil && h.alone {
		err = loseControl(h.dir, h.round)
	}
	if err == nil {
		err = h.open(ctx)
	}
	return err
}

// loseControl has the control file of a cache made anew when it is opened next.
func loseControl(dir string, how int) error {
	control := filepath.Join(dir, "control")
	switch how % 3 {
	case 0:
		return dircache.Reboot(dir)
	case 1:
		return os.Remove(control)
	}
	info, err := os.Stat(control)
	if err == nil {
		err = os.WriteFile(control, make([]byte, info.Size()), 0o666)
	}
	return err
}

// work does one round.
func (h *hand) work(ctx context.Context) error {
	for _, do := range []func(context.Context) error{h.batch, h.desert, h.batch, h.hold, h.moveOut, h.epoch, h.again} {
		if err := do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// TestProcessWorks is a process that works in a cache, and is killed at a moment. Arguments:
// directory, where to keep generations, whether it is alone, number of its first producer, rounds,
// moment, the how many-th.
func TestProcessWorks(t *testing.T) {
	k, ok := taskOf(t)
	if !ok {
		return
	}
	passed := sync.Map{}
	if moment := k.args[5]; moment == "trace" {
		dircache.Moments(func(m string) { n, _ := passed.LoadOrStore(m, new(atomic.Int64)); n.(*atomic.Int64).Add(1) })
	} else {
		dircache.KillAt(moment, k.number(t, 6))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	h := &hand{dir: k.args[0], keep: k.args[1], alone: k.args[2] == "true"}
	h.tell, h.base = k.tell, int64(k.number(t, 3))
	require.NoError(t, h.open(ctx))
	k.tell("open")
	for ; h.round < k.number(t, 4); h.round++ {
		require.NoError(t, h.work(ctx), "round %d", h.round)
	}
	require.NoError(t, h.c.Close())
	passed.Range(func(m, n any) bool { k.tell("moment %d %s", n.(*atomic.Int64).Load(), m); return true })
	k.tell("done")
}

// A site is a cache in which processes are killed, and what is known of it.
type site struct {
	t         *testing.T
	ctx       context.Context
	dir, keep string
	part      // of the test
	*ledger
	sessions int // of the test
}

// newSite makes a cache.
func newSite(t *testing.T, config samplecache.Config) *site {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	s := &site{t: t, ctx: ctx, dir: newCache(t, config), keep: t.TempDir(), ledger: newLedger()}
	s.tell = func(format string, args ...any) { s.read(fmt.Sprintf(format, args...)) }
	s.base = 500
	return s
}

// open has the test itself take part.
func (s *site) open() {
	s.t.Helper()
	var err error
	s.c, err = samplecache.Open(s.ctx, dircache.Engine{Dir: s.dir}, samplecache.Options{OnError: s.hears})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = s.c.Close() }) // of a test that failed
	s.sessions++
}

// hear enters all that a process that has ended has told.
func (s *site) hear(p *process) {
	s.t.Helper()
	for _, line := range p.heard {
		s.read(line)
	}
}

// retry puts what producers with names had begun to put, as they do when they are started again.
func (s *site) retry() {
	s.t.Helper()
	numbers := map[int64][]int64{}
	for m := range s.begun {
		if m.who < unnamed {
			numbers[m.who] = append(numbers[m.who], m.number)
		}
	}
	for _, who := range slices.Sorted(maps.Keys(numbers)) {
		p, err := s.c.Producer(producerOf(who))
		require.NoError(s.t, err, "the name of a process that was killed is free")
		for _, n := range slices.Sorted(slices.Values(numbers[who])) {
			m := stamp{who, n}
			counted := p.Window().Has(uint64(n))
			require.True(s.t, !s.acked[m] || counted, "%v was acknowledged, and is not counted", m)
			require.NoError(s.t, p.PutAt(s.ctx, uint64(n), m.marked()), "again")
			s.acks(m)
			if !counted {
				s.seeAll()
			}
		}
		require.NoError(s.t, p.Close())
	}
}

// seeAll enters the generations that are kept.
func (s *site) seeAll() uint64 {
	s.t.Helper()
	g, err := s.c.Latest(s.ctx)
	if errors.Is(err, samplecache.ErrEmpty) {
		return 0
	}
	require.NoError(s.t, err)
	latest := g.ID()
	require.NoError(s.t, g.Close())
	for id := latest - min(latest-1, uint64(s.c.Config().Retain)); id <= latest; id++ {
		if !s.has(id) {
			require.NoError(s.t, s.tellOf(s.ctx, id))
		}
	}
	return latest
}

// topUp puts samples until some generations more are published.
func (s *site) topUp(more uint64) (latest uint64) {
	s.t.Helper()
	p, err := s.c.Producer("")
	require.NoError(s.t, err)
	latest = s.seeAll()
	for target := latest + more; latest < target; latest = s.seeAll() {
		require.NoError(s.t, s.put(s.ctx, p, nobodyElse))
	}
	return latest
}

// settled checks that all is as it must be once who was killed is buried: nothing is lost, nothing
// is there twice, and nothing is left over.
func (s *site) settled() {
	s.t.Helper()
	s.visit()
	s.seeAll()
	s.retry()
	latest := s.topUp(4)
	trouble := s.check(latest)
	require.Empty(s.t, trouble[:min(len(trouble), 10)], "and %d others", max(len(trouble)-10, 0))
	s.requireClean()
	s.requireKept()
}

// visit joins and leaves: the next that joins removes what one that was killed as it joined has
// left.
func (s *site) visit() {
	s.t.Helper()
	c, err := samplecache.Open(s.ctx, dircache.Engine{Dir: s.dir}, samplecache.Options{OnError: s.hears})
	require.NoError(s.t, err)
	require.NoError(s.t, c.Close())
}

// requireClean checks that there is what must be there and nothing else, soon.
func (s *site) requireClean() {
	s.t.Helper()
	config := s.c.Config()
	var trouble []string
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if trouble = s.leftovers(config); trouble == nil {
			return
		}
	}
	require.Empty(s.t, trouble)
}

// leftovers returns what is not as it must be.
func (s *site) leftovers(config samplecache.Config) (trouble []string) {
	dirs, records := 0, 0
	for _, name := range namesIn(s.t, s.dir) {
		_, store := strings.CutPrefix(strings.Replace(name, "spare-", "gen-", 1), "gen-")
		switch {
		case store && strings.HasSuffix(name, ".samples"):
			records++
		case store:
			dirs++
		case !slices.Contains([]string{"MANIFEST", "control", "current", "lock", "peers"}, name):
			trouble = append(trouble, name)
		}
	}
	if want := 2 + config.Retain; dirs != want || records != want {
		trouble = append(trouble, fmt.Sprintf("%d stores and %d files of records, want %d", dirs, records, want))
	}
	if bells := namesIn(s.t, filepath.Join(s.dir, "peers")); len(bells) != s.sessions {
		trouble = append(trouble, fmt.Sprintf("bells %v, want %d", bells, s.sessions))
	}
	st := s.stats()
	if len(st.Members) != s.sessions || st.Reserved > 0 || len(st.Groups) > 0 {
		trouble = append(trouble, fmt.Sprintf("members %v, %d slots reserved, groups %v", st.Members, st.Reserved, st.Groups))
	}
	for _, p := range st.Producers {
		if p.PID != 0 {
			trouble = append(trouble, fmt.Sprint("in use: ", p))
		}
	}
	return trouble
}

// requireKept checks generations that were moved out: they are whole or not there, and what was
// left beside them goes with the next.
func (s *site) requireKept() {
	s.t.Helper()
	latest := s.seeAll()
	require.NoError(s.t, s.c.Keep(s.ctx, latest, filepath.Join(s.keep, "last")))
	for _, name := range namesIn(s.t, s.keep) {
		require.NotEqual(s.t, byte('.'), name[0], "left over: %s", name)
		path := filepath.Join(s.keep, name)
		ds, err := memmap.Open(path)
		require.NoError(s.t, err)
		stamps, err := stampsOf(ds.TensorDict)
		require.NoError(s.t, err)
		if id := s.kept[path]; id != 0 {
			require.Equal(s.t, s.seen[id], stamps)
		}
		require.NoError(s.t, ds.Close())
		delete(s.kept, path)
	}
	require.Empty(s.t, s.kept, "were kept, and are not there")
}

// stats returns what is known of the cache.
func (s *site) stats() samplecache.Stats {
	s.t.Helper()
	st, err := s.c.Stats()
	require.NoError(s.t, err)
	return st
}

// close ends the test's part.
func (s *site) close() {
	s.t.Helper()
	require.NoError(s.t, s.c.Close())
	s.sessions--
}

// namesIn returns the names in a directory.
func namesIn(t testing.TB, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// startHand starts a process at work.
func (s *site) startHand(alone bool, base, rounds int, moment string, nth int) *process {
	s.t.Helper()
	return start(s.t, "TestProcessWorks", s.dir, s.keep, alone, base, rounds, moment, nth)
}

// atWork has the test take part while a process is at work: it puts a sample for each generation
// that it sees, until the process has ended.
func (s *site) atWork(p *process) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.ctx)
	ended := make(chan struct{})
	go func() { _ = p.ended(); cancel(); close(ended) }()
	producer, err := s.c.Producer(producerOf(s.base))
	require.NoError(s.t, err)
	for ctx.Err() == nil {
		err := s.see(ctx)
		if err == nil {
			err = s.put(s.ctx, producer, s.base)
		}
		if ctx.Err() == nil {
			require.NoError(s.t, err)
		}
	}
	<-ended
	require.NoError(s.t, producer.Close())
}

// moments are those that a crash must be tried at, whatever is added.
var moments = []string{
	"rebuilding", "control made", "linked", "marked", "seat taken", "epoch fixed", "joins counted", "bell hung",
	"found dead", "slots freed", "names dropped", "buried", "reserved", "recorded", "committed", "counted", "retired",
	"link made", "publishing", "latest stored", "pointed", "provided", "open", "slots freed for the next",
	"control renamed", "seat given up", "manifest written",
	"manifest renamed", "records renamed", "store renamed", "store made", "records of new store renamed", "store put away",
}

// passed returns how often a process passes each moment in three rounds, alone or with another.
func passed(t *testing.T, alone bool) map[string]int {
	t.Helper()
	s := newSite(t, small)
	if !alone {
		s.open()
	}
	p := s.startHand(alone, 1, 3, "trace", 0)
	if !alone {
		s.atWork(p)
	}
	require.NoError(t, p.ended(), "%s", p.tail())
	s.hear(p)
	times := map[string]int{}
	for _, line := range p.heard {
		if rest, ok := strings.CutPrefix(line, "moment "); ok {
			n, moment, _ := strings.Cut(rest, " ")
			times[moment], _ = strconv.Atoi(n)
		}
	}
	if alone {
		s.open()
	}
	s.settled()
	s.close()
	return times
}

// TestW14 kills a process at each moment that it passes, the first time, the second and the third,
// while it is alone and while another takes part. Rows W5, W6, W7 and W9 hold after each.
func TestW14(t *testing.T) {
	for _, alone := range []bool{true, false} {
		t.Run(fmt.Sprintf("alone=%v", alone), func(t *testing.T) {
			t.Parallel()
			times := passed(t, alone)
			for _, moment := range moments {
				if alone { // else the other may be first
					require.Positive(t, times[moment], "nobody passes %q", moment)
				}
			}
			cases, killed := 0, 0
			for i, moment := range slices.Sorted(maps.Keys(times)) {
				for nth := range nths(times[moment], i) {
					t.Run(fmt.Sprintf("%s %d", moment, nth), func(t *testing.T) {
						cases++
						if crash(t, alone, moment, nth) {
							killed++
						}
					})
				}
			}
			t.Logf("%d moments, %d of %d processes killed", len(times), killed, cases)
			require.GreaterOrEqual(t, killed, cases*9/10)
		})
	}
}

// nths yields the first three times of some, or the first and one of the others.
func nths(times, i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for nth := 1; nth <= min(3, times); nth++ {
			if (*killsFlag == "full" || nth == 1 || nth == 2+i%2) && !yield(nth) {
				return
			}
		}
	}
}

// crash kills one process at a moment, and checks what is left. It reports whether it was killed:
// in company it may pass moments less often than before.
func crash(t *testing.T, alone bool, moment string, nth int) bool {
	t.Helper()
	s := newSite(t, small)
	if !alone {
		s.open()
	}
	p := s.startHand(alone, 1, 3, moment, nth)
	if !alone {
		s.atWork(p)
	}
	err := p.ended()
	require.True(t, p.killed() || !alone && err == nil, "%v: %s", err, p.tail())
	s.hear(p)
	if alone {
		s.open()
	}
	s.settled()
	s.close()
	return p.killed()
}

// TestW14Twice kills a process at each moment, and then those that recover the cache, one after the
// other, each some moments later than the one before, until one comes through.
func TestW14Twice(t *testing.T) {
	step := 6
	if *killsFlag == "full" {
		step = 1
	}
	var all atomic.Int64
	t.Run("moment", func(t *testing.T) {
		for i, moment := range moments {
			t.Run(moment, func(t *testing.T) {
				t.Parallel()
				s := newSite(t, samplecache.Config{Samples: 4, Durable: *killsFlag == "full" && i%4 == 0})
				p := s.startHand(true, 1, 3, moment, 1)
				require.Error(t, p.ended())
				require.True(t, p.killed(), "%s", p.tail())
				s.hear(p)
				for n := 1 + i%step; p.killed(); n += step {
					p = s.startHand(true, 10, 0, "", n)
					err := p.ended()
					require.True(t, p.killed() || err == nil, "%v: %s", err, p.tail())
					s.hear(p)
					all.Add(1)
				}
				s.open()
				s.settled()
				s.close()
			})
		}
	})
	t.Logf("%d processes recovered the caches that %d had left", all.Load(), len(moments))
}

// TestProcessCreates is a process that creates a cache and is killed at the nth moment. Arguments:
// directory, n.
func TestProcessCreates(t *testing.T) {
	k, ok := taskOf(t)
	if !ok {
		return
	}
	dircache.KillAt("", k.number(t, 1))
	require.NoError(t, dircache.Create(k.args[0], stamp{}.marked(), small))
}

// TestW14Create kills processes at each moment while they create a cache: it is there whole or not
// at all, and what is left beside it goes with the next.
func TestW14Create(t *testing.T) {
	top := t.TempDir()
	for n := 1; ; n++ {
		dir := filepath.Join(top, fmt.Sprint(n))
		p := start(t, "TestProcessCreates", dir, n)
		err := p.ended()
		require.True(t, p.killed() || err == nil, "%v: %s", err, p.tail())
		if err == nil {
			require.Equal(t, []string{fmt.Sprint(n)}, namesIn(t, top), "left over")
			require.Greater(t, n, 5)
			t.Logf("%d processes killed", n-1)
			return
		}
		require.NoDirExists(t, dir)
		require.NoError(t, dircache.Create(dir, stamp{}.marked(), small))
		require.Equal(t, []string{fmt.Sprint(n)}, namesIn(t, top), "left over")
		require.NoError(t, os.RemoveAll(dir))
	}
}

// TestW05 loses the control file while all four samples of a generation but one are committed, in
// each way, after what a producer may leave in the one that is not.
func TestW05(t *testing.T) {
	leaves := map[string]func(t *testing.T, s *samplecache.Slot){
		"nothing is reserved": func(t *testing.T, s *samplecache.Slot) { require.NoError(t, s.Abort()) },
		"a slot is written":   func(t *testing.T, s *samplecache.Slot) { require.NoError(t, stamp{7, 7}.write(s.Sample())) },
	}
	for how, lost := range []string{"another boot", "removed", "zeros"} {
		for leaving, leave := range leaves {
			for _, durable := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, durable=%v", lost, leaving, durable), func(t *testing.T) {
					s := newSite(t, samplecache.Config{Samples: 4, Durable: durable})
					s.open()
					p, err := s.c.Producer("p3")
					require.NoError(t, err)
					s.topUp(2)
					for range 3 {
						require.NoError(t, s.put(s.ctx, p, 3))
					}
					slot, err := p.Reserve(s.ctx)
					require.NoError(t, err)
					leave(t, slot)
					s.close()
					require.NoError(t, loseControl(s.dir, how))
					s.open()
					st := s.stats()
					require.EqualValues(t, 2, st.Latest)
					require.Equal(t, 3, st.Committed)
					p, err = s.c.Producer("p3")
					require.NoError(t, err)
					require.EqualValues(t, 3, p.Next())
					require.NoError(t, p.Close())
					s.settled()
					s.close()
				})
			}
		}
	}
}
