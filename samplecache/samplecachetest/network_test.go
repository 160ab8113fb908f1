package samplecachetest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
	"github.com/go-tensordict/tensordict/samplecache/samplecachetest"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestNetwork checks an engine whose sessions can be parted from their server, which alone has the
// rows, and which keeps no generation for longer than it must.
func TestNetwork(t *testing.T) {
	d := samplecachetest.InMemory(func(e *memcache.Engine) engine.Engine { return &server{Engine: e} })
	create := d.Create
	d.Create = func(t testing.TB, place string, schema *tdict.TensorDict, config engine.Config) error {
		if config.Retain > 1 {
			return fmt.Errorf("%w: got Retain %d", errors.ErrUnsupported, config.Retain)
		}
		return create(t, place, schema, config)
	}
	for _, rules := range []string{"W01", "W04", "W07", "W09", "W11", "W12 publ", "W12 the", "W16", "W18"} {
		samplecachetest.CheckRules(t, d, time.Minute, 2*time.Second, rules)
	}
	samplecachetest.CheckFacade(t, d)
}

// lease is how long a server waits for a session that is silent.
const lease = 40 * time.Millisecond

// tooLong is how long broken engines hang.
const tooLong = 500 * time.Millisecond

// timeout is how long a client waits for a reply.
const timeout = 2 * time.Millisecond

// A server has the cache. Clients keep copies of samples that they write.
type server struct {
	*memcache.Engine
	faults // that TestBroken wants
}

// faults are mistakes of clients.
type faults struct {
	forgetsOutcome bool // Commit after a lost reply stores the sample again
	keepsSilent    bool // the server never ends a session that is silent
	staysCut       bool // a session does not come back
	hangs          bool // calls of a session that is cut off do not return
}

func (sv *server) Join(ctx context.Context, opt engine.Options) (engine.Session, error) {
	s, err := sv.Engine.Join(ctx, opt)
	if err != nil {
		return nil, err
	}
	return &client{server: sv, opt: opt, about: s.About(), session: s, back: make(chan struct{})}, nil
}

// A client is a session of a server. It implements engine.Session, and Cutter.
type client struct {
	server *server
	opt    engine.Options
	about  engine.About

	mu      sync.Mutex
	cut     bool
	closed  bool
	back    chan struct{}  // closed when it is not cut any more
	session engine.Session // at the server; another after a silence
	silent  *time.Timer    // that ends it
	later   []func() error // of which the server has not heard
}

// Cut implements Cutter.
func (c *client) Cut(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut == on || c.server.staysCut && !on {
		return
	}
	c.cut = on
	if on {
		c.back = make(chan struct{})
		c.lapseLater()
		return
	}
	c.silent.Stop()
	close(c.back)
	for _, do := range c.later {
		_ = do() // it may have lapsed
	}
	c.later = nil
}

// lapseLater has the server end the session after the lease. c.mu is held.
func (c *client) lapseLater() {
	if c.server.keepsSilent {
		c.silent = time.NewTimer(0)
		return
	}
	s := c.session
	c.silent = time.AfterFunc(lease, func() { _ = s.Close() })
}

// reach returns the session at the server, or waits and returns an error.
func (c *client) reach(ctx context.Context) (engine.Session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut && !c.closed {
		c.mu.Unlock()
		c.lose(ctx)
		c.mu.Lock()
	}
	switch {
	case c.closed:
		return nil, engine.ErrClosed
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case c.cut:
		return nil, engine.ErrUnavailable
	}
	if _, err := c.session.Latest(ctx); errors.Is(err, engine.ErrClosed) {
		s, err := c.server.Engine.Join(ctx, c.opt)
		if err != nil {
			return nil, err
		}
		c.session = s
	}
	return c.session, nil
}

// lose waits for a reply that does not come.
func (c *client) lose(ctx context.Context) {
	if c.server.hangs {
		time.Sleep(tooLong)
	}
	select {
	case <-ctx.Done():
	case <-time.After(timeout):
	}
}

// send has the server do something. If the reply is lost, and undo is not nil, it is undone.
func (c *client) send(ctx context.Context, do func(s engine.Session) error, undo func() error) error {
	s, err := c.reach(ctx)
	if err != nil {
		return err
	}
	err = do(s)
	c.mu.Lock()
	lost := c.cut && !c.closed
	if lost && err == nil && undo != nil {
		c.later = append(c.later, undo)
	}
	c.mu.Unlock()
	if lost || errors.Is(err, engine.ErrClosed) && !c.isClosed() {
		c.lose(ctx)
		return errors.Join(engine.ErrUnavailable, context.Cause(ctx))
	}
	return err
}

