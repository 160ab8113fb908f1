package dircache

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/go-tensordict/tensordict/samplecache/dircache/internal/host"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

func (s *session) Stats(context.Context) (engine.Stats, error) { return callValue(s, s.stats) }

func (s *session) stats() (st engine.Stats, err error) {
	g, err := s.groups()
	if err != nil {
		return st, err
	}
	latest, filling, m, err := s.published()
	if err != nil {
		return st, err
	}
	p := s.progress(latest)
	g.Tidy(p, s.alive)
	st = engine.Stats{
		Latest: latest, Filling: latest + 1, Samples: s.samples(), Swaps: latest,
		LastSwap: m.swapAt(latest), SwapTook: s.words.swapTook(latest), Bytes: s.fixed.sampleBytes(),
		Members: s.memberStats(), Groups: g.Stats(p),
	}
	s.slotStats(&st)
	if st.Held, err = s.heldGenerations(latest, filling); err == nil {
		st.Holders, st.Producers = s.holderStats(st.Held), s.producerStats(m)
	}
	st.PublishWaits = s.publishWaits(&st, filling, g.Waits(p))
	return st, err
}

// published returns the generation published last, the one that is being filled, and the MANIFEST,
// which may be one generation ahead: it is renamed before readers are told.
func (s *session) published() (latest, filling uint64, m *manifest, err error) {
	for range 1000 { // others may publish meanwhile
		if latest, filling, err = s.words.generations(); err == nil {
			m, err = s.manifest()
		}
		if err != nil || m.Latest <= latest+1 {
			return latest, filling, m, err
		}
	}
	return 0, 0, nil, s.fail(controlName, fmt.Errorf("%w: got generation %d, but the MANIFEST has %d", engine.ErrCorrupt, latest, m.Latest))
}

// publishWaits returns the reason why a full generation is not published, or why the next
// generation has no store.
func (s *session) publishWaits(st *engine.Stats, filling uint64, groups []string) string {
	open := filling == st.Filling
	switch {
	case open && st.Committed < st.Samples:
		return ""
	case open && len(groups) > 0:
		return strings.Join(groups, " and ")
	}
	if pid := s.locker(); pid > 0 {
		return fmt.Sprintf("pid %d, which has the lock", pid)
	}
	if open {
		return "the next process that checks"
	}
	if _, err := os.Lstat(s.path(storeName(st.Filling))); err == nil { // nobody has joined since it was made
		return ""
	}
	return cmp.Or(s.fixed.Config.Held(st.Held), "room on the disk")
}

// memberStats lists the sessions.
func (s *session) memberStats() (list []engine.MemberStats) {
	for i := range maxSessions {
		if pid := s.words.pid(i); pid != 0 && s.takesPart(i) {
			list = append(list, engine.MemberStats{PID: pid, For: since(s.words.joined(i).Load())})
		}
	}
	return list
}

// producerStats lists the producers that have put a sample. It does not take the lock, so the list
// may be out of date if a generation is published meanwhile.
func (s *session) producerStats(m *manifest) (list []engine.ProducerStats) {
	all, _, err := s.collect(m, m.Latest+1)
	if err != nil {
		all = m.Producers // there may be no store yet
	}
	for _, p := range all {
		if p.Window == (engine.Window{}) {
			continue
		}
		list = append(list, engine.ProducerStats{Name: p.Name, PID: s.claimant(p.Name), Window: p.Window})
	}
	return list
}

// heldGenerations returns the generations that are kept only because they are held. While a
// publication is being completed, the generation that retires is not one of them yet.
func (s *session) heldGenerations(latest, filling uint64) (held []uint64, err error) {
	if filling > 0 {
		latest = filling - 1
	}
	entries, err := os.ReadDir(s.at)
	for _, e := range entries {
		if id, ok := parseStore(e.Name()); ok && id+uint64(s.fixed.retain()) < latest {
			held = append(held, id)
		}
	}
	return held, s.fail("", err)
}

// holderStats lists the processes that hold generations, as far as the system knows them.
func (s *session) holderStats(held []uint64) (list []engine.HolderStats) {
	var dirs []fs.FileInfo
	for _, id := range held {
		info, err := os.Lstat(s.path(storeName(id)))
		if err != nil {
			return nil // a generation was released meanwhile
		}
		dirs = append(dirs, info)
	}
	for i, pids := range host.Lockers(dirs) {
		for _, pid := range pids {
			list = append(list, engine.HolderStats{Generation: held[i], PID: pid})
		}
	}
	return list
}

// noSlot returns an error that says why there is no free slot.
func (s *session) noSlot() error {
	return engine.NoSlot(s.fixed.Config.Limits, func() (engine.Stats, error) { return s.Stats(context.Background()) })
}
