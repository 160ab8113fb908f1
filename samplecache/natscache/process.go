package natscache

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache/internal/ledger"
)

// A process is this process in a cache. It has the connection to the servers, and a ledger that
// follows the log. All its sessions share it.
type process struct {
	site            site
	nc              *nats.Conn
	js              jetstream.JetStream
	log, data, snap jetstream.Stream
	about           engine.About
	layout          *layout
	begun           bool // it has a first life, or is about to
	charter         ledger.Charter
	host            string
	created         time.Time      // of the log
	room            chan struct{}  // has one element for each chunk that is under way
	leaving         atomic.Bool    // close was called
	running         sync.WaitGroup // goroutines
	ctx             context.Context
	stop            context.CancelCauseFunc // ends p, with the error of all later calls

	mu      sync.Mutex
	parted  bool                     // the connection is lost, and there is no other yet
	why     error                    // the reason
	denied  error                    // the last operation that the servers did not allow
	link    context.Context          // ends with the connection
	unlink  context.CancelFunc       // ends link
	life    *life                    // the present one; nil before the first
	turned  chan struct{}            // closed when life changes
	changed chan struct{}            // closed when something that was blocked may be possible
	folded  chan struct{}            // closed when the ledger changes; nil if nobody waits
	lapsed  map[uint64]chan struct{} // closed when a generation is not kept any more
	trouble error                    // the last error of the servers, nil once they answer again
	onError map[*session]func(error)
	syncing *asking // the next question for the end of the log, nil if there is none
	asks    bool    // askAll runs
	buffers [][]byte
	closed  bool // shut was called
}

func newProcess(name site) *process {
	p := &process{site: name, turned: make(chan struct{}), changed: make(chan struct{}), room: make(chan struct{}, underWay),
		lapsed: map[uint64]chan struct{}{}, onError: map[*session]func(error){}}
	p.ctx, p.stop = context.WithCancelCause(context.Background())
	p.link, p.unlink = context.WithCancel(p.ctx)
	return p
}

// start connects to a cache and makes this process a member.
func start(ctx context.Context, e Engine) (_ *process, err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	p := newProcess(site(e.Name))
	p.host, _ = os.Hostname() // only for people
	defer func() {
		if err != nil {
			p.shut()
		}
	}()
	if err = p.connect(ctx, e.URL, e.Options); err != nil {
		return nil, err
	}
	for _, one := range []struct {
		name string
		at   *jetstream.Stream
	}{{"log", &p.log}, {"data", &p.data}, {"snap", &p.snap}, {"here", new(jetstream.Stream)}} {
		err := p.ask(ctx, func(ctx context.Context) (err error) {
			if *one.at, err = p.js.Stream(ctx, p.site.stream(one.name)); err != nil {
				return err
			}
			return ours(*one.at)
		})
		if err != nil {
			return nil, err
		}
	}
	p.created = p.log.CachedInfo().Created
	l, err := p.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	p.charter = l.Charter
	if p.about, p.layout, err = about(l.Charter); err != nil {
		return nil, err
	}
	p.begun = true
	p.running.Go(p.run)
	_, err = p.alive(ctx)
	return p, err
}

// close leaves the cache.
func (p *process) close() {
	p.mu.Lock()
	l := p.life
	p.mu.Unlock()
	p.leaving.Store(true) // otherwise Gone would begin another life
	if l != nil {
		ctx, cancel := p.politely()
		_, _ = p.do(ctx, l, ledger.Event{Kind: ledger.Gone, Name: l.id}) // others notice otherwise
		cancel()
	}
	p.shut()
}

// shut ends everything without the servers.
func (p *process) shut() {
	p.mu.Lock() // asking and report start nothing afterwards
	p.stop(engine.ErrClosed)
	p.closed = true
	p.mu.Unlock()
	if p.nc != nil {
		p.nc.Close()
	}
	p.running.Wait()
}

// over reports whether p has ended for good.
func (p *process) over() bool { return p.ctx.Err() != nil }

// report calls the OnError of the sessions.
func (p *process) report(err error) {
	if err == nil || errors.Is(err, engine.ErrUnavailable) || errors.Is(err, context.Canceled) {
		return // calls return it
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.onError {
		s.notify(err)
	}
}

// wake closes the channel of Changed. p.mu is held.
func (p *process) wake() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// run lives, one life after the other, until p is closed.
func (p *process) run() {
	var before []string // lives that may still be members
	for !p.over() && !p.leaving.Load() {
		l := newLife(p, before)
		err := l.live()
		p.mu.Lock()
		if l.ready { // its first message has ended them
			before = nil
		}
		p.mu.Unlock()
		before = append(before, l.id)
		l.end(err)
		if lasting(err) {
			p.stop(err)
			p.nc.Close()
		}
	}
}

// alive returns the present life, once it has joined.
func (p *process) alive(ctx context.Context) (*life, error) {
	for {
		p.mu.Lock()
		l, turned := p.life, p.turned
		p.mu.Unlock()
		if l != nil {
			return l, nil
		}
		select {
		case <-turned:
		case <-p.ctx.Done():
			return nil, context.Cause(p.ctx)
		case <-ctx.Done():
			return nil, p.ended(ctx)
		}
	}
}

// turnTo makes l the present life, or none.
func (p *process) turnTo(l *life) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life = l; l != nil {
		l.ready = true
	}
	close(p.turned)
	p.turned = make(chan struct{})
	p.wake()
}
