package dircache

import (
	"context"
	"fmt"
	"time"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/samplecache"
)

// Commit implements samplecache.Row.
func (r *row) Commit(ctx context.Context) error {
	return r.s.call(func() error {
		if done, err := r.shut(ctx); done || err != nil {
			return err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if err := r.commit(); err != nil {
			r.gate.open()
			return fmt.Errorf("commit: %w", err)
		}
		r.committed = true
		r.s.forgetRow(r)
		r.s.publishDue(ctx)
		if r.s.fixed.Config.Limits.PerInsert > 0 {
			r.s.tell(wantsAll)
		}
		return nil
	})
}

// shut waits until nobody writes the sample. It reports whether that is committed already.
func (r *row) shut(ctx context.Context) (done bool, err error) {
	first, err := r.gate.closeWait(ctx, r.s.life.Done())
	if err != nil {
		return false, fmt.Errorf("commit: %w", err)
	}
	if first {
		return false, nil
	}
	r.mu.Lock() // another may be at it
	defer r.mu.Unlock()
	if !r.committed {
		return false, fmt.Errorf("commit: %w: the slot was aborted", samplecache.ErrClosed)
	}
	return true, nil
}

// commit writes the record of the sample and makes it one of the generation. It cannot be undone
// then: a process that is killed before the producer's number counts has it counted by others.
func (r *row) commit() error {
	if err := r.record(); err != nil {
		return err
	}
	passing("recorded")
	committed := false
	err := r.s.use(func(w words) { committed = r.s.layout.commit(w, r.generation, r.s.me, r.slot) })
	if err != nil {
		return err
	}
	if !committed {
		return r.s.fail(controlName, fmt.Errorf("%w: slot %d is not ours any more", samplecache.ErrCorrupt, r.slot))
	}
	passing("committed")
	if r.claim.name != "" {
		_ = r.s.use(func(w words) { r.s.done(w, r.claim.entry, r.number) }) // or a publisher does
	}
	passing("counted")
	return nil
}

// record writes the record, with the sums.
func (r *row) record() error {
	b, err := r.w.records.Acquire()
	if err != nil {
		return err
	}
	defer r.w.records.Release()
	rec := rowRecord(b, r.slot, len(r.s.fixed.Schema))
	if err := r.sum(rec); err != nil {
		return err
	}
	err = mapping.Guard(func() {
		rec.put(r.generation, r.number, r.claim.entry, r.claim.life, r.claim.name, time.Now())
	})
	if err == nil && r.s.fixed.Config.Durable {
		err = r.flush()
	}
	return err
}

// sum puts the sums of the leaves into the record.
func (r *row) sum(rec record) error {
	for i, l := range r.s.fixed.Schema {
		sum := uint32(0)
		if l.bytes > 0 {
			var err error
			if sum, err = sumOf(r.w.files[i], r.slot*l.bytes, l.bytes); err != nil {
				return err
			}
		}
		if err := mapping.Guard(func() { rec.setSum(i, sum) }); err != nil {
			return err
		}
	}
	return nil
}

// flush makes the sample and its record durable.
func (r *row) flush() error {
	for i, l := range r.s.fixed.Schema {
		if l.bytes == 0 {
			continue
		}
		if err := r.w.files[i].FlushRange(r.slot*l.bytes, l.bytes); err != nil {
			return err
		}
	}
	size := recordSize(len(r.s.fixed.Schema))
	return r.w.records.FlushRange(recordsHeader+r.slot*size, size)
}

// Abort implements samplecache.Row.
func (r *row) Abort() error {
	return r.s.call(func() error {
		empty, first := r.gate.close()
		if !first {
			return fmt.Errorf("abort: %w: the slot was committed or aborted", samplecache.ErrClosed)
		}
		select {
		case <-empty:
			return r.free()
		default:
		}
		go func() { // whoever writes it may be the one who calls
			<-empty
			_ = r.s.call(r.free) // Close frees it, too
		}()
		return nil
	})
}

// free gives the slot back.
func (r *row) free() error {
	err := r.s.use(func(w words) { r.s.layout.free(w, r.generation, r.s.me, r.slot) })
	r.s.forgetRow(r)
	r.s.tell(wantsAll)
	return err
}

// forgetRow takes a row off those that Close ends.
func (s *session) forgetRow(r *row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.rows, r)
}
