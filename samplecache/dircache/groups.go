package dircache

import (
	"context"
	"fmt"
	"iter"
	"math"
	"os"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/samplecache"
)

// A seat is one word: what a peer has in a group. It is changed with the lock held.
const (
	seatFree   = 0
	seatMember = 1 // a membership
	seatOpen   = 2 // a rank's part in an epoch
	seatDone   = 3 // such a part that was closed, or whose process is dead
)

const seatEpochs = 1 << 24 // epochs are told apart by these many last numbers

func seatWord(state uint64, peer, group int, epoch uint64) uint64 {
	return epoch%seatEpochs<<24 | uint64(group)<<16 | uint64(peer)<<2 | state
}

func seatState(v uint64) uint64 { return v & 3 }
func seatPeer(v uint64) int     { return int(v >> 2 & (1<<14 - 1)) }
func seatGroup(v uint64) int    { return int(v >> 16 & 0xFF) }
func seatEpoch(v uint64) uint64 { return v >> 24 }

// An epoch's generation, which pass over it the epoch is, and whether it is settled: all ranks have
// closed it, and what they did not take counts as taken.
const settledBit = 1 << 47

func which(generation, pass uint64) uint64 { return min(pass, 0xFFFF)<<31 | generation }
func whichGeneration(v uint64) uint64      { return v & (1<<31 - 1) }
func whichPass(v uint64) uint64            { return v >> 31 & 0xFFFF }

// live yields the groups that have members.
func (s *session) live(w words) iter.Seq[int] {
	return func(yield func(int) bool) {
		for g := range maxGroups {
			if w.load(s.layout.group(g)+groupMembers) > 0 && !yield(g) {
				return
			}
		}
	}
}

// bound returns how many slots of a generation may be reserved: those with the least indices, so
// that no two processes need agree on who has the last.
func (s *session) bound(w words, generation uint64) int {
	c := s.fixed.Config
	if c.Limits.PerInsert == 0 {
		return c.Samples
	}
	least := int64(math.MaxInt64)
	for g := range s.live(w) {
		least = min(least, int64(w.load(s.layout.group(g)+groupTaken)))
	}
	if least == math.MaxInt64 {
		return c.Samples
	}
	before := int64(generation-1) * int64(c.Samples)
	return int(min(max(c.Limits.MaxInserts(least)-before, 0), int64(c.Samples)))
}

// waitsFor says what keeps a full generation from being published.
func (s *session) waitsFor(w words) (reasons []string) {
	need := uint64(s.fixed.Config.Limits.MinPasses) * uint64(s.layout.samples)
	latest := w.load(latestWord)
	if need == 0 || latest == 0 {
		return nil
	}
	for g := range s.live(w) {
		at := s.layout.group(g)
		if w.load(at+groupSince) >= latest {
			continue // it came later
		}
		if rows := s.rowsOf(w, g, latest); rows < need {
			reasons = append(reasons, fmt.Sprintf("group %q, which has taken %d rows of generation %d, want %d",
				w.loadName(at+groupName), rows, latest, need))
		}
	}
	return reasons
}

// rowsOf returns how many rows of a generation a group has taken, each once a pass. Passes that are
// settled, or so old that they are not remembered, count as whole.
func (s *session) rowsOf(w words, group int, generation uint64) (rows uint64) {
	first, whole := uint64(math.MaxUint64), uint64(s.layout.samples)
	for at, v := range s.epochsOf(w, group, generation) {
		first = min(first, whichPass(v))
		if v&settledBit != 0 {
			rows += whole
		} else {
			rows += min(w.load(at+epochTaken), whole)
		}
	}
	if first == math.MaxUint64 {
		return 0
	}
	return rows + (first-1)*whole
}

// passes returns how many passes over a generation a group has begun.
func (s *session) passes(w words, group int, generation uint64) (n uint64) {
	for _, v := range s.epochsOf(w, group, generation) {
		n = max(n, whichPass(v))
	}
	return n
}

