package natscache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// Remove removes a cache that nobody uses, by deleting its streams. A process that was killed uses
// it until its lease has passed. Processes that join meanwhile lose what they put. If Remove was
// killed, call it again: until then Create returns fs.ErrExist.
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

// unused returns [engine.ErrInUse] if the cache has a session.
func (e Engine) unused(ctx context.Context) error {
	s, err := e.join(ctx, engine.Options{})
	if err != nil {
		return err
	}
	st, err := s.Stats(ctx)
	if err == nil && len(st.Members) > 1 { // one is s
		for _, m := range st.Members {
			err = fmt.Errorf("%w by pid %d on %s", engine.ErrInUse, m.PID, m.Host)
			if m.PID != os.Getpid() || m.Host != s.p.host {
				break
			}
		}
	}
	return errors.Join(err, s.Close())
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
