package dircache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"sync/atomic"
	"time"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A hold is a published generation that the process keeps from being filled again, by a lock on its
// directory that others may share, and that it has mapped.
type hold struct {
	s       *session
	id      uint64
	lock    *vfs.Lock
	ds      *memmap.Dataset
	records *mapping.Mapping
	right   []atomic.Uint64 // a bit for each row whose sums were compared

	users map[*rows]bool // guarded by session.mu
}

// Open implements samplecache.Session.
func (s *session) Open(ctx context.Context, id uint64) (samplecache.Rows, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("generation %d: %w", id, context.Cause(ctx))
	}
	var r *rows
	err := s.call(func() (err error) {
		s.opening.Lock()
		defer s.opening.Unlock()
		if r, err = s.share(id); r != nil || err != nil {
			return err
		}
		h, err := s.hold(id)
		if err != nil {
			return err
		}
		if r, err = h.open(); err != nil {
			return errors.Join(err, h.end())
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		h.users[r] = true
		s.held[id] = h
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("generation %d: %w", id, err)
	}
	return r, nil
}

// share returns one more user of a generation that is held, or nil.
func (s *session) share(id uint64) (*rows, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.held[id]
	if h == nil {
		return nil, nil
	}
	r, err := h.open()
	if err == nil {
		h.users[r] = true
	}
	return r, err
}

// hold locks a generation and maps it. A generation may be put aside meanwhile, under another name.
func (s *session) hold(id uint64) (*hold, error) {
	for range 3 {
		for _, r := range []role{generationRole, heldRole} {
			h, err := s.holdAs(store{r, id})
			if !errors.Is(err, fs.ErrNotExist) {
				return h, err
			}
		}
	}
	return nil, samplecache.ErrGenerationGone
}

// holdAs is hold of a store. It returns fs.ErrNotExist if there is none of that name any more.
func (s *session) holdAs(st store) (*hold, error) {
	latest := uint64(0)
	if err := s.use(func(w words) { latest = w.load(latestWord) }); err != nil {
		return nil, err
	}
	if st.id == 0 || st.id > latest {
		return nil, fmt.Errorf("%w: it was not published yet", samplecache.ErrGenerationGone)
	}
	if err := s.present(); err != nil {
		return nil, fmt.Errorf("%w: %w", samplecache.ErrGenerationGone, err)
	}
	if s.retiredFor(st.id) > s.fixed.Config.MaxHold {
		return nil, samplecache.ErrGenerationGone
	}
	at := s.path(st.name())
	lock, err := vfs.TryLock(at, vfs.Shared)
	if errors.Is(err, vfs.ErrHeld) {
		return nil, samplecache.ErrGenerationGone // it is being retired
	}
	if err != nil {
		return nil, err
	}
	if !lock.At(at) {
		return nil, errors.Join(fs.ErrNotExist, lock.Unlock())
	}
	h := &hold{s: s, id: st.id, lock: lock, right: s.verification(st.id), users: map[*rows]bool{}}
	if err := h.mapAll(st); err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	return h, nil
}

// verification returns which rows of a generation were verified.
func (s *session) verification(id uint64) []atomic.Uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.verified[id] == nil {
		s.verified[id] = make([]atomic.Uint64, (s.layout.samples+63)/64)
	}
	return s.verified[id]
}

// mapAll maps the files of the store, so that none can be missed later.
func (h *hold) mapAll(st store) (err error) {
	if h.ds, err = h.s.openStore(st); err != nil {
		return err
	}
	if err = h.ds.Advise(memmap.Normal); err == nil {
		h.records, err = h.s.mapRecords(st, mapping.ReadOnly)
	}
	if err != nil {
		return errors.Join(err, h.ds.Close())
	}
	return nil
}

// end lets go of the generation. Nobody uses it any more.
func (h *hold) end() error {
	return errors.Join(h.ds.Close(), h.records.Close(), h.lock.Unlock())
}

// retire gives the hold up some time after its generation was retired.
func (h *hold) retire(after time.Duration) *time.Timer {
	return time.AfterFunc(after, func() {
		h.s.mu.Lock()
		defer h.s.mu.Unlock()
		for r := range h.users {
			r.lapse()
		}
	})
}

// limitHolds starts the time of generations that are held but not retained any more, and forgets
// what is known of those that are gone.
func (s *session) limitHolds() error {
	latest := uint64(0)
	if err := s.use(func(w words) { latest = w.load(latestWord) }); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := func(id uint64) bool { return id+uint64(s.fixed.retain()) < latest }
	maps.DeleteFunc(s.verified, func(id uint64, _ []atomic.Uint64) bool { return old(id) && s.held[id] == nil })
	for id, h := range s.held {
		if old(id) && s.timers[id] == nil {
			s.timers[id] = h.retire(max(s.fixed.Config.MaxHold-s.retiredFor(id), 0))
		}
	}
	return nil
}

// retiredFor returns how long ago a generation was retired, as far as that is known.
func (s *session) retiredFor(id uint64) (d time.Duration) {
	_ = s.use(func(w words) { // who asks next says what is wrong
		if at := s.layout.retired + int(id%retiredKept)*retiredWords; w.load(at+retiredID) == id {
			d = since(w.load(at + retiredAt))
		}
	})
	return d
}

// verify compares the sums of a row, unless that was done.
func (h *hold) verify(row int, always bool) error {
	bit := uint64(1) << (row % 64)
	if !always && h.right[row/64].Load()&bit != 0 {
		return nil
	}
	b, err := h.records.Acquire()
	if err != nil {
		return err
	}
	defer h.records.Release()
	failed := mapping.Guard(func() { err = h.compare(rowRecord(b, row, len(h.s.fixed.Schema)), row) })
	if failed != nil {
		err = h.fail(row, fmt.Errorf("its record: %w", failed))
	}
	if err != nil {
		return err
	}
	h.right[row/64].Or(bit)
	return nil
}

// fail returns an error about a row.
func (h *hold) fail(row int, err error) error {
	return &samplecache.RowError{Generation: h.id, Row: row, Err: err}
}

// compare compares the sums of a row with those of its record.
func (h *hold) compare(r record, row int) error {
	if !r.sound(h.id) {
		return h.fail(row, fmt.Errorf("%w: its record is damaged", samplecache.ErrChecksum))
	}
	for i, l := range h.s.fixed.Schema {
		if l.bytes == 0 {
			continue
		}
		got, err := h.sum(row, l)
		if err == nil && got != r.sum(i) {
			err = fmt.Errorf("%w: got %08x, want %08x", samplecache.ErrChecksum, got, r.sum(i))
		}
		if err != nil {
			return &samplecache.RowError{Generation: h.id, Row: row, Key: string(l.Key), Err: err}
		}
	}
	return nil
}

// sum returns the sum of a leaf of a row.
func (h *hold) sum(row int, l leafSpec) (sum uint32, err error) {
	x, err := tdict.Get[*tensor.Tensor](h.ds.TensorDict, l.Key)
	if err != nil {
		return 0, err
	}
	return sumOf(x.Lender(), row*l.bytes, l.bytes)
}
