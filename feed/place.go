package feed

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
)

// A place is a rank: its slots, and the consumer that has it. A slot is free, lent to the loader,
// or held by the consumer.
type place struct {
	rank  int
	src   *rankSource
	slots []*memmap.Dataset
	paths []string // of the slots

	taken bool // a connection has the place; guarded by Feed.mu
	done  bool // a consumer had all epochs; guarded by Feed.mu

	free chan int // slots that are free
	lent chan int // slots that the loader has, in the order of their batches

	mu    sync.Mutex // guards the fields below
	held  map[uint32]bool
	empty time.Time // since when no slot is held; zero if one is held or nobody is connected
	stats Stats
}

// reset makes all slots free. Neither a loader nor a consumer may use one.
func (p *place) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.slots)
	p.free, p.lent, p.held = make(chan int, n), make(chan int, n), map[uint32]bool{}
	for i := range n {
		p.free <- i
	}
}

// memory returns the memory of a free slot, for the next batch. It is the loader's Into.
func (p *place) memory(ctx context.Context) (*tdict.TensorDict, error) {
	var slot int
	select {
	case slot = <-p.free:
	default:
		began := time.Now()
		select {
		case slot = <-p.free:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		p.mu.Lock()
		p.stats.Full += time.Since(began)
		p.mu.Unlock()
	}
	p.lent <- slot
	return p.slots[slot].TensorDict, nil
}

// hold hands the slot of the loader's next batch to the consumer.
func (p *place) hold(batch *tdict.TensorDict, epoch uint64) (slot int) {
	slot = <-p.lent
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wait(time.Time{})
	p.held[uint32(slot)] = true
	p.stats.Epoch = epoch
	p.stats.Batches++
	p.stats.Rows += batch.Shape()[0]
	p.stats.Bytes += batch.ByteSize()
	return slot
}

// give makes a slot free that the consumer gives back.
func (p *place) give(slot uint32) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.held[slot] {
		return fmt.Errorf("%w: got slot %d back, which the consumer does not hold", ErrProtocol, slot)
	}
	delete(p.held, slot)
	if len(p.held) == 0 {
		p.wait(time.Now())
	}
	p.free <- int(slot)
	return nil
}

// wait ends the consumer's time without a batch, and begins another unless from is zero. The caller
// holds mu.
func (p *place) wait(from time.Time) {
	if !p.empty.IsZero() {
		p.stats.Empty += time.Since(p.empty)
	}
	p.empty = from
}

// connect records that a consumer has come or gone.
func (p *place) connect(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Connected = yes
	p.wait(time.Time{})
	if yes {
		p.empty = time.Now()
	}
}

// now returns the stats.
func (p *place) now() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.empty.IsZero() {
		p.wait(time.Now())
	}
	return p.stats
}
