package forms

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/go-tensordict/tensordict/internal/rowsort"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
)

// SortOptions say how [Sort] orders rows.
type SortOptions struct {
	Options
	// By are keys of integers, floating-point numbers, bools or texts: the first key decides, and
	// for equal values the next key.
	By []nestedkey.Key
	// Descending begins with the largest value. Missing values are last in both orders.
	Descending bool
}

// Sort saves the rows of a dataset in the order of some of its columns:
//
//	input [N R...] -> output [N R...]
//
// NaN is after all numbers, false before true, text in the order of its bytes, and a missing value
// after all others. Rows with equal values keep their order. Sort needs memory for some 64 MiB of
// values, whatever N is. The other values are in temporary files beside the output. Otherwise it
// treats the output, memory and errors as [Convert] does. It also returns tdict.ErrMissing,
// tensor.ErrDType and shapeops.ErrShape about a key of By, and fs.ErrInvalid if By is empty.
func Sort(ctx context.Context, to, from string, opt SortOptions) error {
	if len(opt.By) == 0 {
		return fmt.Errorf("sort: %w: got no keys in By, want one", fs.ErrInvalid)
	}
	return saving(ctx, to, []string{from}, opt.Options, nil, func(s *saver) error {
		r, err := s.mapped(from, opt.Select)
		if err != nil {
			return err
		}
		order, err := rowsort.Rows(ctx, r.td, r.says, opt.By, rowsort.Options{Descending: opt.Descending, Beside: s.at})
		if err != nil {
			return failed("sort", from, err)
		}
		s.done = append(s.done, order.Close)
		numbers := func(yield func(int, error) bool) {
			for row, err := range order.All() {
				if !yield(int(row.Number), err) || err != nil {
					return
				}
			}
		}
		return s.save(s.at, s.form, s.inOrder(r, numbers))
	})
}

// mapped returns rows of an input, which it opens, in mapped files.
func (s *saver) mapped(from string, sel Selection) (r rows, err error) {
	in, err := s.open(from, s.opt.Open)
	if err != nil {
		return r, err
	}
	if r, err = s.selected(s.rows(in), sel); err != nil {
		return r, failed("open", from, err)
	}
	if r, err = s.stage(r); err == nil && len(r.td.Shape()) == 0 {
		err = failed("open", from, errNoRows(r.td))
	}
	return r, err
}

// listRows is the number of row numbers that are held in memory.
const listRows = 1 << 16

// inOrder returns the rows of r, which is mapped, with the given numbers.
func (s *saver) inOrder(r rows, numbers iter.Seq2[int, error]) rows {
	chunks := func(yield func(*tdict.TensorDict, error) bool) {
		for list, err := range lists(numbers) {
			if err != nil {
				yield(nil, err)
				return
			}
			expr := func(start, n int) []ix.Index { return block(list, nil, start, n) }
			for chunk, err := range cut(s.ctx, r.td, len(list), list, expr) {
				if !yield(chunk, err) || err != nil {
					return
				}
			}
		}
	}
	return rows{like: r.like, source: r.td, schema: r.schema, says: r.says, chunks: chunks}
}

// lists yields numbers in lists of up to listRows, and an empty list if there are none. A list is
// valid until the next iteration.
func lists[T any](numbers iter.Seq2[T, error]) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		list, some := make([]T, 0, listRows), false
		for n, err := range numbers {
			if err != nil {
				yield(nil, err)
				return
			}
			if list = append(list, n); len(list) == listRows {
				if some = true; !yield(list, nil) {
					return
				}
				list = list[:0]
			}
		}
		if len(list) > 0 || !some {
			yield(list, nil)
		}
	}
}

// SampleOptions say which rows [Sample] chooses.
type SampleOptions struct {
	Options
	N    int // the number of rows
	Seed uint64
}

// Sample saves rows of a dataset that are chosen at random, each at most once, in their order:
//
//	input [N R...] -> output [opt.N R...]
//
// opt.Select.Where comes first: the rows are chosen among the rows that it keeps. The same seed
// chooses the same row numbers on any machine. Sample treats the output, memory and errors as
// [Convert] does; a table, and rows that Where keeps, are saved beside the output first. It also
// returns shapeops.ErrIndex if N is negative or larger than the number of rows.
func Sample(ctx context.Context, to, from string, opt SampleOptions) error {
	return saving(ctx, to, []string{from}, opt.Options, nil, func(s *saver) error {
		r, err := s.mapped(from, opt.Select)
		if err != nil {
			return err
		}
		n := r.td.Shape()[0]
		if opt.N < 0 || opt.N > n {
			return failed("sample", from, fmt.Errorf("%w: got a sample of %d rows, want 0 to %d, the number of rows", shapeops.ErrIndex, opt.N, n))
		}
		part, err := s.picked(r.td, chosen(n, opt.N, opt.Seed), nil, r.says)
		if err != nil {
			return failed("sample", from, err)
		}
		return s.save(s.at, s.form, part)
	})
}

// chosen returns k of the numbers 0 to n-1 at random, sorted. All choices are equally likely
// (Floyd's algorithm, Communications of the ACM 30, 1987, p. 754).
func chosen(n, k int, seed uint64) []int {
	random := rand.New(rand.NewPCG(seed, bits.Reverse64(seed)))
	list, has := make([]int, 0, k), make(map[int]bool, k)
	for last := n - k; last < n; last++ {
		at := random.IntN(last + 1)
		if has[at] {
			at = last
		}
		has[at] = true
		list = append(list, at)
	}
	slices.Sort(list)
	return list
}
