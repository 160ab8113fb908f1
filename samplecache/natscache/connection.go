package natscache

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

const (
	stuck     = 2 * time.Second        // how long a write to a connection may take
	mostDelay = 250 * time.Millisecond // between attempts to connect again
)

// connect connects to servers, and checks that they are fit. options may be overridden where the
// process depends on it.
func (p *process) connect(ctx context.Context, urls string, options []nats.Option) error {
	if urls == "" {
		return fmt.Errorf("%w: got no URL", engine.ErrConfig)
	}
	before := []nats.Option{nats.Name("tensordict"), nats.Timeout(attempt), nats.FlusherTimeout(stuck)}
	var nc *nats.Conn
	var err error
	done := make(chan struct{})
	go func() { // nats.Connect has no context
		defer close(done)
		nc, err = nats.Connect(urls, slices.Concat(before, options, []nats.Option{p.options})...)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		go func() {
			if <-done; err == nil {
				nc.Close()
			}
		}()
		return fmt.Errorf("%w: %w", engine.ErrUnavailable, context.Cause(ctx))
	}
	if err != nil {
		return explain(err)
	}
	p.nc = nc
	if err := checkVersion(p.nc.ConnectedServerVersion()); err != nil {
		return err
	}
	if got := p.nc.MaxPayload(); got < 1<<20 {
		return fmt.Errorf("%w: max_payload of the server is %d, want at least %d: raise it in the configuration of the server", engine.ErrConfig, got, 1<<20)
	}
	p.js, err = jetstream.New(p.nc, jetstream.WithPublishAsyncTimeout(attempt))
	return explain(err)
}

// options sets options of the connection that users cannot choose.
func (p *process) options(o *nats.Options) error {
	o.AllowReconnect, o.MaxReconnect, o.ReconnectBufSize = true, -1, -1
	o.RetryOnFailedConnect, o.IgnoreAuthErrorAbort = false, true
	o.PingInterval, o.MaxPingsOut = heartbeat, 3 // a server that stops is noticed after 2 s
	// The first attempt comes soon, and not all processes make it at once.
	o.CustomReconnectDelayCB = func(attempts int) time.Duration {
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
