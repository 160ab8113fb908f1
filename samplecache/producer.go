package samplecache

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/tdict"
)

// A Producer puts samples. Those of one with a name are numbered from 0, and each number is stored
// once: its numbers are remembered for as long as the cache, so that a generator that was killed
// goes on where it was, with [Producer.Next]. One without a name has no memory.
//
// Safe for concurrent use.
type Producer struct {
	cache *Cache
	name  string
	claim Claim

	mu       sync.Mutex
	window   Window          // what is committed; of one without a name, only Floor counts
	reserved map[uint64]bool // numbers of slots that are neither committed nor aborted
	moved    chan struct{}   // closed when one of the two has changed
}

// claimPatience is how long [Cache.Producer] waits for a process that is stopped in the middle of a
// change that all have to see.
const claimPatience = 10 * time.Second

// Producer returns a producer. A name, of at most 64 bytes, is one producer's at a time, among all
// processes, until its Close or the end of its process: it returns [ErrProducerBusy], which says
// whose. "" is no name, and everybody's. It returns [ErrProducer] for names that cannot be, and if
// there are 4,096: see [Cache.Forget].
func (c *Cache) Producer(name string) (*Producer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), claimPatience)
	defer cancel()
	claim, err := c.session.Claim(ctx, name)
	if err != nil {
		return nil, err
	}
	p := &Producer{cache: c, name: name, claim: claim, reserved: map[uint64]bool{}, moved: make(chan struct{})}
	if name != "" {
		p.window, err = claim.Window()
	}
	if err != nil {
		_ = claim.Close() // err says what is wrong
		return nil, err
	}
	return p, nil
}

// Name returns the name.
func (p *Producer) Name() string { return p.name }

// Next returns the first number that is not committed: where a generator that is started again goes
// on. Some numbers after it may be committed: see [Producer.Window].
func (p *Producer) Next() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.window.Floor
}

// Window returns which numbers are committed.
func (p *Producer) Window() Window {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.window
}

// Reserve waits for room for a sample and returns a slot for it, before any work is done. Its
// number is the first that is neither committed nor reserved; where that is [WindowSize] or more
// after the first that is not committed, Reserve waits for that to be.
//
// Room is there when a slot of the generation that is being filled is free and limits allow one
// more sample. The error of a context that ends says who holds the slots, and since when. Disks
// that are full, or broken, are errors at once.
func (p *Producer) Reserve(ctx context.Context) (*Slot, error) {
	return p.reserve(ctx, p.choose)
}

// ReserveAt is Reserve for a number, for a sample that may have been committed before: then it is
// [ErrCommitted], and there is nothing to do. It returns [ErrReserved] if another slot has the
// number, and [ErrProducer] if p has no name.
func (p *Producer) ReserveAt(ctx context.Context, number uint64) (*Slot, error) {
	if p.name == "" {
		return nil, fmt.Errorf("reserve: %w: one without a name has no numbers to choose from", ErrProducer)
	}
	return p.reserve(ctx, func() (uint64, error) { return number, p.available(number) })
}

// Put copies a sample into the cache: Reserve, copy, Commit. td has the keys, dtypes and shapes of
// the schema, or it is [ErrSchema] at once.
func (p *Producer) Put(ctx context.Context, td *tdict.TensorDict) error {
	return p.put(ctx, td, p.Reserve)
}

// PutAt is Put of a number. If that is committed, by whichever process, PutAt is a success and
// stores nothing.
func (p *Producer) PutAt(ctx context.Context, number uint64, td *tdict.TensorDict) error {
	if p.name != "" && p.Window().Has(number) {
		return nil
	}
	err := p.put(ctx, td, func(ctx context.Context) (*Slot, error) { return p.ReserveAt(ctx, number) })
	if errors.Is(err, ErrCommitted) { // meanwhile
		return nil
	}
	return err
}

func (p *Producer) put(ctx context.Context, td *tdict.TensorDict, reserve func(context.Context) (*Slot, error)) error {
	if err := p.cache.check(td); err != nil {
		return fmt.Errorf("put: %w", err)
	}
	s, err := reserve(ctx)
	if err != nil {
		return err
	}
	if err = s.Sample().UpdateInPlace(td); err == nil {
		err = s.Commit(ctx)
	}
	if err != nil {
		_ = s.Abort() // ErrClosed if it was too late
	}
	return err
}

// Close lets go of the name, once all slots are committed or aborted: it is [ErrReserved] until
// then.
func (p *Producer) Close() error {
	p.mu.Lock()
	n := len(p.reserved)
	p.mu.Unlock()
	if n > 0 {
		return fmt.Errorf("close producer %q: %w: %d slots are neither committed nor aborted", p.name, ErrReserved, n)
	}
	return p.claim.Close()
}

// reserve waits for a number and then for room.
func (p *Producer) reserve(ctx context.Context, choose func() (uint64, error)) (*Slot, error) {
	number, err := p.number(ctx, choose)
	if err != nil {
		return nil, err
	}
	s := &Slot{producer: p, number: number}
	err = p.cache.await(ctx, "reserve", func() (err error) {
		s.row, err = p.claim.Reserve(ctx, number)
		return err
	})
	if err != nil {
		p.giveBack(number, false)
		return nil, err
	}
	return s, nil
}

// number waits until choose has a number, and reserves it.
func (p *Producer) number(ctx context.Context, choose func() (uint64, error)) (uint64, error) {
	for {
		p.mu.Lock()
		n, err := choose()
		if err == nil {
			p.reserved[n] = true
		}
		moved := p.moved
		p.mu.Unlock()
		if err != errBeyond {
			return n, err
		}
		changed := p.cache.session.Changed() // by Close
		if _, err := p.cache.session.Latest(ctx); err != nil {
			return 0, fmt.Errorf("reserve: %w", err)
		}
		select {
		case <-moved:
		case <-changed:
		case <-ctx.Done():
			return 0, fmt.Errorf("reserve: %w: %w: number %d is not committed, and %d after it are the most that may be reserved before it is", context.Cause(ctx), ErrBlocked, p.Next(), WindowSize-1)
		}
	}
}

// errBeyond says that a number is too far beyond those that are committed.
var errBeyond = fmt.Errorf("%w: the number is too far ahead", ErrBlocked)

// choose returns the first number that can be reserved. p.mu is held.
func (p *Producer) choose() (uint64, error) {
	n := p.window.Floor
	for p.window.Has(n) || p.reserved[n] {
		n++
	}
	if p.name != "" && !p.window.Reaches(n) {
		return 0, errBeyond
	}
	return n, nil
}

// available returns an error unless a number can be reserved. p.mu is held.
func (p *Producer) available(n uint64) error {
	switch {
	case p.window.Has(n):
		return fmt.Errorf("reserve: %w: number %d of producer %q", ErrCommitted, n, p.name)
	case p.reserved[n]:
		return fmt.Errorf("reserve: %w: number %d of producer %q", ErrReserved, n, p.name)
	case !p.window.Reaches(n):
		return errBeyond
	}
	return nil
}

// giveBack ends the reservation of a number.
func (p *Producer) giveBack(n uint64, committed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reserved[n] {
		return
	}
	delete(p.reserved, n)
	if committed && p.name == "" {
		p.window.Floor = max(p.window.Floor, n+1)
	} else if committed {
		p.window = p.window.With(n)
	}
	close(p.moved)
	p.moved = make(chan struct{})
}
