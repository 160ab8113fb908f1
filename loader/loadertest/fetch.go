package loadertest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/tdict"
)

// orders fetches rows one by one, backwards, repeated and mixed.
func (c *checker) orders() error {
	n := len(c.rows)
	for p := range c.rows {
		if _, err := c.fetched([]int{p}, nil); err != nil {
			return err
		}
	}
	if n == 0 {
		return nil
	}
	backwards := c.all(0, n)
	slices.Reverse(backwards)
	for _, positions := range [][]int{
		c.all(0, n), backwards, {0, 0, 0}, {n - 1, 0, n - 1}, {n / 2, n - 1, n / 2, 0}, c.all(n/3, n+2),
	} {
		if _, err := c.fetched(positions, nil); err != nil {
			return err
		}
	}
	return nil
}

// memory overwrites the fetched rows, then fetches them again.
func (c *checker) memory() error {
	for _, r := range fillers {
		for _, n := range []int{1, len(c.rows)} {
			positions := c.all(0, min(n, len(c.rows)))
			if len(positions) == 0 {
				return nil
			}
			td, err := c.fetch(c.at(positions...), nil)
			if err != nil {
				return err
			}
			if err := r.write(td); err != nil {
				return err
			}
			if _, err := c.fetched(positions, nil); err != nil {
				return fmt.Errorf("after writing to what was fetched before: %w", err)
			}
		}
	}
	return nil
}

// fresh deletes the entries of a fetched row, then fetches the row again.
func (c *checker) fresh() error {
	if c.n == 0 {
		return nil
	}
	td, err := c.fetch(c.at(0), nil)
	if err != nil {
		return err
	}
	again, err := c.fetch(c.at(0), nil)
	if err != nil {
		return err
	}
	if td == again {
		return errors.New("got the same dictionary twice")
	}
	if err := empty(td); err != nil {
		return err
	}
	_, err = c.fetched([]int{0}, nil)
	if err == nil {
		err = c.same(again, []int{0})
	}
	if err != nil {
		return fmt.Errorf("after deleting the entries of what was fetched before: %w", err)
	}
	return nil
}

// callers changes the row numbers after a Fetch.
func (c *checker) callers() error {
	if c.n == 0 {
		return nil
	}
	positions := c.all(0, min(3, len(c.rows)))
	slices.Reverse(positions) // so that a source that sorts them is noticed
	rows := c.at(positions...)
	td, err := c.fetch(rows, nil)
	if err != nil {
		return err
	}
	if !slices.Equal(rows, c.at(positions...)) {
		return fmt.Errorf("it has changed: got %v, want %v", rows, c.at(positions...))
	}
	clear(rows)
	rows[0] = c.n - 1
	if err := c.same(td, positions); err != nil {
		return fmt.Errorf("after changing the numbers in it: %w", err)
	}
	return nil
}

// absent fetches rows that do not exist.
func (c *checker) absent() error {
	for _, rows := range [][]int{{-1}, {c.n}, {math.MaxInt}, {math.MinInt}, {0, c.n}, {-1, 0}} {
		var failed error
		err := workers.Call(func() error {
			_, failed = c.src.Fetch(c.ctx, slices.Clone(rows), nil)
			return nil
		})
		if err != nil {
			return fmt.Errorf("rows %v of %d: %w", rows, c.n, err)
		}
		if failed == nil {
			return fmt.Errorf("rows %v of %d: got no error", rows, c.n)
		}
	}
	return nil
}

// ended fetches a row after ctx ended.
func (c *checker) ended() error {
	if c.n == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(c.ctx)
	cancel()
	if _, err := c.src.Fetch(ctx, c.at(0), nil); err == nil {
		return errors.New("got none")
	}
	return nil
}

// length calls Len again.
func (c *checker) length() error {
	for range 3 {
		if n := c.src.Len(); n != c.n {
			return fmt.Errorf("got %d, it was %d before", n, c.n)
		}
	}
	return nil
}

// goroutines is the number of goroutines that fetch at the same time.
const goroutines = 4

// concurrent fetches on several goroutines, each with its own memory.
func (c *checker) concurrent() error {
	if c.n == 0 {
		return nil
	}
	return workers.Do(c.ctx, goroutines, goroutines, func(g int) error {
		var dst *tdict.TensorDict
		for i := range goroutines {
			positions := c.all(g*3+i*5, min(5, len(c.rows)))
			if p, ok := c.src.(loader.Prefetcher); ok {
				if err := p.Prefetch(c.at(positions...)...); err != nil {
					return err
				}
			}
			td, err := c.fetched(positions, dst)
			if err == nil {
				err = c.sliced(td, positions)
			}
			if err != nil {
				return err
			}
			dst = td
		}
		return nil
	})
}

// sliced calls Slice for the first row of td, if the source is a Slicer, and checks that td has not
// changed.
func (c *checker) sliced(td *tdict.TensorDict, positions []int) error {
	if s, ok := c.src.(loader.Slicer); ok {
		row := c.rows[positions[0]]
		if _, err := s.Slice(row, row+1); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	return c.same(td, positions)
}
