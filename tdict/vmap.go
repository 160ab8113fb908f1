package tdict

import (
	"context"
	"fmt"
	"math"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// NotMapped in [VmapOptions] passes the whole argument to each call.
const NotMapped = math.MinInt

// VmapOptions are the options of [Vmap]. The zero value is the default.
type VmapOptions struct {
	// In[i] is the batch dim of argument i whose rows are passed to fn, or [NotMapped]. A negative
	// dim counts from the end. Nil means dim 0 of each argument.
	In []int
	// Out is the dim of the result along which rows are stacked. A negative dim counts from the
	// end.
	Out int
	// Workers is the number of rows that are worked on at the same time; 0 means GOMAXPROCS. With
	// 1, they are worked on in order, by the calling goroutine.
	Workers int
}

// Vmap calls fn for each i with row i of each argument, and stacks the results as shapeops.Stack
// does:
//
//	fn of [A B], [C] -> [D];  Vmap of [A N B], [N C] along dims 1 and 0 -> [N D]
//
// Rows are views whose entries fn may change. An argument that is not mapped is passed itself: fn
// must not change it. The result is a copy and not locked.
//
// Vmap stops at the first error, in the order of the rows, and finishes the rows that it has begun.
// fn must be safe for concurrent use unless opt.Workers is 1. No goroutine outlives Vmap.
//
// Before the first call of fn, Vmap returns
//
//   - [ErrKind] if fn or an argument is nil,
//   - shapeops.ErrDim if opt.In does not have one dim for each argument, or an argument has no
//     such dim,
//   - shapeops.ErrShape if the sizes of these dims differ, if no argument is mapped, or if there
//     are no rows or more than 1<<24. Without rows, the result could not be known.
//
// Afterwards it returns context.Cause(ctx), or a [RowsError] of one row that wraps fn's error, its
// panic as a [PanicError], [ErrKind] for a nil result, or, for row 0, shapeops.ErrDim if the result
// cannot have the dim opt.Out. It returns the errors of shapeops.Stack if results differ.
func Vmap(ctx context.Context, args []*TensorDict, fn func(ctx context.Context, rows []*TensorDict) (*TensorDict, error), opt VmapOptions) (*TensorDict, error) {
	v := vmapping{args: args, dims: make([]int, len(args)), rows: -1, fn: fn, out: opt.Out}
	if err := v.plan(opt.In); err != nil {
		return nil, failed("vmap", err)
	}
	results, ctx := make([]*TensorDict, v.rows), orBackground(ctx)
	if err := workers.Do(ctx, v.rows, opt.Workers, func(i int) (err error) {
		results[i], err = v.result(ctx, i)
		return err
	}); err != nil {
		return nil, failedRows("vmap", err)
	}
	out, err := shapeops.Stack(results, opt.Out)
	if err != nil {
		return nil, failed("vmap", err)
	}
	return out, nil
}

// A vmapping is one call of Vmap.
type vmapping struct {
	args []*TensorDict
	dims []int // for each argument the dim of its rows, or NotMapped
	rows int   // -1 until an argument is mapped
	fn   func(ctx context.Context, rows []*TensorDict) (*TensorDict, error)
	out  int // opt.Out
}

// plan sets the dims, and checks that sizes agree.
func (v *vmapping) plan(in []int) error {
	if v.fn == nil {
		return errNoFunc
	}
	if in != nil && len(in) != len(v.args) {
		return fmt.Errorf("%w: got %d dims in VmapOptions.In, want one for each argument: %d", shapeops.ErrDim, len(in), len(v.args))
	}
	for i, arg := range v.args {
		if in != nil {
			v.dims[i] = in[i]
		}
		if arg == nil {
			return fmt.Errorf("argument %d: %w", i, errNil)
		}
		if v.dims[i] == NotMapped {
			continue
		}
		dim, err := arg.batch.Dim(v.dims[i])
		if err != nil {
			return fmt.Errorf("argument %d: %w", i, err)
		}
		v.dims[i] = dim
		if n := arg.batch[dim]; v.rows >= 0 && n != v.rows {
			return fmt.Errorf("argument %d: %w: got %d rows in dim %d, want %d", i, shapeops.ErrShape, n, dim, v.rows)
		}
		v.rows = arg.batch[dim]
	}
	switch {
	case v.rows < 0:
		return fmt.Errorf("%w: got no argument that is mapped", shapeops.ErrShape)
	case v.rows == 0 || v.rows > maxChunks:
		return fmt.Errorf("%w: got %d rows, want 1 to %d", shapeops.ErrShape, v.rows, maxChunks)
	}
	return nil
}

// result returns the result of fn for row i.
func (v *vmapping) result(ctx context.Context, i int) (out *TensorDict, err error) {
	err = workers.Call(func() error {
		rows, err := v.row(i)
		if err != nil {
			return err
		}
		if out, err = v.fn(ctx, rows); err == nil && out == nil {
			err = errNil
		}
		if err == nil && i == 0 { // Stack compares the others with row 0
			_, err = plan.Unsqueeze(out.batch, v.out)
		}
		return err
	})
	if err != nil {
		return nil, &RowsError{Op: "vmap", From: i, To: i + 1, Err: err}
	}
	return out, nil
}

// row returns the arguments of fn for row i.
func (v *vmapping) row(i int) ([]*TensorDict, error) {
	rows := make([]*TensorDict, len(v.args))
	for j, arg := range v.args {
		if v.dims[j] == NotMapped {
			rows[j] = arg
			continue
		}
		expr := make([]ix.Index, v.dims[j]+1)
		expr[v.dims[j]] = ix.At(i)
		row, err := arg.Index(expr...)
		if err != nil {
			return nil, err
		}
		rows[j] = row
	}
	return rows, nil
}
