package natscache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
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
	other           string         // Create: who else makes the cache
	met             time.Time      // Create: since when
	running         sync.WaitGroup // goroutines
	ctx             context.Context
	stop            context.CancelCauseFunc // ends p, with the error that all calls return from then on

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
}

const (
	attempt   = time.Second            // how long one request may take
	pause     = 20 * time.Millisecond  // between requests that failed
	underWay  = 16                     // chunks that are being published, at most
	stuck     = 2 * time.Second        // how long a write to a connection may take
	mostDelay = 250 * time.Millisecond // between attempts to connect again
)

// connect connects to servers. options may be overridden where the process depends on it.
func (p *process) connect(ctx context.Context, urls string, options []nats.Option) error {
	if urls == "" {
		return fmt.Errorf("%w: got no URL", engine.ErrConfig)
	}
	before := []nats.Option{nats.Name("tensordict"), nats.Timeout(attempt), nats.FlusherTimeout(stuck)}
	type result struct {
		nc  *nats.Conn
		err error
	}
	done := make(chan result, 1)
	go func() {
		nc, err := nats.Connect(urls, slices.Concat(before, options, []nats.Option{p.options})...)
		done <- result{nc, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return explain(r.err)
		}
		p.nc = r.nc
	case <-ctx.Done():
		go func() { // nats.Connect has no context
			if r := <-done; r.nc != nil {
				r.nc.Close()
			}
		}()
		return fmt.Errorf("%w: %w", engine.ErrUnavailable, context.Cause(ctx))
	}
	if err := checkVersion(p.nc.ConnectedServerVersion()); err != nil {
		return err
	}
	if got := p.nc.MaxPayload(); got < 1<<20 {
		return fmt.Errorf("%w: max_payload of the server is %d, want at least %d: raise it in the configuration of the server", engine.ErrConfig, got, 1<<20)
	}
	return nil
}

// options sets options of the connection that users cannot choose.
func (p *process) options(o *nats.Options) error {
	o.AllowReconnect, o.MaxReconnect, o.ReconnectBufSize = true, -1, -1
	o.RetryOnFailedConnect, o.IgnoreAuthErrorAbort = false, true
	o.PingInterval, o.MaxPingsOut = heartbeat, 3                  // a server that stops is noticed after 2 s
	o.CustomReconnectDelayCB = func(attempts int) time.Duration { // the first soon, and all processes not at once
		return rand.N(min(20*time.Millisecond<<min(attempts-1, 10), mostDelay)) + time.Millisecond
	}
	lost, back, failed := o.DisconnectedErrCB, o.ReconnectedCB, o.AsyncErrorCB
	o.DisconnectedErrCB = func(nc *nats.Conn, err error) {
		p.mu.Lock()
		p.parted, p.why = true, err
		p.unlink()
		p.link, p.unlink = context.WithCancel(p.ctx)
		p.mu.Unlock()
		if lost != nil {
			lost(nc, err)
		}
	}
	o.ReconnectedCB = func(nc *nats.Conn) {
		p.mu.Lock()
		p.parted = false
		p.mu.Unlock()
		if back != nil {
			back(nc)
		}
	}
	o.AsyncErrorCB = func(nc *nats.Conn, sub *nats.Subscription, err error) {
		p.mu.Lock()
		if errors.Is(err, nats.ErrPermissionViolation) {
			p.denied = err
			p.stop(explain(err)) // whatever it is, the cache does not work without it
		} else if p.parted {
			p.why = err
		}
		p.mu.Unlock()
		if failed != nil {
			failed(nc, sub, err)
		}
	}
	return nil
}

// leastVersion is the oldest version of servers that has what this package uses.
var leastVersion = [2]int{2, 10}

