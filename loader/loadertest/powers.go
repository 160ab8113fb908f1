package loadertest

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/tdict"
)

// slices compares what a Slicer shows with what is fetched.
func (c *checker) slices() error {
	s, ok := c.src.(loader.Slicer)
	if !ok || c.n == 0 {
		return nil
	}
	last := len(c.rows)
	for start := range c.rows {
		for _, stop := range []int{start + 1, start + 2, start + 5} {
			if stop <= last && c.rows[stop-1]-c.rows[start] == stop-1-start {
				if err := c.shown(s, start, stop); err != nil {
					return fmt.Errorf("rows %d to %d: %w", c.rows[start], c.rows[stop-1]+1, err)
				}
			}
		}
	}
	return nil
}

// shown compares the neighbours at some positions with what is fetched, twice: the first time the
// dictionary is emptied afterwards.
func (c *checker) shown(s loader.Slicer, start, stop int) error {
	var before *tdict.TensorDict
	for range 2 {
		td, err := s.Slice(c.rows[start], c.rows[stop-1]+1)
		if errors.Is(err, errors.ErrUnsupported) {
			return nil
		}
		if err == nil {
			err = c.checkShape(td, stop-start)
		}
		if err == nil && td == before {
			err = errors.New("got the same dictionary twice")
		}
		if err == nil {
			err = c.same(td, c.all(start, stop-start))
		}
		if err == nil {
			err = empty(td)
		}
		if err != nil {
			return err
		}
		before = td
	}
	return nil
}

// prefetch has rows prefetched, and fetches them.
func (c *checker) prefetch() error {
	p, ok := c.src.(loader.Prefetcher)
	if !ok {
		return nil
	}
	if err := p.Prefetch(); err != nil {
		return fmt.Errorf("of no rows: %w", err)
	}
	if c.n == 0 {
		return nil
	}
	positions := c.all(len(c.rows)/2, len(c.rows))
	for _, positions := range [][]int{c.all(0, len(c.rows)), positions} {
		if err := p.Prefetch(c.at(positions...)...); err != nil {
			return fmt.Errorf("of rows %v: %w", c.at(positions...), err)
		}
		if _, err := c.fetched(positions, nil); err != nil {
			return err
		}
	}
	return nil
}

// describe asks for the description twice.
func (c *checker) describe() error {
	d, ok := c.src.(loader.Describer)
	if !ok {
		return nil
	}
	about, err := d.Describe()
	if err != nil {
		return err
	}
	if about.RowBytes < 0 {
		return fmt.Errorf("got RowBytes %d, want 0 or more", about.RowBytes)
	}
	again, err := d.Describe()
	if err == nil && about != again {
		err = fmt.Errorf("got %+v, it was %+v before", again, about)
	}
	return err
}

// snapshot checks a snapshot of the source like the source, and then releases it.
func (c *checker) snapshot(s loader.Snapshotter) error {
	var now loader.Source
	var release func() error
	err := workers.Call(func() (err error) { now, release, err = s.Snapshot(); return err })
	if err != nil {
		return err
	}
	if now == nil || release == nil {
		return fmt.Errorf("got a source, nil: %t, and a release, nil: %t, and no error", now == nil, release == nil)
	}
	err = c.snapped(now)
	if failed := workers.Call(release); failed != nil {
		err = errors.Join(err, fmt.Errorf("release: %w", failed))
	}
	return err
}

// snapped checks a snapshot, and that it has the rows of the source.
func (c *checker) snapped(now loader.Source) error {
	of, errs := check(c.ctx, now)
	switch {
	case of.n >= 0 && of.n != c.n:
		errs = append(errs, fmt.Errorf("got %d rows, the source has %d", of.n, c.n))
	case of.want != nil && c.want != nil:
		errs = append(errs, different(of.want, c.want))
	}
	return errors.Join(errs...)
}
