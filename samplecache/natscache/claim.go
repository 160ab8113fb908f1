package natscache

import (
	"context"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache/internal/ledger"
)

// A claim implements engine.Claim.
type claim struct {
	*part
	s      *session
	name   string
	window engine.Window
}

func (c *claim) Window() engine.Window { return c.window }
func (c *claim) Close() error          { return c.close() }

func (c *claim) Reserve(ctx context.Context, number uint64) (engine.Row, error) {
	if c.over() {
		return nil, engine.ErrClosed
	}
	if !c.p.roomLeft() {
		return nil, c.p.noSlot()
	}
	r := &row{claim: c, number: number, ending: newTurn()}
	r.part = newPart(c.p, c.part, func(of uint64) ledger.Event {
		return ledger.Event{Kind: ledger.Reserve, Of: of, Number: number}
	})
	if _, _, err := r.at(ctx); err != nil {
		return nil, c.p.explained(err)
	}
	r.memory = &memory{c.p.buffer()}
	return r, nil
}

// roomLeft reports whether there may be room for one more row, besides the rows for which the
// process has asked and has no answer yet.
func (p *process) roomLeft() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.life == nil || p.life.ledger.Free() > p.life.spoken
}

func (p *process) noSlot() error { return engine.NoSlot(p.charter.Config.Limits, p.known) }

// explained gives the ErrBlocked of a Reserve its reason.
func (p *process) explained(err error) error {
	if err == engine.ErrBlocked {
		return p.noSlot()
	}
	return err
}
