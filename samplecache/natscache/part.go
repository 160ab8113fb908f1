package natscache

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache/internal/ledger"
)

// A part is something that a session has in the ledger, or the session itself. If the process
// begins another life, the next use of the part makes it again.
type part struct {
	p      *process
	of     *part // what it is made of: the session, a claim or a seat; nil for a session
	event  func(of uint64) ledger.Event
	closed atomic.Bool

	turn    turn // held while the rest changes
	life    *life
	outcome ledger.Outcome // of the event
}

func newPart(p *process, of *part, event func(of uint64) ledger.Event) *part {
	return &part{p: p, of: of, event: event, turn: newTurn()}
}

// isLost reports whether err says that a part has ended without its Close.
func isLost(err error) bool { return errors.Is(err, ledger.ErrLost) }

// lose says that the part has ended, so that the next use makes it again.
func (x *part) lose() {
	_ = x.turn.take(context.Background()) // does not end
	x.life = nil
	x.turn.done()
}

// over reports whether the part or its session is closed. A pass outlasts its seat.
func (x *part) over() bool { return x.closed.Load() || x.session().closed.Load() }

// session returns the session whose part it is.
func (x *part) session() *part {
	for x.of != nil {
		x = x.of
	}
	return x
}

// at makes the part, unless it is there in the present life. It returns that life, and the outcome
// of the event that made the part.
func (x *part) at(ctx context.Context) (*life, ledger.Outcome, error) {
	if err := x.turn.take(ctx); err != nil {
		return nil, ledger.Outcome{}, err
	}
	defer x.turn.done()
	for {
		l, err := x.p.alive(ctx)
		switch {
		case x.over():
			return nil, ledger.Outcome{}, engine.ErrClosed
		case err != nil:
			return nil, ledger.Outcome{}, err
		case x.life == l:
			return l, x.outcome, nil
		}
		o, err := x.make(ctx, l)
		if err == nil {
			x.life, x.outcome = l, o
			if x.over() {
				x.p.request(l, ledger.Event{Kind: ledger.End, Of: o.ID})
			}
			continue
		}
		if err != errAnew && !isLost(err) {
			return nil, o, err
		}
		if !sleep(ctx, pause) {
			return nil, o, x.p.ended(ctx)
		}
	}
}

// make asks for the event that makes the part.
func (x *part) make(ctx context.Context, l *life) (o ledger.Outcome, err error) {
	of := uint64(0)
	if x.of != nil {
		other, made, err := x.of.at(ctx)
		if err != nil {
			return o, err
		}
		if other != l {
			return o, errAnew
		}
		of = made.ID
	}
	return x.p.do(ctx, l, x.event(of))
}

// do asks for an event about the part. In another life it asks again.
func (x *part) do(ctx context.Context, event func(of uint64) ledger.Event) (ledger.Outcome, error) {
	for {
		l, made, err := x.at(ctx)
		if err != nil {
			return ledger.Outcome{}, err
		}
		o, err := x.p.do(ctx, l, event(made.ID))
		switch {
		case isLost(err):
			x.lose()
		case err != errAnew:
			return o, err
		}
		if !sleep(ctx, pause) {
			return o, x.p.ended(ctx)
		}
	}
}

// close ends the part. If the servers do not answer soon, they learn of it later.
func (x *part) close() error {
	if x.over() || x.closed.Swap(true) {
		return engine.ErrClosed
	}
	ctx, cancel := x.p.politely()
	defer cancel()
	if x.turn.take(ctx) != nil {
		return nil // at ends the part
	}
	defer x.turn.done()
	if x.life != nil {
		r := x.p.request(x.life, ledger.Event{Kind: ledger.End, Of: x.outcome.ID})
		if _, err := x.p.await(ctx, r); err != nil { // it is over in any case
			x.p.unheard(ctx)
		}
	}
	return nil
}