func (c *client) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// drop has the server close something, now or when it hears of the client.
func (c *client) drop(do func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return engine.ErrClosed
	case c.cut:
		c.later = append(c.later, do)
		return nil
	}
	if err := do(); !errors.Is(err, engine.ErrClosed) {
		return err
	}
	return nil // it has lapsed
}

// reply is send of a call that has a result, which the end of it undoes if the reply is lost.
func reply[T any](ctx context.Context, c *client, call func(s engine.Session) (T, error), end func(T) error) (result T, err error) {
	var made T
	err = c.send(ctx, func(s engine.Session) (err error) { made, err = call(s); return err }, func() error { return end(made) })
	if err == nil {
		result = made
	}
	return result, err
}

func nothing[T any](T) error { return nil }

func (c *client) About() engine.About {
	about := c.about
	about.Lease = lease
	return about
}

func (c *client) Changed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut && !c.closed {
		return c.back
	}
	return c.session.Changed()
}

func (c *client) Latest(ctx context.Context) (uint64, error) {
	return reply(ctx, c, func(s engine.Session) (uint64, error) { return s.Latest(ctx) }, nothing)
}

func (c *client) Stats(ctx context.Context) (engine.Stats, error) {
	return reply(ctx, c, func(s engine.Session) (engine.Stats, error) { return s.Stats(ctx) }, nothing)
}

func (c *client) Forget(ctx context.Context, name string) error {
	return c.send(ctx, func(s engine.Session) error { return s.Forget(ctx, name) }, nil)
}

func (c *client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return engine.ErrClosed
	}
	c.closed = true
	if c.cut {
		return nil // the server ends the session after the lease
	}
	_ = c.session.Close() // it may have lapsed
	return nil
}

// A part is what a client holds at the server. If the session was ended there, it is made again.
type part[T interface{ Close() error }] struct {
	c    *client
	make func(ctx context.Context, s engine.Session) (T, error)

	mu      sync.Mutex
	session engine.Session // that made it
	is      T
}

// hold makes a part.
func hold[T interface{ Close() error }](ctx context.Context, c *client, make func(ctx context.Context, s engine.Session) (T, error)) (*part[T], error) {
	p := &part[T]{c: c, make: make}
	_, err := reply(ctx, c, func(s engine.Session) (T, error) { return p.at(ctx, s) }, T.Close)
	return p, err
}

// at returns the part at a session.
func (p *part[T]) at(ctx context.Context, s engine.Session) (made T, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session == s {
		return p.is, nil
	}
	if made, err = p.make(ctx, s); err == nil {
		p.session, p.is = s, made
	}
	return made, err
}

// Close gives the part back.
func (p *part[T]) Close() error { return p.c.drop(p.is.Close) }

// A remoteClaim implements engine.Claim.
type remoteClaim struct {
	*part[engine.Claim]
	window engine.Window
}

func (c *client) Claim(ctx context.Context, name string) (engine.Claim, error) {
	p, err := hold(ctx, c, func(ctx context.Context, s engine.Session) (engine.Claim, error) { return s.Claim(ctx, name) })
	if err != nil {
		return nil, err
	}
	return &remoteClaim{p, p.is.Window()}, nil
}

func (c *remoteClaim) Window() engine.Window { return c.window }

func (c *remoteClaim) Reserve(ctx context.Context, number uint64) (engine.Row, error) {
	r := &remoteRow{claim: c, number: number}
	_, err := reply(ctx, c.c, func(s engine.Session) (engine.Row, error) { return r.at(ctx, s) }, engine.Row.Abort)
	if err != nil {
		return nil, err
	}
	for _, x := range c.c.about.Schema.Tensors() {
		r.leaves = append(r.leaves, &testkit.Lender{Bytes: make([]byte, x.ByteSize())})
	}
	return r, nil
}

// A remoteRow implements engine.Row. Its bytes are the client's.
type remoteRow struct {
	claim  *remoteClaim
	number uint64
	leaves []*testkit.Lender

	mu        sync.Mutex
	session   engine.Session // that has the place
	is        engine.Row
	committed bool // as the server knows
}

// at returns the place at a session, which may be a new one. [engine.ErrCommitted] is the error of
// a number that is committed.
func (r *remoteRow) at(ctx context.Context, s engine.Session) (engine.Row, error) {
	if r.session == s {
		return r.is, nil
	}
	c, err := r.claim.at(ctx, s)
	if err != nil {
		return nil, err
	}
	if c.Window().Has(r.number) || r.committed {
		return nil, engine.ErrCommitted
	}
	row, err := c.Reserve(ctx, r.number)
	if err == nil {
		r.session, r.is = s, row
	}
	return row, err
}