// epochsOf yields the entries of the epochs of a group that have a generation, and which they are.
func (s *session) epochsOf(w words, group int, generation uint64) iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		for i := range epochsKept {
			at := s.layout.epoch(group, i)
			v := w.load(at + epochWhich)
			if w.load(at+epochNumber) != 0 && whichGeneration(v) == generation && !yield(at, v) {
				return
			}
		}
	}
}

// promised returns how many rows a group has taken, and may take in the passes that it has begun and
// in one more.
func (s *session) promised(w words, group int) int64 {
	rows := int64(w.load(s.layout.group(group)+groupTaken)) + int64(s.layout.samples)
	for i := range epochsKept {
		at := s.layout.epoch(group, i)
		if w.load(at+epochNumber) != 0 && w.load(at+epochWhich)&settledBit == 0 {
			rows += max(int64(s.layout.samples)-int64(w.load(at+epochTaken)), 0)
		}
	}
	return rows
}

// inserts returns how many samples were committed, ever: at least so many, and all if it is exact.
func (s *session) inserts(w words, exact bool) int64 {
	latest := w.load(latestWord)
	n := int64(latest) * int64(s.layout.samples)
	if exact {
		return n + int64(s.layout.committed(w, latest+1))
	}
	if v := w.load(fullWord); hintTag(v) == (latest+1)&tagMax {
		n += int64(hintIndex(v))
	}
	return n
}

// tidy counts the members of a group, and settles its epochs. A group without members is forgotten.
// The lock is held.
func (s *session) tidy(w words, group int) {
	members, done := 0, map[uint64]int{}
	for i := range maxSeats {
		v := w.load(s.layout.seats + i)
		switch {
		case seatState(v) == seatFree || seatGroup(v) != group:
		case seatState(v) == seatMember:
			members++
		case seatState(v) == seatDone:
			done[seatEpoch(v)]++
		}
	}
	at := s.layout.group(group)
	w.store(at+groupMembers, uint64(members))
	if members == 0 {
		s.forgetGroup(w, group)
		return
	}
	last := uint64(0) // 1 + the last epoch that all have closed: the ranks have left those before
	for i := range epochsKept {
		number := w.load(s.layout.epoch(group, i) + epochNumber)
		if number != 0 && uint64(done[(number-1)%seatEpochs]) >= w.load(at+groupWorld) {
			last = max(last, number)
		}
	}
	for i := range epochsKept {
		if number := w.load(s.layout.epoch(group, i) + epochNumber); number != 0 && number <= last {
			s.settleEpoch(w, group, i)
		}
	}
}

// settleEpoch counts the rows of an epoch that nobody has taken as taken, as far as limits allow: a
// pass that ends early is used up, or nothing could go on.
func (s *session) settleEpoch(w words, group, i int) {
	at := s.layout.epoch(group, i)
	v := w.load(at + epochWhich)
	if v&settledBit != 0 {
		return
	}
	if left := int64(s.layout.samples) - int64(w.load(at+epochTaken)); left > 0 {
		taken := s.layout.group(group) + groupTaken
		most := s.fixed.Config.Limits.MaxTaken(s.inserts(w, true))
		was := int64(w.load(taken))
		w.raise(taken, uint64(max(was, min(was+left, most))))
	}
	w.store(at+epochWhich, v|settledBit)
}

// forgetGroup frees the entry of a group without members, and its seats.
func (s *session) forgetGroup(w words, group int) {
	for i := range maxSeats {
		if v := w.load(s.layout.seats + i); seatState(v) == seatDone && seatGroup(v) == group {
			w.store(s.layout.seats+i, 0)
		}
	}
	w.store(s.layout.group(group)+groupWorld, 0)
}

