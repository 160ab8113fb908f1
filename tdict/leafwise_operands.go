package tdict

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// inner returns the dictionaries that dicts have in column c; d is the first operand's.
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

// fits returns an error unless the batch shape of other expands to td's. If the kernel selects
// rows, the shapes must be equal.
func (w *leafwise) fits(other, td *TensorDict) error {
	if w.kernel.Select != nil || other.batch.Equal(td.batch) {
		return other.batch.CheckEqual(td.batch)
	}
	_, err := plan.Expand(other.batch, td.batch...)
	return err
}

// fitsInner is fits for a nested dictionary of operand i. Both dictionaries must have the same
// number of batch dims after the outermost batch shape.
func (w *leafwise) fitsInner(i int, other, td *TensorDict) error {
	own, want := len(other.batch)-len(w.dicts[i].batch), len(td.batch)-w.batch
	if own != want {
		return fmt.Errorf("%w: got a batch shape %v of %d dims, want %d dims to match %v",
			shapeops.ErrShape, other.batch, len(other.batch), len(w.dicts[i].batch)+want, td.batch)
	}
	return w.fits(other, td)
}

// of returns the value of other in the column of v, or its replacement if it is missing.
func (w *leafwise) of(v Value, other *TensorDict, c column) (Value, error) {
	x, err := c.of(other)
	if errors.Is(err, ErrMissing) && w.kernel.Missing != nil {
		return w.standIn(v)
	}
	return x, err
}

// operands returns the operands for the leaf t of td. They are valid until the next call.
func (w *leafwise) operands(td *TensorDict, t Value, dicts []*TensorDict, c column) ([]any, error) {
	out := w.buffer[:0]
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
		if x, err = asKindOf(x, t); err != nil {
			return nil, fmt.Errorf("%s: %w", w.kernel.Other(i), err)
		}
		if err := w.fitsLeaf(td, other, t, x); err != nil {
			return nil, fmt.Errorf("%s: %w", w.kernel.Other(i), err)
		}
		out = append(out, x)
	}
	w.buffer = out
	return out, nil
}

// asKindOf returns x as a value of the kind of t: x itself, or its Dense value if x is a Stacked of
// that kind. If t is a Stacked, x may also be of the kind of its members.
func asKindOf(x, t Value) (Value, error) {
	if opsOf(x) == opsOf(t) {
		return x, nil
	}
	if !sameStackedKind(x, t) {
		return nil, mismatch(x, t)
	}
	if s, ok := asStacked(x); ok {
		return s.Dense()
	}
	return x, nil
}

// fitsLeaf returns an error unless x, a leaf of other, can be an operand for t, a leaf of td: both
// have the same number of features, which the kernel broadcasts, or their shapes are equal.
func (w *leafwise) fitsLeaf(td, other *TensorDict, t, x Value) error {
	features, own := len(t.Shape())-len(td.batch), len(x.Shape())-len(other.batch)
	if w.kernel.Free || w.kernel.Select == nil && features == own {
		return nil
	}
	return x.Shape().CheckEqual(t.Shape())
}

// wide returns an operand for the leaf t. A tensor over the batch shape gets a dim of size 1 for
// each feature of t; a scalar stays as it is.
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

// hasElements reports whether a leaf of td has elements.
func (td *TensorDict) hasElements() bool {
	for _, v := range td.Leaves() {
		if elements(v) != nil {
			return true
		}
	}
	return false
}

// checkNumber returns ErrKind unless v is a number or a bool. It checks an operand that no leaf
// uses.
func checkNumber(v any) error {
	if _, err := tensor.ScalarOf(tensor.Complex128, v); errors.Is(err, ErrKind) {
		return err
	}
	return nil
}
