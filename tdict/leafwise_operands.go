package tdict

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// inner returns the dictionaries in a column.
func (w *leafwise) inner(d *TensorDict, dicts []*TensorDict, c column) ([]*TensorDict, error) {
	inner := make([]*TensorDict, len(dicts))
	for i, other := range dicts {
		if other == nil {
			continue
		}
		v, err := w.of(d, other, c)
		if err != nil {
			return nil, err
		}
		e, ok := asDict(v)
		if !ok {
			return nil, fmt.Errorf("%s: %w", w.kernel.Other(i), mismatch(v, d))
		}
		if err := w.fitsInner(i, e, d); err != nil && !w.kernel.Free {
			return nil, fmt.Errorf("%s: %w", w.kernel.Other(i), err)
		}
		inner[i] = e
	}
	return inner, nil
}

// fits returns an error unless the batch shape of an operand expands to that of td; if rows of
// other values are selected too, it must be the same.
func (w *leafwise) fits(other, td *TensorDict) error {
	if w.kernel.Select != nil || other.batch.Equal(td.batch) {
		return other.batch.CheckEqual(td.batch)
	}
	_, err := plan.Expand(other.batch, td.batch...)
	return err
}

// fitsInner is fits of a dictionary in the i-th operand, and one in the first: the batch dims of
// the outermost ones, and those that each has besides, are for one another.
func (w *leafwise) fitsInner(i int, other, td *TensorDict) error {
	own, want := len(other.batch)-len(w.dicts[i].batch), len(td.batch)-w.batch
	if own != want {
		return fmt.Errorf("%w: got a batch shape %v of %d dims, want %d dims to match %v",
			shapeops.ErrShape, other.batch, len(other.batch), len(w.dicts[i].batch)+want, td.batch)
	}
	return w.fits(other, td)
}

// of returns the value that a dictionary has in the column of v, or what stands for it.
func (w *leafwise) of(v Value, other *TensorDict, c column) (Value, error) {
	x, err := c.of(other)
	if errors.Is(err, ErrMissing) && w.kernel.Missing != nil {
		return w.standIn(v)
	}
	return x, err
}

// operands returns the operands besides a leaf of td, until the next call.
func (w *leafwise) operands(td *TensorDict, t Value, dicts []*TensorDict, c column) ([]any, error) {
	out := w.room[:0]
	for i, other := range dicts {
		if other == nil {
			x, err := w.wide(w.others[i], t)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
			continue
		}
		x, err := w.of(t, other, c)
		if err != nil {
			return nil, err
		}
		if x, err = beside(x, t); err != nil {
			return nil, fmt.Errorf("%s: %w", w.kernel.Other(i), err)
		}
		if err := w.fitsLeaf(td, other, t, x); err != nil {
			return nil, fmt.Errorf("%s: %w", w.kernel.Other(i), err)
		}
		out = append(out, x)
	}
	w.room = out
	return out, nil
}

// beside returns x as an operand beside t, which is of its kind, or of that of the members of a
// stack.
func beside(x, t Value) (Value, error) {
	if opsOf(x) == opsOf(t) {
		return x, nil
	}
	if !stackedBeside(x, t) {
		return nil, mismatch(x, t)
	}
	if s, ok := asStacked(x); ok {
		return s.Dense()
	}
	return x, nil
}

// fitsLeaf returns an error unless x, a leaf of other, can be an operand of t, one of td: batch
// dims expand to batch dims, and features, as many, to features.
func (w *leafwise) fitsLeaf(td, other *TensorDict, t, x Value) error {
	features, own := len(t.Shape())-len(td.batch), len(x.Shape())-len(other.batch)
	if w.kernel.Free || w.kernel.Select == nil && features == own {
		return nil
	}
	return x.Shape().CheckEqual(t.Shape())
}

// wide returns an operand for a leaf: a tensor over the batch shape with dims of size 1 for the
// features, a scalar as it is.
func (w *leafwise) wide(other any, t Value) (any, error) {
	x, ok := asTensor(other)
	if !ok || len(t.Shape()) == w.batch || w.kernel.Free {
		return other, nil
	}
	expr := make([]ix.Index, len(t.Shape()))
	for dim := w.batch; dim < len(expr); dim++ {
		expr[dim] = ix.New
	}
	return x.Index(expr...)
}

// hasElements reports whether there is a leaf with elements in td.
func (td *TensorDict) hasElements() bool {
	for _, v := range td.Leaves() {
		if opsOf(v).elementwise(v) != nil {
			return true
		}
	}
	return false
}

// checkNumber returns ErrKind unless v is a number or a bool, for an operand that no leaf will
// meet.
func checkNumber(v any) error {
	if _, err := tensor.ScalarOf(tensor.Complex128, v); errors.Is(err, ErrKind) {
		return err
	}
	return nil
}
