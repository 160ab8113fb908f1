package natscache

import (
	"context"
	"sync"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache/internal/ledger"
)

// A session implements engine.Session.
type session struct {
	*part
	p       *process
	release func()
	mirror  *local // nil for none
}

var _ engine.Session = (*session)(nil)

// join makes the session a member.
func (s *session) join(ctx context.Context, opt engine.Options) error {
	s.part = newPart(s.p, nil, func(uint64) ledger.Event { return ledger.Event{Kind: ledger.Join} })
	if _, _, err := s.at(ctx); err != nil {
		return err
	}
	if opt.OnError != nil {
		var one sync.Mutex
		s.p.mu.Lock()
		s.p.onError[s] = func(err error) {
			if one.TryLock() { // drop err if OnError is still running
				defer one.Unlock()
				opt.OnError(err)
			}
		}
		s.p.mu.Unlock()
	}
	return nil
}

// notify calls the OnError of s, unless its process is closed. p.mu is held.
func (s *session) notify(err error) {
	if on := s.p.onError[s]; on != nil && !s.p.closed {
		s.p.running.Go(func() { on(err) })
	}
}

func (s *session) About() engine.About { return s.p.about }

func (s *session) Changed() <-chan struct{} {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	return s.p.changed
}

// look calls fn with the ledger as of the call.
func look[T any](ctx context.Context, s *session, fn func(l *life) T) (result T, err error) {
	if s.over() {
		return result, engine.ErrClosed
	}
	return view(ctx, s.p, fn)
}

func (s *session) Latest(ctx context.Context) (uint64, error) {
	return look(ctx, s, func(l *life) uint64 { return l.ledger.Latest })
}

func (s *session) Stats(ctx context.Context) (engine.Stats, error) {
	return look(ctx, s, func(l *life) engine.Stats { return l.stats() })
}

// stats describes the cache. p.mu is held.
func (l *life) stats() engine.Stats {
	st := l.ledger.Stats(l.now())
	for _, size := range l.p.layout.size {
		st.Bytes += int64(size)
	}
	return st
}

// known returns statistics without asking the servers.
func (p *process) known() (engine.Stats, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life == nil {
		return engine.Stats{}, engine.ErrUnavailable
	}
	return p.life.stats(), nil
}

func (s *session) Forget(ctx context.Context, name string) error {
	_, err := s.do(ctx, func(of uint64) ledger.Event { return ledger.Event{Kind: ledger.Forget, Of: of, Name: name} })
	return err
}

func (s *session) Claim(ctx context.Context, name string) (engine.Claim, error) {
	c := &claim{s: s, name: name}
	c.part = newPart(s.p, s.part, func(of uint64) ledger.Event { return ledger.Event{Kind: ledger.Claim, Of: of, Name: name} })
	_, o, err := c.at(ctx)
	if err != nil {
		return nil, err
	}
	c.window = o.Window
	return c, nil
}

func (s *session) Enter(ctx context.Context, group string, world int) (engine.Seat, error) {
	st := &seat{part: newPart(s.p, s.part, func(of uint64) ledger.Event {
		return ledger.Event{Kind: ledger.Enter, Of: of, Name: group, World: world}
	})}
	_, _, err := st.at(ctx)
	if err != nil {
		return nil, err
	}
	return st, nil
}

func (s *session) Open(ctx context.Context, id uint64) (engine.Rows, error) {
	r, err := s.open(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.mirrored(ctx, r)
}

// Close implements engine.Session. It does not wait for servers that do not answer.
func (s *session) Close() error {
	err := s.close()
	if err == nil {
		s.p.mu.Lock()
		delete(s.p.onError, s)
		s.p.mu.Unlock()
		if s.mirror != nil {
			s.mirror.close()
		}
		s.release()
	}
	return err
}
