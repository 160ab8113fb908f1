package dircache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// A claim is the right to put samples under a name. It implements engine.Claim.
type claim struct {
	s *session
	producerSpec
	over atomic.Bool
}

func (s *session) Claim(_ context.Context, name string) (engine.Claim, error) {
	c := &claim{s: s, producerSpec: producerSpec{Name: name}}
	return callValue(s, func() (engine.Claim, error) {
		if name == "" {
			return c, nil
		}
		err := s.lockName(name)
		if err == nil {
			crashPoint("claimed")
			if err = s.locked(c.find); err != nil {
				err = errors.Join(err, s.release(nameNumber(name)))
			}
		}
		return c, err
	})
}

// find loads the life and the numbers of the name. The lock is held.
func (c *claim) find() error {
	_, list, err := c.s.producers()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(p producerSpec) bool { return p.Name == c.Name })
	switch {
	case i >= 0:
		c.producerSpec = list[i]
	case len(list) >= maxProducers:
		return fmt.Errorf("%w: there are %d names already: Forget one", engine.ErrProducer, maxProducers)
	default:
		c.Life = newLife()
	}
	return nil
}

// newLife returns a random life, so that no name had it before.
func newLife() uint64 { return 1 + rand.Uint64N(1<<63) }

func (c *claim) Window() engine.Window { return c.producerSpec.Window }

func (c *claim) Close() error {
	if c.over.Swap(true) {
		return engine.ErrClosed
	}
	if c.Name == "" {
		return nil
	}
	return c.s.call(func() error { return c.s.release(nameNumber(c.Name)) })
}

// producers returns the MANIFEST, and all producers, including their numbers in the generation that
// is being filled. The lock is held.
func (s *session) producers() (m *manifest, list []producerSpec, err error) {
	if m, err = s.manifest(); err != nil {
		return nil, nil, err
	}
	_, filling, err := s.words.generations()
	if err != nil || filling != m.Latest+1 {
		return m, m.Producers, err // no sample is committed since
	}
	list, _, err = s.collect(m, filling)
	return m, list, err
}

// A put is a sample that was committed under a name.
type put struct{ life, number uint64 }

// collect returns the producers of m, including their numbers in the generation, and whether rows
// of the generation have no sample.
func (s *session) collect(m *manifest, generation uint64) (list []producerSpec, missing bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.writer(generation)
	if err != nil {
		return nil, false, err
	}
	puts := map[string][]put{}
	for i := range s.samples() {
		switch r := st.record(i); {
		case s.rows[i] != nil: // this session is writing it
			missing = true
		case !r.sound(generation):
			missing = true
			s.reportDamage(r, generation, i)
		case r.life() != 0:
			puts[string(r.name())] = append(puts[string(r.name())], put{r.life(), r.number()})
		}
	}
	if missing {
		s.cursor.lead = 0
	}
	for _, p := range m.Producers {
		list = append(list, p.with(puts[p.Name]))
		delete(puts, p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(puts)) {
		list = append(list, producerSpec{Name: name, Life: puts[name][0].life}.with(puts[name]))
	}
	return list, missing, nil
}

// reportDamage reports an error if a record is damaged: its sample is lost.
func (s *session) reportDamage(r record, generation uint64, row int) {
	if r.damaged() {
		s.report(s.fail(recordsPath(generation), fmt.Errorf("%w: the record of row %d is damaged", engine.ErrCorrupt, row)))
	}
}

// with returns p with the numbers of the puts that have p's life.
func (p producerSpec) with(puts []put) producerSpec {
	slices.SortFunc(puts, func(a, b put) int { return cmp.Compare(a.number, b.number) })
	for _, one := range puts {
		if one.life == p.Life {
			p.Window = p.Window.With(one.number)
		}
	}
	return p
}

func (s *session) Forget(_ context.Context, name string) error {
	return s.call(func() error {
		if err := s.lockName(name); err != nil {
			return err
		}
		err := s.locked(func() error { return s.forget(name) })
		return errors.Join(err, s.release(nameNumber(name)))
	})
}

// forget gives a name a new life. Samples of the old life stay, but their numbers do not count. The
// caller has the lock and the name.
func (s *session) forget(name string) error {
	m, list, err := s.producers()
	if err != nil {
		return err
	}
	named := func(p producerSpec) bool { return p.Name == name }
	i := slices.IndexFunc(list, named)
	if i < 0 || list[i].Window == (engine.Window{}) {
		return fmt.Errorf("%w: no sample was put under this name", engine.ErrProducer)
	}
	next := *m
	next.Producers = append(slices.DeleteFunc(slices.Clone(m.Producers), named), producerSpec{Name: name, Life: newLife()})
	return failed("write", s.dir, manifestName, next.write(s.at, s.place.Mode()))
}
