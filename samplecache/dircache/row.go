package dircache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tensor"
)

// A row is a reserved slot. It implements engine.Row.
type row struct {
	s          *session
	claim      *claim
	store      *writer
	generation uint64
	slot       int
	number     uint64
	began      uint64 // us

	mu        sync.Mutex
	committed bool
	over      bool // committed or aborted
}

func (c *claim) Reserve(_ context.Context, number uint64) (engine.Row, error) {
	if c.over.Load() {
		return nil, engine.ErrClosed
	}
	return callValue(c.s, func() (engine.Row, error) {
		r, err := c.reserve(number)
		if !errors.Is(err, engine.ErrBlocked) {
			return r, err
		}
		if tried, failed := c.s.advanceIfDue(); !tried || failed != nil {
			return nil, cmp.Or(failed, err)
		}
		return c.reserve(number)
	})
}

// reserve takes a slot of the generation that is being filled. If another generation is being
// filled by then, it tries again.
func (c *claim) reserve(number uint64) (engine.Row, error) {
	for {
		r := &row{s: c.s, claim: c, number: number}
		ok, err := r.take()
		switch _, filling, failed := c.s.words.generations(); {
		case ok:
			crashPoint("reserved")
			return r, nil
		case err == nil:
			return nil, c.s.noSlot()
		case filling == r.generation || failed != nil:
			return nil, err
		}
	}
}

// take takes a free slot, if there is one and limits allow that.
func (r *row) take() (ok bool, err error) {
	s := r.s
	latest, filling, err := s.words.generations()
	if err != nil || filling != latest+1 {
		return false, err
	}
	r.generation = filling
	room, err := s.room(latest)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.store, err = s.fill(filling); err != nil {
		return false, err
	}
	if r.slot, ok, err = s.reserve(r.store, filling, room); err != nil || !ok {
		return false, err
	}
	if room, err = s.room(latest); err != nil || r.slot >= room { // a group was entered meanwhile
		return false, errors.Join(err, s.unlockSlot(filling, r.slot))
	}
	s.rows[r.slot], r.began = r, now()
	r.store.users++
	return true, nil
}

// advanceIfDue calls advance if there is something to do. If advance failed in another session less
// than searchPause ago, it does not; if it failed in this one, it does, so that Reserve returns
// that error, a full disk, say. It reports whether it called advance.
func (s *session) advanceIfDue() (tried bool, err error) {
	_, _, ready, err := s.state()
	s.mu.Lock()
	trouble := s.trouble
	s.mu.Unlock()
	if err != nil || !ready || trouble == nil && !s.due() {
		return false, err
	}
	return true, ignoreBlocked(s.locked(s.advance))
}

func (r *row) Place(leaf int) (tensor.Lender, int) {
	if r.store.files[leaf] == nil {
		return nil, 0
	}
	return r.store.files[leaf], r.slot * r.s.fixed.Schema[leaf].bytes
}

func (r *row) Commit(_ context.Context, sums []uint32) error {
	return r.s.call(func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		switch {
		case r.committed:
			return nil
		case r.over:
			return fmt.Errorf("%w: the slot was aborted", engine.ErrClosed)
		}
		if err := r.write(sums); err != nil {
			return r.s.fail(recordsPath(r.generation), err)
		}
		r.committed = true
		return r.end(true)
	})
}

// write writes the record of the sample, and so commits it.
func (r *row) write(sums []uint32) error {
	durable := r.s.fixed.Config.Durable
	for i, l := range r.store.leaves {
		if durable && l.bytes > 0 {
			if err := flushRange(r.store.files[i], r.slot*l.bytes, l.bytes); err != nil {
				return err
			}
		}
	}
	crashPoint("sample written")
	rec := r.store.record(r.slot)
	err := mapping.Guard(func() {
		for i, sum := range sums {
			rec.setSum(i, sum)
		}
		rec.put(r.generation, r.number, r.claim.Life, r.claim.Name, time.Now())
	})
	if err == nil {
		err = r.store.records.Intact()
	}
	if err == nil && durable {
		err = r.flushRecord(rec)
	}
	crashPoint("recorded")
	if err == nil {
		err = r.s.present() // otherwise the sample is lost
	}
	return err
}

// flushRecord makes the record durable. If that fails, it erases the record.
func (r *row) flushRecord(rec record) error {
	at := recordsHeader + r.slot*len(rec)
	err := flushRange(r.store.records, at, len(rec))
	if err != nil {
		rec.erase()
		_ = flushRange(r.store.records, at, len(rec)) // err is returned instead
	}
	return err
}

// A flusher writes a part of a mapped file to the disk.
type flusher interface{ FlushRange(offset, size int) error }

// flushRange is a variable for tests.
var flushRange = func(f flusher, offset, size int) error { return f.FlushRange(offset, size) }

// end unlocks the slot. If the generation is full then, it publishes it.
func (r *row) end(committed bool) error {
	s := r.s
	r.over = true
	err := r.releaseSlot()
	if committed {
		s.report(err) // the sample is committed nevertheless
		err = nil
	}
	if s.full(r.generation) {
		s.publishFull()
	}
	if !committed || s.fixed.Config.Limits.PerInsert > 0 {
		err = errors.Join(err, s.raise())
	}
	return err
}

// releaseSlot unlocks the slot.
func (r *row) releaseSlot() error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	delete(r.s.rows, r.slot)
	r.store.users--
	return r.s.unlockSlot(r.generation, r.slot)
}

// patience is how long a session that has completed a generation waits for the lock to publish it.
// Usually the lock is held for less than a millisecond.
const patience = 20 * time.Millisecond

// publishFull publishes a full generation, if limits allow that. If it fails, it reports the error
// and the watch tries again. The Commit of the last sample succeeds: the sample is committed.
func (s *session) publishFull() {
	for end := time.Now().Add(patience); ; time.Sleep(200 * time.Microsecond) {
		tried, err := s.advanceIfDue()
		s.report(err)
		if _, _, ready, failed := s.state(); !ready || failed != nil {
			return
		}
		if !tried || err != nil || time.Now().After(end) {
			s.Changed() // the watch tries again
			return
		}
	}
}

func (r *row) Abort() error {
	return r.s.call(func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		switch {
		case r.committed: // Commit may have returned an error nevertheless
			return engine.ErrCommitted
		case r.over:
			return fmt.Errorf("%w: the slot was aborted", engine.ErrClosed)
		}
		return r.end(false)
	})
}
