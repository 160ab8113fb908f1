package samplecache

import (
	"context"

	"github.com/go-tensordict/tensordict/tdict"
)

// A Slot is a place for one sample in the generation that is being filled. It must be committed or
// aborted; the end of its process frees it, but a process that lives and is stuck keeps it, and the
// generation waits.
//
// Safe for concurrent use.
type Slot struct {
	producer *Producer
	number   uint64
	row      Row
}

// Number returns the number that the sample will have.
func (s *Slot) Number() uint64 { return s.number }

// Sample returns the place as a dictionary of batch shape [], whose leaves are writable views of
// mapped memory. Their elements are not zero but those of some earlier sample: write all of them.
// After [Slot.Commit] or [Slot.Abort] they are [ErrClosed]; slices that tensor.Of handed out must
// not be used any more then, as they would change a sample that others read.
func (s *Slot) Sample() *tdict.TensorDict { return s.row.Sample() }

// Commit makes the sample part of the generation, with checksums. If it returns nil, the sample
// will be in exactly one generation, whichever processes are killed; with [Config.Durable] also
// after a loss of power. Called again then, it is a success and stores nothing. The Commit that
// completes a generation publishes it, unless limits want that to wait.
//
// Commit waits until operations that write the sample are done. If ctx ends before, the error is
// that of ctx, and s is as it was. It returns [ErrClosed] after [Slot.Abort].
func (s *Slot) Commit(ctx context.Context) error {
	err := s.row.Commit(ctx)
	if err == nil {
		s.producer.giveBack(s.number, true)
	}
	return err
}

// Abort gives slot and number back, for others to use. It returns [ErrClosed] if s was committed or
// aborted before.
func (s *Slot) Abort() error {
	err := s.row.Abort()
	if err == nil {
		s.producer.giveBack(s.number, false)
	}
	return err
}
