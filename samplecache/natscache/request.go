package natscache

import (
	"context"
	"slices"

	"github.com/go-tensordict/tensordict/samplecache/natscache/internal/ledger"
)

// A request is an event for the log, and its outcome.
type request struct {
	event   ledger.Event
	done    chan struct{} // closed when outcome is set
	outcome ledger.Outcome
	left    bool // nobody waits for it: what it makes is to end
}

func newRequest(e ledger.Event) *request { return &request{event: e, done: make(chan struct{})} }

func (r *request) settle(o ledger.Outcome) {
	r.outcome = o
	close(r.done)
}

// isSettled reports whether the outcome is known.
func (r *request) isSettled() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// request asks for an event. The outcome of a life that has ended is errAnew.
func (p *process) request(l *life, e ledger.Event) *request {
	r := newRequest(e)
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.ctx.Err() != nil {
		r.settle(ledger.Outcome{Err: errAnew})
	} else {
		l.enqueue(r)
	}
	return r
}

// await waits for the outcome of a request. If the context ends before, the request goes on.
func (p *process) await(ctx context.Context, r *request) (ledger.Outcome, error) {
	select {
	case <-r.done:
	case <-ctx.Done():
		if !r.isSettled() {
			return ledger.Outcome{}, p.ended(ctx)
		}
	}
	return r.outcome, r.outcome.Err
}

// do asks for an event and waits for the outcome. If the context ends before, what the event makes
// ends too.
func (p *process) do(ctx context.Context, l *life, e ledger.Event) (ledger.Outcome, error) {
	r := p.request(l, e)
	o, err := p.await(ctx, r)
	if err != nil {
		p.leave(l, r)
	}
	return o, err
}

// leave says that nobody waits for a request any more. If it was not sent, it never is.
func (p *process) leave(l *life, r *request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.left = true
	if i := slices.Index(l.queue, r); i >= 0 {
		l.queue = slices.Delete(slices.Clone(l.queue), i, i+1)
		if r.event.Kind == ledger.Reserve {
			l.spoken--
			p.wake()
		}
		r.settle(ledger.Outcome{Err: errAnew})
		return
	}
	if r.isSettled() {
		l.discard(r)
	}
}

// discard ends what a request has made that nobody waits for, before whatever was asked for since.
// p.mu is held.
func (l *life) discard(r *request) {
	if r.left && r.outcome.Err == nil && r.outcome.ID != 0 && l.ctx.Err() == nil {
		l.queue = slices.Insert(l.queue, 0, newRequest(ledger.Event{Kind: ledger.End, Of: r.outcome.ID}))
		l.enqueue()
	}
}
