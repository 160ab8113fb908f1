//go:build unix

package dircache_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
)

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
	s := &site{t: t, ctx: ctx, dir: newCache(t, config), keep: testkit.MemoryDir(t), ledger: newLedger()}
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
	for _, line := range p.Heard {
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
	for s.stats().Committed > 0 { // whoever had the lock published, and a sample came after that
		latest = s.topUp(1)
	}
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
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if trouble = s.leftovers(config); trouble == nil {
			return
		}
	}
	require.Empty(s.t, trouble)
}

// leftovers returns what is not as it must be.
func (s *site) leftovers(config samplecache.Config) (trouble []string) {
	stores := 0
	for _, name := range namesIn(s.t, s.dir) {
		switch {
		case strings.HasPrefix(name, "gen-"):
			stores++
		case !slices.Contains([]string{"MANIFEST", "control"}, name):
			trouble = append(trouble, name)
		}
	}
	if want := 2 + config.Retain; stores != want {
		trouble = append(trouble, fmt.Sprintf("%d stores, want %d", stores, want))
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
func (s *site) startHand(alone bool, base, rounds int, f fall) *process {
	s.t.Helper()
	return start(s.t, "TestProcessWorks", s.dir, s.keep, alone, base, rounds, f.point, f.nth, f.how)
}

// atWork has the test take part while a process is at work: it puts a sample for each generation
// that it sees, until the process has ended.
func (s *site) atWork(p *process) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.ctx)
	ended := make(chan struct{})
	go func() { _ = p.Ended(); cancel(); close(ended) }()
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
