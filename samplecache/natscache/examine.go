package natscache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// A Health has facts about servers, and about a cache on them.
type Health struct {
	Server    string        // address of the one that answered
	Version   string        // its version
	Payload   int64         // its max_payload, bytes
	RoundTrip time.Duration // the median of several
	Loopback  bool          // it is on this machine
	Encrypted bool          // the connection has TLS
	Users     bool          // the server wants users or other credentials

	Account *jetstream.AccountInfo  // nil without JetStream
	Streams []*jetstream.StreamInfo // of the cache; empty if there is none
	Wrong   []error                 // errors that keep a cache from working
}

// Examine asks the servers of a cache for facts. It neither joins the cache nor changes anything.
// There need not be a cache. It returns an [Error] if no server answers or lets the user in, which
// wraps what [Engine.Join] says. Other errors are in Health.Wrong, for example [ErrServerVersion].
func Examine(ctx context.Context, e Engine) (Health, error) {
	h, err := e.examine(ctx)
	if err != nil {
		return Health{}, &Error{"examine", plainURL(e.URL), e.Name, err}
	}
	return h, nil
}

func (e Engine) examine(ctx context.Context) (h Health, err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if err := site(e.Name).check(); err != nil {
		return h, err
	}
	p := newProcess(site(e.Name))
	defer p.shut()
	err = p.connect(ctx, e.URL, e.Options)
	if p.nc == nil {
		return h, err
	}
	h.note(err) // the server is too old, or takes no messages of 1 MiB
	h.connection(p)
	if err := h.roundTrip(ctx, p); err != nil {
		return h, err
	}
	if p.js == nil {
		if p.js, err = jetstream.New(p.nc); err != nil {
			return h, explain(err)
		}
	}
	err = p.once(ctx, func(ctx context.Context) (err error) { h.Account, err = p.js.AccountInfo(ctx); return err })
	if err != nil { // without JetStream there are no streams
		h.note(err)
		return h, nil
	}
	for _, which := range []string{"log", "data", "snap", "here"} {
		h.note(h.stream(ctx, p, p.site.stream(which)))
	}
	if n := len(h.Streams); n > 0 && n < 4 && h.Wrong == nil {
		h.note(fmt.Errorf("%w: the cache has %d of 4 streams: it was not made completely, or not removed completely", engine.ErrCorrupt, n))
	}
	return h, nil
}

// note adds an error to Wrong, unless it is nil.
func (h *Health) note(err error) {
	if err != nil {
		h.Wrong = append(h.Wrong, err)
	}
}

// connection adds facts about the connection.
func (h *Health) connection(p *process) {
	h.Server, h.Version, h.Payload = p.nc.ConnectedAddr(), p.nc.ConnectedServerVersion(), p.nc.MaxPayload()
	host, _, err := net.SplitHostPort(h.Server)
	h.Loopback = err == nil && net.ParseIP(host).IsLoopback()
	_, err = p.nc.TLSConnectionState()
	h.Encrypted, h.Users = err == nil, p.nc.AuthRequired()
}

// roundTrip measures round trips.
func (h *Health) roundTrip(ctx context.Context, p *process) error {
	var all []time.Duration
	for range 7 {
		began := time.Now()
		if err := p.once(ctx, p.nc.FlushWithContext); err != nil {
			return err
		}
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	h.RoundTrip = all[len(all)/2]
	return nil
}

// stream adds a stream of the cache. It returns nil if there is no such stream.
func (h *Health) stream(ctx context.Context, p *process, name string) error {
	var s jetstream.Stream
	err := p.once(ctx, func(ctx context.Context) (err error) {
		if s, err = p.js.Stream(ctx, name); err == nil {
			err = ours(s)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errStranger) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("stream %s: %w", name, err)
	}
	h.Streams = append(h.Streams, s.CachedInfo())
	return nil
}
