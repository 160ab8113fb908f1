package samplecache

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tdict"
)

// A Producer puts samples. The samples of a producer with a name are numbered from 0, and each
// number is stored once. The cache remembers the numbers for as long as it exists, so a generator
// that was killed continues at [Producer.Next]. A producer without a name has no memory of its
// numbers.
//
// Safe for concurrent use.
type Producer struct {
	cache *Cache
	name  string
	claim engine.Claim

	mu       sync.Mutex
	window   Window          // committed numbers; without a name, only Floor is used
	reserved map[uint64]bool // numbers of slots that are neither committed nor aborted
	closed   bool
}

// Producer returns a producer. name has at most 64 bytes. Among all processes one producer at a
// time has a name, until its Close or the end of its process; any number of producers may have the
// empty name.
//
// Producer returns [ErrProducerBusy], with the pid, if the name is in use, and [ErrProducer] if the
// name is invalid or there are 4,096 names: see [Cache.Forget].
func (c *Cache) Producer(name string) (*Producer, error) {
	op := fmt.Sprintf("producer %q", name)
	if err := checkName(ErrProducer, name); err != nil && name != "" {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	p := &Producer{cache: c, name: name, reserved: map[uint64]bool{}}
	err := c.await(ctx, op, func() (err error) {
		p.claim, err = c.session.Claim(ctx, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	if name != "" {
		p.window = p.claim.Window()
	}
	return p, nil
}

// Name returns the name.
func (p *Producer) Name() string { return p.name }

// Next returns the first number that is not committed. A generator that is started again continues
// there. Some later numbers may be committed: see [Producer.Window].
func (p *Producer) Next() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.window.Floor
}

// Window returns the committed numbers.
func (p *Producer) Window() Window {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.window
}

// Reserve waits for room for a sample and returns a slot for it, before any work is done. The
// sample gets the first number that is neither committed nor reserved. If that number is
// [WindowSize] or more above the first number that is not committed, Reserve waits until the latter
// is committed.
//
// There is room if the generation that is being filled has a free slot and limits allow one more
// sample. If ctx ends, the error names the processes that hold the slots, and since when. If the
// disk is full or broken, Reserve returns an error at once.
func (p *Producer) Reserve(ctx context.Context) (*Slot, error) {
	return p.reserve(ctx, p.first)
}

// ReserveAt is Reserve for a given number. It returns [ErrCommitted] if the number was committed
// before, [ErrReserved] if another slot has the number, and [ErrProducer] if p has no name.
//
// If number is [WindowSize] or more above the first number that is not committed, ReserveAt waits
// until the latter is committed.
func (p *Producer) ReserveAt(ctx context.Context, number uint64) (*Slot, error) {
	if p.name == "" {
		return nil, fmt.Errorf("reserve: %w: a producer without a name has no numbers to choose from", ErrProducer)
	}
	return p.reserve(ctx, func() uint64 { return number })
}

// Put copies a sample into the cache: Reserve, copy, Commit. It returns [ErrSchema] at once unless
// td has the keys, dtypes and shapes of the schema.
func (p *Producer) Put(ctx context.Context, td *tdict.TensorDict) error {
	return p.put(ctx, td, p.Reserve)
}

// PutAt is Put for a given number. If the number was committed before, by any process, PutAt
// returns nil and stores nothing.
func (p *Producer) PutAt(ctx context.Context, number uint64, td *tdict.TensorDict) error {
	err := p.put(ctx, td, func(ctx context.Context) (*Slot, error) { return p.ReserveAt(ctx, number) })
	if errors.Is(err, ErrCommitted) {
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
	if err = s.sample.UpdateInPlace(td); err == nil {
		err = s.Commit(ctx)
	}
	if err != nil && errors.Is(s.Abort(), ErrCommitted) {
		return nil // Commit had succeeded, and its reply was lost
	}
	return err
}

// Close releases the name. It returns [ErrReserved] if a slot is neither committed nor aborted.
func (p *Producer) Close() error {
	p.mu.Lock()
	n, over := len(p.reserved), p.closed
	p.closed = over || n == 0
	p.mu.Unlock()
	switch {
	case over:
		return fmt.Errorf("producer %q: %w", p.name, ErrClosed)
	case n > 0:
		return fmt.Errorf("close producer %q: %w: got %d slots neither committed nor aborted, want none: Commit or Abort them first", p.name, ErrReserved, n)
	}
	return p.cache.call(func() error { return p.claim.Close() })
}

// reserve waits for a number and then for room.
func (p *Producer) reserve(ctx context.Context, choose func() uint64) (*Slot, error) {
	ctx = orBackground(ctx)
	s := &Slot{cache: p.cache, producer: p, turn: newTurn()}
	err := p.cache.await(ctx, "reserve", func() error { return s.reserve(ctx, choose) })
	if err == nil {
		s.gate.start(&p.cache.lent)
		if s.sample, err = p.cache.lend(s, nil, s.row.Place); err == nil {
			s.sample.Lock("its leaves are memory of the cache: write their elements, as by CopyFrom")
			return s, nil
		}
		_ = s.Abort() // err is returned instead
	} else if s.numbered {
		p.giveBack(s.number, false)
	}
	return nil, err
}

// reserve reserves a number, unless s has one, and then a row.
func (s *Slot) reserve(ctx context.Context, choose func() uint64) (err error) {
	p := s.producer
	if !s.numbered {
		if s.number, err = p.number(choose); err != nil {
			return err
		}
		s.numbered = true
	}
	s.row, err = p.claim.Reserve(ctx, s.number)
	if !errors.Is(err, ErrCommitted) {
		return err
	}
	s.numbered = false // an earlier Commit of unknown outcome had succeeded
	p.giveBack(s.number, true)
	return s.reserve(ctx, choose)
}

// number reserves the number that choose returns.
func (p *Producer) number(choose func() uint64) (n uint64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n = choose()
	switch {
	case p.closed:
		return n, fmt.Errorf("producer %q: %w", p.name, ErrClosed)
	case p.window.Has(n):
		return n, fmt.Errorf("%w: number %d of producer %q", ErrCommitted, n, p.name)
	case p.reserved[n]:
		return n, fmt.Errorf("%w: number %d of producer %q", ErrReserved, n, p.name)
	case p.name != "" && !p.window.Reaches(n):
		return n, fmt.Errorf("%w: number %d is not committed yet, and until then at most the %d numbers after it may be reserved", ErrBlocked, p.window.Floor, WindowSize-1)
	}
	p.reserved[n] = true
	return n, nil
}

// first returns the first number that is neither committed nor reserved. p.mu is held.
func (p *Producer) first() uint64 {
	n := p.window.Floor
	for p.window.Has(n) || p.reserved[n] {
		n++
	}
	return n
}

// giveBack ends the reservation of number n, and records n if it was committed.
func (p *Producer) giveBack(n uint64, committed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.reserved, n)
	if committed && p.name == "" {
		p.window.Floor = max(p.window.Floor, n+1)
	} else if committed {
		p.window = p.window.With(n)
	}
	p.cache.moved.raise()
}
