package natscache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// Remove removes a cache that nobody uses, by deleting its streams. A process that was killed uses
// it until its lease has passed, for which Remove waits two leases. If a process joins meanwhile,
// its samples are lost. If Remove was killed, call it again: until then Create returns fs.ErrExist.
//
// Its error is an [Error], which wraps
//
//   - [engine.ErrInUse], with host and pid, if there is another session,
//   - fs.ErrNotExist if there is no such cache,
//   - [engine.ErrUnavailable], fs.ErrPermission and [ErrServerVersion] as [Engine.Join].
func Remove(ctx context.Context, url, name string, options ...nats.Option) error {
	if ctx == nil {
		ctx = context.Background()
	}
	e := Engine{URL: url, Name: name, Options: options}
	err := e.unused(ctx)
	if err == nil || errors.Is(err, fs.ErrNotExist) { // it may have been removed in part
		err = e.remove(ctx)
	}
	if err != nil {
		return &Error{"remove", plainURL(url), name, err}
	}
	return nil
}

// unused returns [engine.ErrInUse] if the cache has another session. While nobody is in the cache,
// nobody notices that a process was killed. So unused stays there until the other sessions are
// gone, or have had the time to be.
func (e Engine) unused(ctx context.Context) error {
	s, err := e.join(ctx, engine.Options{})
	if err != nil {
		return err
	}
	look := time.NewTicker(s.p.charter.Lease / 10)
	defer look.Stop()
	late := time.After(2 * s.p.charter.Lease)
	for {
		st, err := s.Stats(ctx)
		m, mine := s.other(st.Members)
		if err != nil || m == nil {
			return errors.Join(err, s.Close())
		}
		err = fmt.Errorf("%w by pid %d on %s", engine.ErrInUse, m.PID, m.Host)
		if mine {
			return errors.Join(err, s.Close())
		}
		select {
		case <-look.C:
			continue
		case <-late:
		case <-ctx.Done():
		}
		return errors.Join(err, s.Close())
	}
}

// other returns a session besides s, or nil if there is none. mine reports whether this process has
// one: that does not go away by waiting.
func (s *session) other(members []engine.MemberStats) (m *engine.MemberStats, mine bool) {
	own := 0
	for i := range members {
		if members[i].PID == os.Getpid() && members[i].Host == s.p.host {
			own++
		} else {
			m = &members[i]
		}
	}
	if own > 1 && m == nil {
		m = &members[0]
	}
	return m, own > 1
}

// remove deletes the streams. The one that makes Create say that there is a cache goes last.
func (e Engine) remove(ctx context.Context) error {
	p := newProcess(site(e.Name))
	defer p.shut()
	if err := p.connect(ctx, e.URL, e.Options); err != nil {
		return err
	}
	found := false
	for _, name := range []string{"log", "data", "here", "snap"} {
		err := p.ask(ctx, func(ctx context.Context) error {
			s, err := p.js.Stream(ctx, p.site.stream(name))
			if err == nil {
				err = ours(s)
			}
			if err == nil {
				found = true
				err = p.js.DeleteStream(ctx, p.site.stream(name))
			}
			if errors.Is(err, jetstream.ErrStreamNotFound) {
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if !found {
		return fs.ErrNotExist
	}
	return nil
}
