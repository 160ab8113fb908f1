package samplecache

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tdict"
)

// A Slot is the place of one sample in the generation that is being filled. The caller must commit
// or abort it; the generation is not published before. A slot becomes free when its process ends,
// but a process that lives and is stuck keeps it.
//
// Safe for concurrent use.
type Slot struct {
	cache    *Cache
	producer *Producer
	number   uint64
	numbered bool // the number is reserved
	row      engine.Row
	sample   *tdict.TensorDict
	gate     gate // entered while the sample is written

	turn turn     // held by Commit and Abort
	sums []uint32 // nil while the sample can be written
	end  error    // ErrCommitted, ErrClosed after Abort, or nil
}

// Number returns the number of the sample.
func (s *Slot) Number() uint64 { return s.number }

// Sample returns the sample as a locked dictionary of batch shape [], whose leaves are writable
// views of the engine's memory. The elements are left from an earlier sample, not zero: write all
// of them, by tensor.Write, CopyFrom or operations with Into in their names. Do not write through
// tdict.Slice: values written to the slice that it returns are lost.
//
// After [Slot.Commit], [Slot.Abort] or [Cache.Close] the leaves return [ErrClosed]. Do not use
// slices that tensor.Of returned before: writing to one would change a sample that others read.
func (s *Slot) Sample() *tdict.TensorDict {
	if s.sample == nil {
		return tdict.New()
	}
	return s.sample
}

// Commit makes the sample part of the generation, with checksums. If it returns nil, the sample
// will be in exactly one generation, whichever processes are killed; with [Config.Durable] also
// after a loss of power. The Commit that completes a generation publishes it, unless limits defer
// that.
//
// Commit waits until operations that write the sample are done. If ctx ends before, Commit returns
// the error of ctx and s is unchanged. After any other error the sample cannot be written any more,
// and it may be committed or not: call Commit again to find out, or Abort. After a Commit that
// returned nil, Commit returns nil and stores nothing; after [Slot.Abort] it returns [ErrClosed].
func (s *Slot) Commit(ctx context.Context) error {
	ctx = orBackground(ctx)
	if err := s.cache.until(ctx, s.turn); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	defer s.turn.done()
	switch s.end {
	case ErrCommitted:
		return nil
	case ErrClosed:
		return fmt.Errorf("commit: %w: the slot was aborted", ErrClosed)
	}
	if err := s.seal(ctx); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	err := s.cache.await(ctx, "commit", func() error { return s.row.Commit(ctx, s.sums) })
	if err == nil {
		s.end = ErrCommitted
		s.producer.giveBack(s.number, true)
	}
	return err
}

// seal waits until no operation writes the sample, and computes its checksums. Afterwards the
// sample cannot be written.
func (s *Slot) seal(ctx context.Context) error {
	if s.sums != nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.gate.shut()
	err := s.cache.until(ctx, s.gate.empty)
	if err == nil {
		err = s.sum()
	}
	if err != nil {
		s.gate.start(&s.cache.lent)
	}
	return err
}

// sum computes the checksums of the leaves.
func (s *Slot) sum() (err error) {
	if !s.cache.lent.enter() {
		return errClosed
	}
	defer s.cache.lent.leave()
	sums := make([]uint32, len(s.cache.leaves))
	for i, l := range s.cache.leaves {
		if l.bytes == 0 {
			continue
		}
		lender, offset := s.row.Place(i)
		if sums[i], err = sumOf(lender, offset, l.bytes); err != nil {
			return err
		}
	}
	s.sums = sums
	return nil
}

// Abort frees the slot and its number, once operations that write the sample are done; it does not
// wait for them. It returns [ErrClosed] if s was committed or aborted before, and [ErrCommitted] if
// a Commit that returned an error had succeeded.
func (s *Slot) Abort() error {
	if !ready(s.turn) { // a Commit is running, or s is the zero Slot
		return fmt.Errorf("abort: %w: the slot is being committed", ErrClosed)
	}
	defer s.turn.done()
	if s.end != nil {
		return fmt.Errorf("abort: %w: the slot was committed or aborted", ErrClosed)
	}
	s.end = ErrClosed
	s.gate.shut()
	if ready(s.gate.empty) {
		err := s.free()
		if errors.Is(err, ErrCommitted) {
			s.end = ErrCommitted
		}
		return err
	}
	go func() { // not waited for: the caller itself may be writing the sample
		<-s.gate.empty
		_ = s.free() // on an error, Cache.Close frees the slot
	}()
	return nil
}

// free gives the row back to the engine, and the number to the producer.
func (s *Slot) free() error {
	err := s.cache.call(s.row.Abort)
	s.producer.giveBack(s.number, errors.Is(err, ErrCommitted))
	return err
}

func (s *Slot) enter() error {
	if s.gate.enter() {
		return nil
	}
	if !s.cache.lent.isOpen() {
		return fmt.Errorf("%s: %w", s.name(), errClosed)
	}
	return fmt.Errorf("%s: %w: the slot was committed or aborted", s.name(), ErrClosed)
}

func (s *Slot) leave() { s.gate.leave() }

func (s *Slot) name() string {
	return fmt.Sprintf("sample %d of producer %q", s.number, s.producer.name)
}
