package loadertest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
)

// TestSource checks that src follows the rules of loader.Source and, if it implements them, of
// loader.Slicer, Prefetcher, Describer and Snapshotter. It returns an error with one line for each
// broken rule, or nil. A panic of the source is reported as a broken rule.
//
// The source must not change during the check, and must return the same rows each time. TestSource
// fetches at most [MaxRows] different rows, including the first and the last.
//
// Two things are up to the source: whether it fills dst or returns another dictionary, and whether
// it shares unbatched tensors, which are read-only.
func TestSource(ctx context.Context, src loader.Source) error {
	if src == nil {
		return errors.New("the source is nil")
	}
	c, errs := check(ctx, src)
	if s, ok := src.(loader.Snapshotter); ok && c.n >= 0 {
		errs = append(errs, broken("Snapshot returns the current state of the source", c.snapshot(s)))
	}
	return errors.Join(errs...)
}

// MaxRows is the largest number of different rows that [TestSource] fetches.
const MaxRows = 32

// check returns a checker for src, and an error for each broken rule.
func check(ctx context.Context, src loader.Source) (*checker, []error) {
	c := &checker{ctx: ctx, src: src}
	err := workers.Call(func() error { c.n = src.Len(); return nil })
	if err == nil && c.n < 0 {
		err = fmt.Errorf("got %d", c.n)
	}
	if err != nil {
		c.n = -1
		return c, []error{broken("Len is the number of rows", err)}
	}
	c.rows = sample(c.n)
	errs := []error{broken("Fetch returns rows", c.begin())}
	for _, r := range rules {
		if errs[0] == nil || !r.rows {
			errs = append(errs, broken(r.says, workers.Call(func() error { return r.check(c) })))
		}
	}
	return c, errs
}

// broken adds the broken rule to err. It returns nil if err is nil.
func broken(rule string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("broken rule: %s: %w", rule, err)
}

// A rule is one rule for sources.
type rule struct {
	says  string
	rows  bool // the check needs the rows that begin fetched
	check func(c *checker) error
}

var rules = []rule{
	{"Fetch returns rows in the order asked for, repetitions included", true, (*checker).orders},
	{"Fetch shares no memory with the source", true, (*checker).memory},
	{"Fetch returns a new dictionary if dst is nil", true, (*checker).fresh},
	{"Fetch does not change or keep rows", true, (*checker).callers},
	{"Fetch returns the same with a dst that fits", true, (*checker).fits},
	{"Fetch ignores a dst that does not fit", true, (*checker).unfit},
	{"Fetch returns the same for a Loader with Options.Into", true, (*checker).into},
	{"Fetch returns an error if a row does not exist", false, (*checker).absent},
	{"Fetch returns an error if ctx ended", true, (*checker).ended},
	{"Slice returns the rows that Fetch returns", true, (*checker).slices},
	{"Prefetch does not change results", true, (*checker).prefetch},
	{"Describe describes the rows", false, (*checker).describe},
	{"Fetch is safe for concurrent use", true, (*checker).concurrent},
	{"Len stays the same", false, (*checker).length},
}

// A checker checks one source.
type checker struct {
	ctx  context.Context
	src  loader.Source
	n    int
	rows []int             // rows to check, ascending
	want *tdict.TensorDict // content of rows
}

// sample returns at most [MaxRows] of n rows: the first ones, the last ones, and some between them.
func sample(n int) []int {
	const run = MaxRows / 4
	var rows []int
	for i := range min(n, run) {
		rows = append(rows, i, n-1-i)
	}
	for i := range run {
		for _, row := range []int{n / run * i, n/run*i + 1} { // pairs of neighbours
			if row < n {
				rows = append(rows, row)
			}
		}
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

// begin fetches the rows with which later results are compared.
func (c *checker) begin() error {
	if c.n == 0 {
		return nil
	}
	td, err := c.fetch(slices.Clone(c.rows), nil)
	if err == nil {
		c.want, err = td.Clone()
	}
	return err
}

// fetch fetches rows and checks their number.
func (c *checker) fetch(rows []int, dst *tdict.TensorDict) (td *tdict.TensorDict, err error) {
	err = workers.Call(func() error {
		td, err = c.src.Fetch(c.ctx, rows, dst)
		return err
	})
	if err == nil {
		err = c.checkShape(td, len(rows))
	}
	if err != nil {
		return nil, fmt.Errorf("rows %v: %w", rows, err)
	}
	return td, nil
}

// checkShape returns an error unless td has n rows and the same further batch dims as other
// results.
func (c *checker) checkShape(td *tdict.TensorDict, n int) error {
	switch {
	case td == nil:
		return errors.New("got a nil dictionary and no error")
	case td.Locked():
		return errors.New("got a locked dictionary, want one that may be changed")
	case len(td.Shape()) == 0 || td.Shape()[0] != n:
		return fmt.Errorf("got batch shape %v, want [%d ...]", td.Shape(), n)
	case c.want != nil && !slices.Equal(td.Shape()[1:], c.want.Shape()[1:]):
		return fmt.Errorf("got batch shape %v, others have %v", td.Shape(), c.want.Shape())
	}
	return nil
}

// at returns the elements of c.rows at positions.
func (c *checker) at(positions ...int) []int {
	rows := make([]int, len(positions))
	for i, p := range positions {
		rows[i] = c.rows[p]
	}
	return rows
}

// same returns an error unless td has the rows at positions of c.rows.
func (c *checker) same(td *tdict.TensorDict, positions []int) error {
	want, err := c.want.Index(ix.Take(positions...))
	if err != nil {
		return err
	}
	if err := different(td, want); err != nil {
		return fmt.Errorf("rows %v: %w", c.at(positions...), err)
	}
	return nil
}

// fetched fetches the rows at positions of c.rows, and compares them.
func (c *checker) fetched(positions []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
	td, err := c.fetch(c.at(positions...), dst)
	if err == nil {
		err = c.same(td, positions)
	}
	return td, err
}

// all returns n consecutive positions of c.rows, beginning with from, modulo their number.
func (c *checker) all(from, n int) []int {
	positions := make([]int, n)
	for i := range positions {
		positions[i] = (from + i) % len(c.rows)
	}
	return positions
}