func (r *remoteRow) Place(leaf int) (tensor.Lender, int) {
	if len(r.leaves[leaf].Bytes) == 0 {
		return nil, 0
	}
	return r.leaves[leaf], 0
}

func (r *remoteRow) Commit(ctx context.Context, sums []uint32) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.claim.c.send(ctx, func(s engine.Session) error {
		if r.committed && !r.claim.c.server.forgetsOutcome {
			return nil
		}
		if r.committed {
			r.session, r.committed = nil, false
		}
		row, err := r.at(ctx, s)
		if errors.Is(err, engine.ErrCommitted) {
			return nil
		}
		if err == nil {
			err = r.write(row)
		}
		if err == nil {
			err = row.Commit(ctx, sums)
		}
		r.committed = err == nil
		time.Sleep(time.Duration(rand.IntN(2)) * 20 * time.Microsecond) // the reply is on its way
		return err
	}, nil)
}

// write copies the sample to its place.
func (r *remoteRow) write(row engine.Row) error {
	for leaf, local := range r.leaves {
		lender, offset := row.Place(leaf)
		if lender == nil {
			continue
		}
		b, err := lender.Borrow()
		if err != nil {
			return err
		}
		copy(b[offset:], local.Bytes)
		lender.Return()
	}
	return nil
}

func (r *remoteRow) Abort() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.committed {
		return engine.ErrCommitted
	}
	return r.claim.c.drop(r.is.Abort)
}

// A remoteRows implements engine.Rows. Its rows are at the server.
type remoteRows struct {
	*part[engine.Rows]
	lapsed <-chan struct{}
}

func (c *client) Open(ctx context.Context, id uint64) (engine.Rows, error) {
	p, err := hold(ctx, c, func(ctx context.Context, s engine.Session) (engine.Rows, error) { return s.Open(ctx, id) })
	if err != nil {
		return nil, err
	}
	return &remoteRows{p, p.is.Lapsed()}, nil
}

func (r *remoteRows) Lapsed() <-chan struct{}        { return r.lapsed }
func (r *remoteRows) Place(int) (tensor.Lender, int) { return nil, 0 }

func (r *remoteRows) Info(row int) (engine.Info, error) {
	return reply(context.Background(), r.c, func(s engine.Session) (engine.Info, error) {
		rows, err := r.at(context.Background(), s)
		if err != nil {
			return engine.Info{}, err
		}
		return rows.Info(row)
	}, nothing)
}

func (r *remoteRows) Read(ctx context.Context, rows []int, leaf int, dst []byte) error {
	return r.c.send(ctx, func(s engine.Session) error {
		at, err := r.at(ctx, s)
		if err != nil {
			return err
		}
		lender, offset := at.Place(leaf)
		if lender == nil {
			return nil
		}
		b, err := lender.Borrow()
		if err != nil {
			return err
		}
		defer lender.Return()
		n := len(dst) / max(len(rows), 1)
		for i, row := range rows {
			copy(dst[i*n:][:n], b[offset+row*n:])
		}
		return nil
	}, nil)
}

// A remoteSeat implements engine.Seat.
type remoteSeat struct{ *part[engine.Seat] }

func (c *client) Enter(ctx context.Context, group string, world int) (engine.Seat, error) {
	p, err := hold(ctx, c, func(ctx context.Context, s engine.Session) (engine.Seat, error) { return s.Enter(ctx, group, world) })
	if err != nil {
		return nil, err
	}
	return &remoteSeat{p}, nil
}

func (st *remoteSeat) Begin(ctx context.Context, epoch uint64, want engine.Want) (engine.Pass, error) {
	p, err := hold(ctx, st.c, func(ctx context.Context, s engine.Session) (engine.Pass, error) {
		seat, err := st.at(ctx, s)
		if err != nil {
			return nil, err
		}
		return seat.Begin(ctx, epoch, want)
	})
	if err != nil {
		return nil, err
	}
	return &remotePass{p, p.is.ID()}, nil
}

// A remotePass implements engine.Pass.
type remotePass struct {
	*part[engine.Pass]
	id uint64
}

func (p *remotePass) ID() uint64 { return p.id }

func (p *remotePass) Take(ctx context.Context, n int) (int, error) {
	return reply(ctx, p.c, func(s engine.Session) (int, error) {
		pass, err := p.at(ctx, s)
		if err != nil {
			return 0, err
		}
		return pass.Take(ctx, n)
	}, nothing)
}
