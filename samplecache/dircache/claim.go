package dircache

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/samplecache"
)

// Claim implements samplecache.Session.
func (s *session) Claim(ctx context.Context, name string) (samplecache.Claim, error) {
	c := &claim{s: s, name: name, entry: noProducer}
	if name == "" {
		return c, s.call(func() error { return nil })
	}
	if err := checkName(samplecache.ErrProducer, name); err != nil {
		return nil, err
	}
	err := s.call(func() error {
		return s.locked(ctx, func() (err error) {
			if err = s.reap(); err == nil {
				c.entry, c.life, err = s.own(name)
			}
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("producer %q: %w", name, err)
	}
	return c, nil
}

// A claim is the right to put samples under a name. It implements samplecache.Claim.
type claim struct {
	s     *session
	name  string
	entry int    // noProducer without a name
	life  uint64 // of the name
	over  atomic.Bool
}

// Window implements samplecache.Claim.
func (c *claim) Window() (win samplecache.Window, err error) {
	err = c.s.call(func() error {
		return c.s.use(func(w words) { win = c.s.window(w, c.entry) })
	})
	return win, err
}

// Close implements samplecache.Claim.
func (c *claim) Close() error {
	if c.over.Swap(true) {
		return samplecache.ErrClosed
	}
	if c.name == "" {
		return nil
	}
	return c.s.call(func() error {
		return c.s.use(func(w words) {
			w.cas(c.s.layout.producer(c.entry)+producerOwner, 1+uint64(c.s.me), 0)
		})
	})
}
