package natscache

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache/internal/ledger"
	"github.com/go-tensordict/tensordict/tensor"
)

// A row implements engine.Row. Its sample is in memory until Commit publishes it.
type row struct {
	*part  // the reserved row
	claim  *claim
	number uint64
	memory *memory

	ending    turn     // held by Commit and Abort
	stored    []uint64 // chunks of the sample, for the row storedFor of the life storedIn
	storedFor ledger.Outcome
	storedIn  *life
	pending   *request // a commit whose outcome is not known
	done      bool     // committed
}

func (r *row) Place(leaf int) (tensor.Lender, int) {
	l := r.p.layout
	if l.size[leaf] == 0 {
		return nil, 0
	}
	return r.memory, l.offset[leaf]
}

func (r *row) Commit(ctx context.Context, sums []uint32) error {
	if err := r.ending.take(ctx); err != nil {
		return err
	}
	defer r.ending.done()
	for !r.done {
		if r.pending == nil {
			if err := r.ask(ctx, sums); err != nil {
				return err
			}
			continue
		}
		if err := r.learn(ctx); err != nil {
			return err
		}
	}
	return nil
}

// ask publishes the sample, and asks for its commit. If the room was lost, it takes other room.
func (r *row) ask(ctx context.Context, sums []uint32) error {
	l, made, err := r.at(ctx)
	if errors.Is(err, engine.ErrCommitted) {
		r.finish() // an earlier commit of the number
		return nil
	}
	if err != nil {
		return r.p.explained(err)
	}
	if r.storedIn != l || r.storedFor.ID != made.ID { // servers that lost events give numbers again
		r.forget(ctx)
		r.stored, r.storedFor, r.storedIn = make([]uint64, chunksOf(len(r.memory.bytes))), made, l
	}
	err = r.p.upload(ctx, "data", r.p.site.row(made.Generation, made.ID), r.memory.bytes, r.stored)
	if err != nil {
		return err
	}
	r.pending = r.p.request(l, ledger.Event{Kind: ledger.Commit, Of: made.ID, Sums: sums, At: r.stored})
	return nil
}

// forget removes the chunks of room that was lost. Others have done so before, but chunks may have
// been under way.
func (r *row) forget(ctx context.Context) {
	if r.storedFor.ID != 0 {
		subject := r.p.site.row(r.storedFor.Generation, r.storedFor.ID)
		r.p.report(r.p.purge(ctx, "data", jetstream.WithPurgeSubject(subject)))
	}
}

// learn waits for the outcome of the commit. It returns nil if r.done says whether the sample is
// committed.
func (r *row) learn(ctx context.Context) error {
	_, err := r.p.await(ctx, r.pending)
	switch {
	case err == nil:
		r.finish()
	case err == errAnew:
		return r.resolve(ctx)
	case isLost(err): // the room
		r.pending = nil
		r.lose()
	default:
		if r.pending.isSettled() {
			r.pending = nil
		}
		return err
	}
	return nil
}

// resolve finds out whether a commit of an earlier life counts. In this life, no message of that
// one counts any more.
func (r *row) resolve(ctx context.Context) error {
	l, err := r.p.alive(ctx)
	if err != nil {
		return err
	}
	r.p.mu.Lock()
	committed, known := l.ledger.Committed(r.storedFor.Generation, r.storedFor.ID)
	if name := r.claim.name; name != "" {
		committed, known = l.ledger.Names[name].Has(r.number), true
	}
	r.p.mu.Unlock()
	switch {
	case !known:
		return fmt.Errorf("%w: the process was silent for so long that nobody knows whether the sample was committed to generation %d", engine.ErrGenerationGone, r.storedFor.Generation)
	case committed:
		r.finish()
	}
	r.pending = nil
	return nil
}

// finish says that the sample is committed, and gives the memory back.
func (r *row) finish() {
	r.done = true
	r.part.closed.Store(true)
	r.giveBack()
}

// giveBack leaves the memory to another row. It is called once, or two rows would have it.
func (r *row) giveBack() {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	if len(r.p.buffers) < spareBuffers {
		r.p.buffers = append(r.p.buffers, r.memory.bytes)
	}
}

func (r *row) Abort() error {
	ctx, cancel := r.p.politely()
	defer cancel()
	if err := r.ending.take(ctx); err != nil {
		return err
	}
	defer r.ending.done()
	if r.pending != nil && !r.done {
		_ = r.learn(ctx) // if the outcome stays unknown, the row ends after it
	}
	if r.done {
		return engine.ErrCommitted
	}
	if r.part.closed.Load() {
		return engine.ErrClosed
	}
	err := r.close()
	r.giveBack()
	return err
}

// A memory lends the bytes of a sample. It implements tensor.Lender.
type memory struct{ bytes []byte }

func (m *memory) Borrow() ([]byte, error) { return m.bytes, nil }
func (m *memory) Return()                 {}
func (m *memory) Pin() ([]byte, error)    { return m.bytes, nil }
func (m *memory) ReadOnly() bool          { return false }

// buffer returns memory for a sample.
func (p *process) buffer() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.buffers); n > 0 {
		b := p.buffers[n-1]
		p.buffers = p.buffers[:n-1]
		return b
	}
	return make([]byte, p.layout.total)
}

// spareBuffers is how many buffers a process keeps.
const spareBuffers = 4
