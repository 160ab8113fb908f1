package loader

import (
	"context"
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// FromFunc returns a source of n rows whose Fetch is fn, which must follow the rules of
// [Source].Fetch. FromFunc returns [ErrSource] if n is negative or fn is nil.
func FromFunc(n int, fn func(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error)) (Source, error) {
	if err := checkFunc(n, fn == nil); err != nil {
		return nil, fmt.Errorf("from func: %w", err)
	}
	return function{n, fn}, nil
}

// checkFunc returns an error if the number of rows or the function of a source is invalid.
func checkFunc(n int, isNil bool) error {
	switch {
	case n < 0:
		return fmt.Errorf("%w: got %d rows, want 0 or more", ErrSource, n)
	case isNil:
		return fmt.Errorf("%w: got a nil fn", ErrSource)
	}
	return nil
}

// A function is a source whose Fetch is a function.
type function struct {
	n  int
	fn func(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error)
}

// Len implements [Source].
func (f function) Len() int { return f.n }

// Fetch implements [Source].
func (f function) Fetch(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
	if err := checkFetch(ctx, rows, f.n); err != nil {
		return nil, err
	}
	return f.fn(ctx, rows, dst)
}

// FromRows returns a source of n rows that fn makes one by one, for example by reading a file for
// each. The dictionaries that fn returns for the rows of a batch are stacked. If they have batch
// shape [], the batch has batch shape [N] for N rows. If they have a batch shape [L B...], in which
// L may differ between rows, the batch has batch shape [N] and ragged leaves, as tdict.StackRagged
// returns them, even if all L are equal:
//
//	[] for each of N rows -> [N]
//	[L B...] for each of N rows -> [N], leaves [N * B... F...]
//
// fn must be safe for concurrent use. Its results are only read, so it may return the same
// dictionary each time. FromRows returns [ErrSource] if n is negative or fn is nil.
func FromRows(n int, fn func(ctx context.Context, row int) (*tdict.TensorDict, error)) (Source, error) {
	if err := checkFunc(n, fn == nil); err != nil {
		return nil, fmt.Errorf("from rows: %w", err)
	}
	return function{n, oneByOne(fn).fetch}, nil
}

// A oneByOne returns a single row.
type oneByOne func(ctx context.Context, row int) (*tdict.TensorDict, error)

// fetch stacks rows, in dst if that has the right form.
func (fn oneByOne) fetch(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
	made := make([]*tdict.TensorDict, len(rows))
	for i, row := range rows {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		td, err := fn(ctx, row)
		if err == nil && td == nil {
			err = errNilDict
		}
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", row, err)
		}
		made[i] = td
	}
	out, err := stack(made, dst)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", rowsText(rows), err)
	}
	return out, nil
}

// stack stacks at least one dictionary, in dst if that has the right form.
func stack(tds []*tdict.TensorDict, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
	if len(tds[0].Shape()) > 0 {
		return tdict.StackRagged(tds)
	}
	if dst != nil && shapeops.StackInto(dst, tds, 0) == nil {
		return dst, nil
	}
	return shapeops.Stack(tds, 0)
}
