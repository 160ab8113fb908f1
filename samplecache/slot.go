package samplecache

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tdict"
)

// A Slot is a place for one sample in the generation that is being filled. It must be committed or
// aborted; the end of its process frees it, but a process that lives and is stuck keeps it, and the
// generation waits.
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
	sums []uint32 // nil until nobody can write the sample any more
	end  error    // ErrCommitted, ErrClosed after Abort, or nil
}

// Number returns the number that the sample will have.
func (s *Slot) Number() uint64 { return s.number }

// Sample returns the place as a dictionary of batch shape [], whose leaves are writable views of
// the engine's memory. Their elements are not zero but those of some earlier sample: write all of
// them, by tensor.Write, CopyFrom or the forms of operations called Into. tdict.Slice is for reading:
// values written to the slice that it returns are lost. The dictionary is locked. After
// [Slot.Commit], [Slot.Abort] or [Cache.Close] its leaves are [ErrClosed]; slices that tensor.Of
// handed out must not be used any more then, as they would change a sample that others read.
func (s *Slot) Sample() *tdict.TensorDict {
	if s.sample == nil {
		return tdict.New()
	}
	return s.sample
}

// Commit makes the sample part of the generation, with checksums. If it returns nil, the sample
// will be in exactly one generation, whichever processes are killed; with [Config.Durable] also
// after a loss of power. Called again then, it is a success and stores nothing. The Commit that
// completes a generation publishes it, unless limits want that to wait.
//
// Commit waits until operations that write the sample are done. If ctx ends before, Commit returns
// the error of ctx and s is unchanged. After other errors the sample cannot be written any more,
// and it may be committed or not: call Commit again to find out, or Abort. Commit returns
// [ErrClosed] after [Slot.Abort].
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

// seal waits until nobody writes the sample, and computes its sums. Nobody can write it then.
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

// sum computes the sums of the leaves.
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

// Abort gives slot and number back, once operations that write the sample are done; it does not
// wait for them. It returns [ErrClosed] if s was committed or aborted before, and [ErrCommitted] if
// a Commit that returned an error has succeeded.
func (s *Slot) Abort() error {
	if !ready(s.turn) { // or it is the zero Slot
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
	go func() { // the caller may be the one that writes the sample
		<-s.gate.empty
		_ = s.free() // Close frees it, too
	}()
	return nil
}

// free gives the place back.
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