// dropSeats ends what a peer has in groups. The lock is held.
func (s *session) dropSeats(w words, peer int) {
	groups := map[int]bool{}
	for i := range maxSeats {
		v := w.load(s.layout.seats + i)
		if seatPeer(v) != peer {
			continue
		}
		switch seatState(v) {
		case seatMember:
			w.store(s.layout.seats+i, 0)
		case seatOpen:
			w.store(s.layout.seats+i, v&^3|seatDone)
		default:
			continue
		}
		groups[seatGroup(v)] = true
	}
	for g := range groups {
		s.tidy(w, g)
	}
}

// takeSeat returns a free seat, which is taken, or -1.
func (s *session) takeSeat(w words, v uint64) int {
	for i := range maxSeats {
		if w.load(s.layout.seats+i) == 0 {
			w.store(s.layout.seats+i, v)
			return i
		}
	}
	return -1
}

// neededByGroups returns what says whether a group needs a generation that is not retained any more:
// an epoch has it that not all ranks have closed, and [samplecache.Config.MaxHold] has not passed.
func (s *session) neededByGroups(sh *shelf) (func(id uint64) bool, error) {
	needed := map[uint64]bool{}
	err := s.use(func(w words) {
		old := map[uint64]bool{}
		for _, st := range sh.stores {
			if sh.retired(st) {
				old[st.id] = since(s.retiredSince(w, st.id)) > s.fixed.Config.MaxHold
			}
		}
		for g := range s.live(w) {
			for i := range epochsKept {
				at := s.layout.epoch(g, i)
				v := w.load(at + epochWhich)
				if id := whichGeneration(v); w.load(at+epochNumber) != 0 && v&settledBit == 0 && !old[id] {
					needed[id] = true
				}
			}
		}
	})
	return func(id uint64) bool { return needed[id] }, err
}

// retiredSince returns when a generation was retired, which is now if that is not known.
func (s *session) retiredSince(w words, id uint64) uint64 {
	at := s.layout.retired + int(id%retiredKept)*retiredWords
	if w.load(at+retiredID) != id {
		w.store(at+retiredAt, now())
		w.store(at+retiredID, id)
	}
	return w.load(at + retiredAt)
}

// A seat is a membership of a group. It implements samplecache.Seat.
type seat struct {
	s     *session
	name  string
	world int
	group int
	index int
	over  atomic.Bool
}

// Enter implements samplecache.Session.
func (s *session) Enter(ctx context.Context, name string, world int) (samplecache.Seat, error) {
	st := &seat{s: s, name: name, world: world}
	err := checkName(samplecache.ErrGroup, name)
	if err == nil && (world < 1 || world > maxSeats/2/epochsKept) {
		err = fmt.Errorf("%w: got %d ranks, want 1 to %d", samplecache.ErrGroup, world, maxSeats/2/epochsKept)
	}
	if err == nil {
		err = s.call(func() error { return s.locked(ctx, st.enter) })
	}
	if err != nil {
		return nil, fmt.Errorf("group %q: %w", name, err)
	}
	return st, nil
}

// enter becomes a member. The lock is held.
func (st *seat) enter() (err error) {
	if err := st.s.reap(); err != nil {
		return err
	}
	failed := st.s.use(func(w words) {
		if err = st.find(w); err != nil {
			return
		}
		st.index = st.s.takeSeat(w, seatWord(seatMember, st.s.me, st.group, 0))
		if st.index < 0 {
			err = fmt.Errorf("%w: there are %d seats, all taken", samplecache.ErrGroup, maxSeats)
		}
		passing("seat taken")
		st.s.tidy(w, st.group)
		st.s.catchUp(w, st.group)
	})
	if failed != nil {
		return failed
	}
	return err
}

// catchUp counts again for a group that has just got its first member what was put while it entered:
// a process that has not seen the group may have reserved a slot.
func (s *session) catchUp(w words, group int) {
	at := s.layout.group(group)
	if s.fixed.Config.Limits.PerInsert == 0 || w.load(at+groupMembers) != 1 || w.load(at+groupEpochs+epochNumber) != 0 {
		return
	}
	w.raise(at+groupTaken, uint64(s.fixed.Config.Limits.Joins(s.reservedEver(w))))
}

