package dircache

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

var _ engine.Observer = Engine{}

// Observe implements engine.Observer. It takes no lock, and the process needs only to be allowed to
// read Dir.
//
// Observe returns the errors of [Engine.Join], except for the permission to write. It returns
// [ErrRestarted] for a control file from before the last restart of the machine, which Join
// rebuilds.
func (e Engine) Observe(ctx context.Context) (engine.About, engine.Stats, error) {
	if ctx.Err() != nil {
		return engine.About{}, engine.Stats{}, failed("observe", e.Dir, "", context.Cause(ctx))
	}
	s, err := e.session(mapping.ReadOnly, engine.Options{})
	if err != nil {
		return engine.About{}, engine.Stats{}, failed("observe", e.Dir, "", err)
	}
	var st engine.Stats
	err = s.guard(func() (err error) { st, err = s.observe(); return err })
	if err = errors.Join(err, s.closeFiles()); err != nil {
		return engine.About{}, engine.Stats{}, failed("observe", e.Dir, "", err)
	}
	return s.about, st, nil
}

// observe returns Stats from the files. It writes to none.
func (s *session) observe() (st engine.Stats, err error) {
	if err := s.openControl(); err != nil {
		return st, failed("observe", s.dir, controlName, err)
	}
	rebuild, err := s.mapSound(false)
	if rebuild && !errors.Is(err, ErrRestarted) {
		err = fmt.Errorf("%w: the next program that opens the cache rebuilds it", err)
	}
	if err != nil {
		return st, failed("observe", s.dir, controlName, err)
	}
	for range 10 { // a generation may be published meanwhile
		if st, err = s.stats(); err != nil {
			return st, err
		}
		if latest, err := s.words.sealed(latestWord); err != nil || latest == st.Latest {
			return st, err
		}
	}
	return st, nil
}
