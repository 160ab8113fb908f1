package dircache

import (
	"context"
	"fmt"
	"math"
	"os"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/samplecache"
)

// Begin implements samplecache.Seat.
func (st *seat) Begin(ctx context.Context, epoch uint64, want samplecache.Want) (samplecache.Pass, error) {
	if st.over.Load() {
		return nil, fmt.Errorf("group %q: %w", st.name, samplecache.ErrClosed)
	}
	if epoch >= wordMax {
		return nil, fmt.Errorf("group %q: %w: got epoch %d, want less than 2^48-1", st.name, samplecache.ErrGroup, epoch)
	}
	p := &pass{st: st, epoch: epoch, want: want}
	err := st.s.call(func() error {
		if err := st.s.mayBegin(st, epoch); err != nil {
			return err
		}
		return st.s.locked(ctx, p.begin)
	})
	if err != nil {
		return nil, fmt.Errorf("epoch %d of group %q: %w", epoch, st.name, err)
	}
	return p, nil
}

// mayBegin returns [samplecache.ErrBlocked] if an epoch has to wait. It needs no lock, so that who
// waits wakes nobody.
func (s *session) mayBegin(st *seat, epoch uint64) (err error) {
	failed := s.use(func(w words) {
		if s.findEpoch(w, st.group, epoch) < 0 {
			err = s.mayBeginNew(w, st.group)
		}
	})
	if failed != nil {
		return failed
	}
	return err
}

// findEpoch returns the entry of an epoch, or -1.
func (s *session) findEpoch(w words, group int, epoch uint64) int {
	for i := range epochsKept {
		if w.load(s.layout.epoch(group, i)+epochNumber) == epoch+1 {
			return i
		}
	}
	return -1
}

// mayBeginNew returns [samplecache.ErrBlocked] if a group has to wait for another generation.
func (s *session) mayBeginNew(w words, group int) error {
	latest := w.load(latestWord)
	awaited := w.load(s.layout.group(group)+groupSince) < latest
	begun := int(s.passes(w, group, latest))
	if latest > 0 && s.fixed.Config.Limits.Begins(begun, awaited, s.promised(w, group), s.inserts(w, true)) {
		return nil
	}
	if latest == 0 {
		return s.blocked("the first generation")
	}
	return s.blocked(fmt.Sprintf("generation %d, or for limits to allow one more pass over generation %d", latest+1, latest))
}

// A pass is a rank's part in an epoch. It implements samplecache.Pass.
type pass struct {
	st    *seat
	epoch uint64
	want  samplecache.Want
	entry int // of the epoch
	id    uint64
	index int // of its seat
	over  atomic.Bool
}

// begin finds the epoch, or fixes its generation, and takes part. The lock is held.
func (p *pass) begin() (err error) {
	s := p.st.s
	wanted, err := p.wanted()
	if err != nil {
		return err
	}
	failed := s.use(func(w words) {
		if p.entry = s.findEpoch(w, p.st.group, p.epoch); p.entry < 0 {
			if err = s.mayBeginNew(w, p.st.group); err == nil {
				p.entry, err = s.fix(w, p.st.group, p.epoch, wanted)
			}
		}
		if err != nil {
			return
		}
		passing("epoch fixed")
		p.id = whichGeneration(w.load(s.layout.epoch(p.st.group, p.entry) + epochWhich))
		if p.index = s.takeSeat(w, seatWord(seatOpen, s.me, p.st.group, p.epoch)); p.index < 0 {
			err = fmt.Errorf("%w: there are %d seats, all taken", samplecache.ErrGroup, maxSeats)
		}
	})
	if failed != nil {
		return failed
	}
	return err
}

