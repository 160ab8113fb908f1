package natscache

import "context"

// An asking is a question for the end of the log, which several callers share.
type asking struct {
	done chan struct{} // closed once it is answered
	seq  uint64        // of the last message
}

// sync waits until the ledger has applied all messages that were in the log when sync was called.
func (p *process) sync(ctx context.Context) (*life, error) {
	l, err := p.alive(ctx)
	if err != nil {
		return nil, err
	}
	a := p.asking()
	select {
	case <-a.done:
	case <-p.ctx.Done():
		return nil, context.Cause(p.ctx)
	case <-ctx.Done():
		return nil, p.ended(ctx)
	}
	return l, p.reach(ctx, l, a.seq)
}

// asking returns a question that is not asked yet.
func (p *process) asking() *asking {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.syncing == nil {
		p.syncing = &asking{done: make(chan struct{})}
		if !p.asks && !p.over() {
			p.asks = true
			p.running.Go(p.askAll)
		}
	}
	return p.syncing
}

// askAll asks questions, one after the other, until there are none.
func (p *process) askAll() {
	for {
		p.mu.Lock()
		a := p.syncing
		p.syncing, p.asks = nil, a != nil
		p.mu.Unlock()
		if a == nil {
			return
		}
		before := p.applied()
		end, err := p.end(p.ctx)
		if err != nil {
			p.stop(err)
			return
		}
		p.mu.Lock()
		if p.life != nil && end < before {
			p.life.stop(errRewound)
		}
		p.mu.Unlock()
		a.seq = end
		close(a.done)
	}
}

// applied returns the number of the last message that was applied.
func (p *process) applied() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life == nil {
		return 0
	}
	return p.life.ledger.Seq
}

// end returns the number of the last message of the log.
func (p *process) end(ctx context.Context) (seq uint64, err error) {
	err = p.ask(ctx, func(ctx context.Context) error {
		info, err := p.log.Info(ctx)
		if err == nil && !info.Created.Equal(p.created) {
			err = errReplaced
		}
		if err == nil {
			seq = info.State.LastSeq
		}
		return err
	})
	return seq, err
}

// reach waits until the ledger has applied the message with number seq, or the life has ended.
func (p *process) reach(ctx context.Context, l *life, seq uint64) error {
	for {
		p.mu.Lock()
		if l.ledger.Seq >= seq {
			p.mu.Unlock()
			return nil
		}
		if p.folded == nil {
			p.folded = make(chan struct{})
		}
		folded := p.folded
		p.mu.Unlock()
		select {
		case <-folded:
		case <-l.ctx.Done():
			return errAnew
		case <-ctx.Done():
			return p.ended(ctx)
		}
	}
}

// view calls fn with the ledger as of the call.
func view[T any](ctx context.Context, p *process, fn func(l *life) T) (result T, err error) {
	for {
		l, err := p.sync(ctx)
		if err == nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			return fn(l), nil
		}
		if err != errAnew {
			return result, err
		}
		if !sleep(ctx, pause) { // the next life begins
			return result, p.ended(ctx)
		}
	}
}
