package dircache

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
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
		s.mu.Lock()
		defer s.mu.Unlock()
		h := s.held[id]
		if h == nil {
			if h, err = s.hold(id); err != nil {
				return err
			}
		}
		if r, err = h.open(); err == nil {
			s.held[id] = h
		} else if len(h.users) == 0 {
			err = errors.Join(err, h.end())
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("generation %d: %w", id, err)
	}
	return r, nil
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
	h := &hold{s: s, id: st.id, lock: lock, right: make([]atomic.Uint64, (s.layout.samples+63)/64), users: map[*rows]bool{}}
	if err := h.mapAll(st); err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	return h, nil
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

// limitHolds starts the time of generations that are held but not retained any more.
func (s *session) limitHolds() error {
	latest := uint64(0)
	if err := s.use(func(w words) { latest = w.load(latestWord) }); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, h := range s.held {
		if id+uint64(s.fixed.Config.Retain) < latest && s.timers[id] == nil {
			s.timers[id] = h.retire(s.fixed.Config.MaxHold)
		}
	}
	return nil
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
	if err = errors.Join(failed, err); err != nil {
		return err
	}
	h.right[row/64].Or(bit)
	return nil
}

// compare compares the sums of a row with those of its record.
func (h *hold) compare(r record, row int) error {
	if !r.sound(h.id) {
		return &samplecache.RowError{Generation: h.id, Row: row, Err: fmt.Errorf("%w: its record is damaged", samplecache.ErrChecksum)}
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
	lender := x.Lender()
	b, err := lender.Borrow()
	if err != nil {
		return 0, err
	}
	defer lender.Return()
	err = mapping.Guard(func() { sum = crc32.Checksum(b[row*l.bytes:][:l.bytes], castagnoli) })
	if asks, ok := lender.(interface{ Intact() error }); ok && err == nil {
		err = asks.Intact()
	}
	return sum, err
}