// reservedEver returns how many samples there are if every slot is committed up to the last that is
// reserved now.
func (s *session) reservedEver(w words) int64 {
	latest := w.load(latestWord)
	n := 0
	for i := range s.layout.samples {
		if v := w.load(s.layout.slots + i); slotState(v) != slotFree && slotGeneration(v) == latest+1 {
			n = i + 1
		}
	}
	return int64(latest)*int64(s.layout.samples) + int64(n)
}

// find finds the entry of the group, or makes it.
func (st *seat) find(w words) error {
	free := -1
	for g := range maxGroups {
		at := st.s.layout.group(g)
		world := int(w.load(at + groupWorld))
		if world == 0 {
			if free < 0 {
				free = g
			}
			continue
		}
		if w.hasName(at+groupName, st.name) {
			st.group = g
			if world != st.world {
				return fmt.Errorf("%w: got %d ranks, the others say %d", samplecache.ErrGroup, st.world, world)
			}
			return nil
		}
	}
	if free < 0 {
		return fmt.Errorf("%w: there are %d groups already", samplecache.ErrGroup, maxGroups)
	}
	st.group = free
	st.make(w)
	return nil
}

// make makes an entry for the group.
func (st *seat) make(w words) {
	s, at := st.s, st.s.layout.group(st.group)
	for i := range groupWords {
		w.store(at+i, 0)
	}
	w.storeName(at+groupName, st.name)
	w.store(at+groupSince, w.load(latestWord))
	w.store(at+groupTaken, uint64(s.fixed.Config.Limits.Joins(s.reservedEver(w))))
	w.store(at+groupWorld, uint64(st.world))
}

// Close implements samplecache.Seat.
func (st *seat) Close() error {
	if st.over.Swap(true) {
		return samplecache.ErrClosed
	}
	return st.s.giveUp(st.index, seatWord(seatMember, st.s.me, st.group, 0), 0)
}

// giveUp changes a seat, and does what follows.
func (s *session) giveUp(index int, from, to uint64) error {
	return s.call(func() error {
		return s.locked(s.life, func() error {
			err := s.use(func(w words) {
				if at := s.layout.seats + index; w.cas(at, from, to) {
					s.tidy(w, seatGroup(from))
				}
			})
			if err == nil {
				err = s.publish()
			}
			if err == nil {
				err = s.settle()
			}
			return err
		})
	})
}

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
	oldest, newest := uint64(math.MaxUint64), uint64(0)
	for i := range epochsKept {
		number := w.load(s.layout.epoch(group, i) + epochNumber)
		if number < oldest {
			oldest, entry = number, i
		}
		newest = max(newest, number)
	}
	if oldest > epoch+1 {
		return 0, fmt.Errorf("%w: epoch %d is the oldest that is remembered", samplecache.ErrGenerationGone, oldest-1)
	}
	at := s.layout.epoch(group, entry)
	if latest := w.load(latestWord); generation == 0 || generation > latest {
		generation = latest
	}
	if oldest > 0 {
		w.store(at+epochNumber, 0)
		s.freeSeats(w, group, oldest-1)
	}
	w.store(at+epochTaken, 0)
	w.store(at+epochWhich, which(generation, s.passes(w, group, generation)+1))
	w.store(at+epochNumber, epoch+1)
	return entry, nil
}

// freeSeats frees the seats of those who have closed an epoch.
func (s *session) freeSeats(w words, group int, epoch uint64) {
	for i := range maxSeats {
		v := w.load(s.layout.seats + i)
		if seatState(v) == seatDone && seatGroup(v) == group && seatEpoch(v) == epoch%seatEpochs {
			w.store(s.layout.seats+i, 0)
		}
	}
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
		s.tell()
		s.kick()
	}
	return taken, err
}

// take counts at most n rows as taken by the group, as many as limits allow.
func (p *pass) take(w words, n int) int {
	s, at := p.st.s, p.st.s.layout.group(p.st.group)+groupTaken
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