// wanted returns the generation that a new epoch is to have: 0 for the latest.
func (p *pass) wanted() (id uint64, err error) {
	if p.want.Generation == 0 {
		return 0, nil
	}
	for _, r := range []role{generationRole, heldRole} {
		if _, err = os.Lstat(p.st.s.path(store{r, p.want.Generation}.name())); err == nil {
			return p.want.Generation, nil
		}
	}
	if p.want.OrLatest {
		return 0, nil
	}
	return 0, samplecache.ErrGenerationGone
}

// fix makes an epoch one of a generation, 0 for the latest, in place of the oldest that is kept.
func (s *session) fix(w words, group int, epoch, generation uint64) (entry int, err error) {
	oldest := uint64(math.MaxUint64)
	for i := range epochsKept {
		number := w.load(s.layout.epoch(group, i) + epochNumber)
		if number < oldest {
			oldest, entry = number, i
		}
	}
	if oldest > epoch+1 {
		return 0, fmt.Errorf("%w: epoch %d is the oldest that is remembered", samplecache.ErrGenerationGone, oldest-1)
	}
	at := s.layout.epoch(group, entry)
	if latest := w.load(latestWord); generation == 0 || generation > latest {
		generation = latest
	}
	if oldest > 0 {
		s.settleEpoch(w, group, entry) // rows of it that are taken later are not counted
		w.store(at+epochNumber, 0)
		s.freeForgotten(w, group)
	}
	w.store(at+epochTaken, 0)
	w.store(at+epochWhich, which(generation, s.passes(w, group, generation)+1))
	w.store(at+epochNumber, epoch+1)
	return entry, nil
}

// ID implements samplecache.Pass.
func (p *pass) ID() uint64 { return p.id }

// Take implements samplecache.Pass.
func (p *pass) Take(n int) (taken int, err error) {
	if p.over.Load() {
		return 0, samplecache.ErrClosed
	}
	s := p.st.s
	err = s.call(func() error {
		failed := s.use(func(w words) {
			if taken = p.take(w, n); taken > 0 {
				p.count(w, uint64(taken))
			}
		})
		if failed == nil && taken == 0 {
			return s.blocked(fmt.Sprintf("more samples: group %q has taken as many rows as limits allow", p.st.name))
		}
		return failed
	})
	if err == nil && s.fixed.Config.Limits != (samplecache.Limits{}) {
		s.tell(wantsAll)
		if ready, err := s.ready(); err == nil && ready {
			s.kick()
		}
	}
	return taken, err
}

// take counts at most n rows as taken by the group, as many as limits allow.
func (p *pass) take(w words, n int) int {
	s, at := p.st.s, p.st.s.layout.group(p.st.group)+groupTaken
	if epoch := s.layout.epoch(p.st.group, p.entry); w.load(epoch+epochNumber) != p.epoch+1 || w.load(epoch+epochWhich)&settledBit != 0 {
		return n // all of its rows are counted
	}
	for exact := false; ; {
		was := w.load(at)
		most := s.fixed.Config.Limits.MaxTaken(s.inserts(w, exact)) - int64(was)
		if most < int64(n) && !exact {
			exact = true
			continue
		}
		k := min(int64(n), most)
		if k <= 0 {
			return 0
		}
		if w.cas(at, was, was+uint64(k)) {
			return int(k)
		}
	}
}

// count counts rows for the epoch.
func (p *pass) count(w words, n uint64) {
	at := p.st.s.layout.epoch(p.st.group, p.entry)
	if w.load(at+epochNumber) == p.epoch+1 {
		add(w, at+epochTaken, n)
	}
}

// add adds to a word.
func add(w words, at int, n uint64) {
	for {
		was := w.load(at)
		if w.cas(at, was, was+n) {
			return
		}
	}
}

// Close implements samplecache.Pass.
func (p *pass) Close() error {
	if p.over.Swap(true) {
		return samplecache.ErrClosed
	}
	s := p.st.s
	return s.giveUp(p.index, seatWord(seatOpen, s.me, p.st.group, p.epoch), seatWord(seatDone, s.me, p.st.group, p.epoch))
}
