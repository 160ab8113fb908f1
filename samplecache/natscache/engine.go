package natscache

import (
	"context"
	"net/url"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// An Engine is a cache on NATS servers that [Create] made. URL and Name must be set; the zero
// values of the other fields are the defaults.
//
// Sessions of a process with equal Engines share one connection.
//
// Safe for concurrent use.
type Engine struct {
	// URL is the address of a server, or of several, separated by commas: "nats://host:4222".
	URL string
	// Name is the name of the cache.
	Name string
	// Options are options of the connection, such as nats.UserCredentials or nats.RootCAs. Options
	// about reconnecting have no effect. Two Engines with Options are equal if they have
	// the same slice.
	Options []nats.Option
	// Mirror is a directory of this machine into which [Mirror] copies generations, or "" for none.
	// Generations that are there are read there, mapped; the others come from the servers, and all
	// of them if the directory cannot be read: then OnError gets the reason.
	Mirror string
}

var _ engine.Engine = Engine{}

// A key identifies the connection of a process to a cache.
type key struct {
	url, name string
	options   *nats.Option // the first
	count     int
}

func (e Engine) key() key {
	k := key{url: e.URL, name: e.Name, count: len(e.Options)}
	if k.count > 0 {
		k.options = &e.Options[0]
	}
	return k
}

// A share is a process that several sessions use.
type share struct {
	mu   turn // held while p and users change
	p    *process
	want int // number of callers that have the share; guarded by shares.mu
	use  int // number of sessions
}

// shares has the shares of this process.
var shares = struct {
	mu  sync.Mutex
	all map[key]*share
}{all: map[key]*share{}}

// Join implements engine.Engine. Its error is an [Error], which wraps
//
//   - fs.ErrNotExist if there is no such cache,
//   - [engine.ErrUnavailable] if the servers do not answer, or have no JetStream,
//   - fs.ErrPermission if the servers refuse the user,
//   - [engine.ErrConfig] for an invalid name,
//   - [ErrVersion] or [engine.ErrCorrupt] if the cache cannot be read,
//   - [ErrServerVersion] for servers that are too old.
func (e Engine) Join(ctx context.Context, opt engine.Options) (engine.Session, error) {
	s, err := e.join(ctx, opt)
	if err != nil {
		return nil, &Error{"open", plainURL(e.URL), e.Name, err}
	}
	return s, nil
}

func (e Engine) join(ctx context.Context, opt engine.Options) (*session, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if err := site(e.Name).check(); err != nil {
		return nil, err
	}
	p, release, err := e.process(ctx)
	if err != nil {
		return nil, err
	}
	s := &session{p: p, release: release}
	if e.Mirror != "" {
		s.mirror = newLocal(e.Mirror, p.about.ID)
	}
	if err := s.join(ctx, opt); err != nil {
		release()
		return nil, err
	}
	return s, nil
}

// process returns the process that sessions with equal Engines share. release must be called once.
func (e Engine) process(ctx context.Context) (p *process, release func(), err error) {
	k := e.key()
	shares.mu.Lock()
	s := shares.all[k]
	if s == nil {
		s = &share{mu: newTurn()}
		shares.all[k] = s
	}
	s.want++
	shares.mu.Unlock()
	if err := s.mu.take(ctx); err != nil {
		s.drop(k)
		return nil, nil, err
	}
	defer s.mu.done()
	if s.p == nil || s.p.over() {
		if p, err = start(ctx, e); err != nil {
			s.drop(k)
			return nil, nil, err
		}
		s.p, s.use = p, 0
	}
	s.use++
	p = s.p
	return p, sync.OnceFunc(func() { s.leave(k, p) }), nil
}

// leave closes the process after its last session.
func (s *share) leave(k key, p *process) {
	_ = s.mu.take(context.Background()) // does not end
	last := s.p == p
	if last {
		s.use--
		if last = s.use == 0; last {
			s.p = nil
		}
	}
	s.mu.done()
	if last {
		p.close()
	}
	s.drop(k)
}

func (s *share) drop(k key) {
	shares.mu.Lock()
	defer shares.mu.Unlock()
	if s.want--; s.want == 0 {
		delete(shares.all, k)
	}
}

// plainURL returns a list of addresses without users and passwords.
func plainURL(list string) string {
	var plain []string
	for one := range strings.SplitSeq(list, ",") {
		if u, err := url.Parse(strings.TrimSpace(one)); err == nil {
			u.User = nil
			one = u.String()
		} else if i := strings.LastIndex(one, "@"); i >= 0 {
			one = one[i+1:]
		}
		plain = append(plain, one)
	}
	return strings.Join(plain, ",")
}
