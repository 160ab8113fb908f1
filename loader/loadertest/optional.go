package loadertest

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/tdict"
)

// slices compares the results of Slice with the rows fetched.
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

// shown compares the rows at positions start up to, not including, stop with the rows fetched. It
// does so twice, and empties the dictionary after each.
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

// prefetch calls Prefetch, then fetches the rows.
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

// describe calls Describe twice.
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

// snapshot checks a snapshot as a source, then releases it.
func (c *checker) snapshot(s loader.Snapshotter) error {
	now, err := shot(s)
	if err != nil {
		return err
	}
	err = c.snapped(now.Source)
	again, failed := shot(s)
	if failed == nil && again.Version != now.Version {
		failed = fmt.Errorf("got version %q, want %q as before", again.Version, now.Version)
	}
	for _, s := range []loader.Snapshot{now, again} {
		if done := released(s); failed == nil {
			failed = done
		}
	}
	return errors.Join(err, failed)
}

// shot returns a snapshot.
func shot(s loader.Snapshotter) (now loader.Snapshot, err error) {
	err = workers.Call(func() (err error) { now, err = s.Snapshot(); return err })
	if err == nil && now.Source == nil {
		err = errors.New("got a nil source and no error")
	}
	return now, err
}

// released releases a snapshot.
func released(s loader.Snapshot) error {
	if s.Release == nil {
		return nil
	}
	if err := workers.Call(s.Release); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

// snapped checks now, the source of a snapshot, and that it has the rows of c.
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
