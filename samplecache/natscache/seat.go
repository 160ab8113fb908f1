package natscache

import (
	"context"
	"fmt"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache/internal/ledger"
)

// A seat implements engine.Seat.
type seat struct{ *part }

func (st *seat) Close() error { return st.close() }

func (st *seat) Begin(ctx context.Context, epoch uint64, want engine.Want) (engine.Pass, error) {
	l, made, err := st.at(ctx)
	if err != nil {
		return nil, err
	}
	st.p.mu.Lock()
	err = l.ledger.Begins(made.ID, epoch)
	st.p.mu.Unlock()
	if err != nil {
		return nil, err
	}
	ps := &pass{taking: newTurn()}
	ps.part = newPart(st.p, st.part, func(of uint64) ledger.Event {
		e := ledger.Event{Kind: ledger.Begin, Of: of, Epoch: epoch, Generation: want.Generation, OrLatest: want.OrLatest}
		if ps.id != 0 { // in a later life
			e.Generation, e.OrLatest = ps.id, false
		}
		return e
	})
	_, o, err := ps.at(ctx)
	if err != nil {
		return nil, err
	}
	ps.id = o.Generation
	return ps, nil
}

// A pass implements engine.Pass.
type pass struct {
	*part
	id uint64

	taking  turn     // held by Take
	pending *request // rows whose number is not known
	credit  int      // rows that were counted and not returned
}

func (ps *pass) ID() uint64   { return ps.id }
func (ps *pass) Close() error { return ps.close() }

func (ps *pass) Take(ctx context.Context, n int) (int, error) {
	if err := ps.taking.take(ctx); err != nil {
		return 0, err
	}
	defer ps.taking.done()
	if ps.credit == 0 {
		if err := ps.ask(ctx, n); err != nil {
			return 0, err
		}
	}
	n = min(n, ps.credit)
	ps.credit -= n
	return n, nil
}

// ask takes n rows or fewer, and adds their number to the credit. If ctx ended an earlier ask, it
// finds out what came of that instead.
func (ps *pass) ask(ctx context.Context, n int) error {
	for {
		if ps.pending == nil {
			l, made, err := ps.at(ctx)
			if err != nil {
				return err
			}
			if made.Generation != ps.id {
				return fmt.Errorf("%w: the group has begun again, with generation %d", engine.ErrGenerationGone, made.Generation)
			}
			ps.p.mu.Lock()
			allowed, group := l.ledger.Allows(made.ID)
			ps.p.mu.Unlock()
			if !allowed {
				return engine.Waiting(fmt.Sprintf("more samples: group %q has taken all rows that limits allow", group))
			}
			ps.pending = ps.p.request(l, ledger.Event{Kind: ledger.Take, Of: made.ID, Count: n})
		}
		o, err := ps.p.await(ctx, ps.pending)
		if !ps.pending.isSettled() {
			return err
		}
		ps.pending = nil
		switch {
		case err == nil:
			ps.credit += o.Count
			return nil
		case err == errAnew, isLost(err):
			if !sleep(ctx, pause) {
				return ps.p.ended(ctx)
			}
		case err == engine.ErrBlocked: // another took them: Allows says so next time
			continue
		default:
			return err
		}
	}
}
