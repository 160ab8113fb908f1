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

// NotMapped in [VmapOptions] stands for no dim: each call gets the whole argument.
const NotMapped = math.MinInt

// VmapOptions say along which dims [Vmap] works. The zero value is the default.
type VmapOptions struct {
	// In is the batch dim of each argument that rows are taken from, or [NotMapped]; a negative one
	// counts from the end. Nil means dim 0 of each.
	In []int
	// Out is the dim of the result along which rows are stacked; a negative one counts from the
	// end.
	Out int
	// Workers is how many rows are worked on at the same time; 0 means GOMAXPROCS. With 1, they are
	// worked on in order, by the calling goroutine.
	Workers int
}

// Vmap calls fn with row i of each argument, for each i, and returns the results stacked, as
// shapeops.Stack does:
//
//	fn of [A B], [C] -> [D];  Vmap of [A N B], [N C] along dims 1 and 0 -> [N D]
//
// Rows are views, whose structure is their own; an argument that is not mapped is handed over
// itself, and must not be changed. The result is a copy that is not locked.
//
// Vmap stops at the first error, of the rows in order, and finishes those that it has begun. It
// returns the cause of ctx, or a [RowsError] of one row: fn's error, its panic as a [PanicError],
// [ErrKind] for a result that is nil, or, of row 0, shapeops.ErrDim if results have no place for
// opt.Out; and the errors of shapeops.Stack if results differ. Before fn is called, it returns
// [ErrKind] if fn or an argument is nil, shapeops.ErrDim if there is not one of opt.In for each
// argument, or an argument has no such dim, and shapeops.ErrShape if sizes differ along these dims,
// no argument is mapped, or there are no rows, from which no result could be known, or more than
// 1<<24.
//
// fn must be safe for concurrent use unless opt.Workers is 1. No goroutine outlives Vmap.
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

// A vmapping says which rows of several dictionaries belong together.
type vmapping struct {
	args []*TensorDict
	dims []int // of the rows of each, or NotMapped
	rows int   // -1 until an argument is mapped
	fn   func(ctx context.Context, rows []*TensorDict) (*TensorDict, error)
	out  int // the dim of the result
}

// plan settles the dims, and checks that sizes agree.
func (v *vmapping) plan(in []int) error {
	if v.fn == nil {
		return errNoFunc
	}
	if in != nil && len(in) != len(v.args) {
		return fmt.Errorf("%w: got %d dims for %d arguments", shapeops.ErrDim, len(in), len(v.args))
	}
	for i, arg := range v.args {
		if in != nil {
			v.dims[i] = in[i]
		}
		if err := v.planArg(i, arg); err != nil {
			return fmt.Errorf("argument %d: %w", i, err)
		}
	}
	switch {
	case v.rows < 0:
		return fmt.Errorf("%w: got no argument that is mapped", shapeops.ErrShape)
	case v.rows == 0 || v.rows > maxChunks:
		return fmt.Errorf("%w: got %d rows, want 1 to %d", shapeops.ErrShape, v.rows, maxChunks)
	}
	return nil
}

func (v *vmapping) planArg(i int, arg *TensorDict) error {
	if arg == nil {
		return errNil
	}
	if v.dims[i] == NotMapped {
		return nil
	}
	dim, err := arg.batch.Dim(v.dims[i])
	if err != nil {
		return err
	}
	v.dims[i] = dim
	if n := arg.batch[dim]; v.rows >= 0 && n != v.rows {
		return fmt.Errorf("%w: got %d rows in dim %d, want %d", shapeops.ErrShape, n, dim, v.rows)
	}
	v.rows = arg.batch[dim]
	return nil
}

// result returns what the function makes of row i.
func (v *vmapping) result(ctx context.Context, i int) (out *TensorDict, err error) {
	err = workers.Call(func() error {
		rows, err := v.row(i)
		if err == nil {
			out, err = v.fn(ctx, rows)
		}
		if err == nil {
			err = v.check(i, out)
		}
		return err
	})
	if err != nil {
		return nil, &RowsError{Op: "vmap", From: i, To: i + 1, Err: err}
	}
	return out, nil
}

// check returns an error if a result cannot be stacked. Only row 0 is looked at for its dims: the
// others are to be like it.
func (v *vmapping) check(i int, out *TensorDict) error {
	if out == nil {
		return errNil
	}
	if i > 0 {
		return nil
	}
	_, err := plan.Unsqueeze(out.batch, v.out)
	return err
}

// row returns row i of each argument that is mapped, and the others.
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
