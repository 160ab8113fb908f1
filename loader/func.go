package loader

import (
	"context"
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// FromFunc returns a source of n rows that a function fetches, which does what [Source] says of
// Fetch. It returns [ErrSource] if n is negative or fn nil.
func FromFunc(n int, fn func(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error)) (Source, error) {
	if n < 0 || fn == nil {
		return nil, fmt.Errorf("from func: %w: got %d rows, function nil: %t", ErrSource, n, fn == nil)
	}
	return function{n, fn}, nil
}

// A function is a source that a function makes.
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

// FromRows returns a source of n rows that a function makes one by one, as by reading a file each:
// dictionaries which are stacked:
//
//	row -> [], N rows -> [N]
//	row -> [L B...] -> [N], leaves [N * B...], as tdict.StackRagged does, also if L is the same
//
// fn must be safe for concurrent use; what it returns is only read, and may be the same each time.
// FromRows returns [ErrSource] if n is negative or fn nil.
func FromRows(n int, fn func(ctx context.Context, row int) (*tdict.TensorDict, error)) (Source, error) {
	if n < 0 || fn == nil {
		return nil, fmt.Errorf("from rows: %w: got %d rows, function nil: %t", ErrSource, n, fn == nil)
	}
	return function{n, oneByOne(fn).fetch}, nil
}

// A oneByOne makes rows one by one.
type oneByOne func(ctx context.Context, row int) (*tdict.TensorDict, error)

// fetch makes rows and stacks them, in dst if that fits.
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

// stack returns dictionaries, of which there is one at least, as the rows of one, in dst if that
// fits.
func stack(tds []*tdict.TensorDict, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
	if len(tds[0].Shape()) > 0 {
		return tdict.StackRagged(tds)
	}
	if dst != nil && shapeops.StackInto(dst, tds, 0) == nil {
		return dst, nil
	}
	return shapeops.Stack(tds, 0)
}