func checkVersion(version string) error {
	var got [2]int
	_, err := fmt.Sscanf(version, "%d.%d", &got[0], &got[1])
	if err != nil || got[0] < leastVersion[0] || got[0] == leastVersion[0] && got[1] < leastVersion[1] {
		return fmt.Errorf("%w: got version %q, want at least %d.%d", ErrServerVersion, version, leastVersion[0], leastVersion[1])
	}
	return nil
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
	if p.js, err = jetstream.New(p.nc, jetstream.WithPublishAsyncTimeout(attempt)); err != nil {
		return nil, explain(err)
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
	if l != nil {
		ctx, cancel := p.politely()
		_, _ = p.do(ctx, l, ledger.Event{Kind: ledger.Gone, Name: l.id}) // others notice otherwise
		cancel()
	}
	p.shut()
}

// politely returns a context for waiting for an answer that is not needed: it ends soon, and at
// once if the connection is lost.
func (p *process) politely() (context.Context, context.CancelFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.parted || p.trouble != nil {
		return context.WithTimeout(p.link, pause)
	}
	return context.WithTimeout(p.link, attempt)
}

// unheard notes that there was no answer before ctx ended, so that the next wait is shorter.
func (p *process) unheard(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.trouble == nil && ctx.Err() != nil {
		p.trouble = errSilent
	}
}

// shut ends everything without the servers.
func (p *process) shut() {
	p.mu.Lock() // asking starts nothing afterwards
	p.stop(engine.ErrClosed)
	p.mu.Unlock()
	if p.nc != nil {
		p.nc.Close()
	}
	p.running.Wait()
}

// over reports whether p has ended for good.
func (p *process) over() bool { return p.ctx.Err() != nil }

// ask calls fn, which asks the servers, until they answer. It returns an error that asking again
// does not change, or the error of a context.
func (p *process) ask(ctx context.Context, fn func(ctx context.Context) error) error {
	for {
		err := p.once(ctx, fn)
		if errors.Is(err, fs.ErrNotExist) && p.begun {
			p.stop(err) // somebody has deleted a stream
		}
		if err == nil || lasting(err) || !p.begun && refused(err) {
			return err
		}
		if !sleep(ctx, pause) {
			return ended(ctx, err)
		}
		if p.over() {
			return context.Cause(p.ctx)
		}
	}
}

// once calls fn once, for a second at most, and not for longer than the connection lasts.
func (p *process) once(ctx context.Context, fn func(ctx context.Context) error) error {
	p.mu.Lock()
	denied, link := p.denied, p.link
	p.mu.Unlock()
	brief, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	defer context.AfterFunc(link, cancel)()
	err := fn(brief)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil || brief.Err() == nil || ctx.Err() != nil:
	case p.denied != denied:
		err = p.denied
	case link.Err() != nil:
		err = nats.ErrDisconnected
	default:
		err = errSilent
	}
	err = explain(err)
	if lasting(err) {
		p.trouble = nil // it is an answer
	} else if ctx.Err() == nil {
		p.trouble = err
	}
	return err
}

// errSilent is the error of a request without an answer.
var errSilent = fmt.Errorf("%w: the servers did not answer within %v", engine.ErrUnavailable, attempt)

// errSlow is the trouble of a deadline that is too short to learn of any other.
var errSlow = errors.New("the servers have not answered yet")

// ended returns the error of a context that has ended while an operation waited for the servers.
func (p *process) ended(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	trouble := p.trouble
	if p.parted {
		trouble = fmt.Errorf("%w: the connection is lost: %w", engine.ErrUnavailable, cmp.Or(p.why, nats.ErrDisconnected))
	}
	if trouble == nil && ctx.Err() == context.DeadlineExceeded {
		trouble = errSlow
	}
	return ended(ctx, trouble)
}

// report calls the OnError of the sessions.
func (p *process) report(err error) {
	if err == nil || errors.Is(err, engine.ErrUnavailable) || errors.Is(err, context.Canceled) {
		return // calls return it
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, on := range p.onError {
		p.running.Go(func() { on(err) })
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
	for !p.over() {
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
