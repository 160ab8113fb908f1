package tdict

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/ragged"
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
		if w.lacks(dicts, i, c) {
			inner[i] = other.emptied()
			continue
		}
		v, err := w.of(d, other, c)
		if err != nil {
			return nil, err
		}
		e, ok := v.(*TensorDict)
		if !ok {
			return nil, fmt.Errorf("%s: %w", w.kernel.Other(i), mismatch(v, d))
		}
		err = w.fits(e, d)
		if own, want := len(e.batch)-len(w.dicts[i].batch), len(d.batch)-w.batch; own != want {
			err = fmt.Errorf("%w: got a batch shape %v of %d dims, want %d dims to match %v",
				shapeops.ErrShape, e.batch, len(e.batch), len(w.dicts[i].batch)+want, d.batch)
		}
		if err != nil && !w.kernel.Free {
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
		if w.lacks(dicts, i, c) {
			continue
		}
		x, err := w.of(t, other, c)
		if err != nil {
			return nil, err
		}
		if overRows(x, t) && w.kernel.Partial {
			out = append(out, x)
			continue
		}
		if x, err = asKindOf(x, t); err != nil {
			return nil, fmt.Errorf("%s: %w", w.kernel.Other(i), err)
		}
		features, own := len(t.Shape())-len(td.batch), len(x.Shape())-len(other.batch)
		if !w.kernel.Free && (w.kernel.Select != nil || features != own) {
			if err := x.Shape().CheckEqual(t.Shape()); err != nil {
				return nil, fmt.Errorf("%s: %w", w.kernel.Other(i), err)
			}
		}
		out = append(out, x)
	}
	w.buffer = out
	return out, nil
}

// overRows reports whether x is a tensor and t is ragged.
func overRows(x, t Value) bool {
	_, dense := x.(*tensor.Tensor)
	_, lists := t.(*ragged.Tensor)
	return dense && lists
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
	if s, ok := x.(*Stacked); ok {
		return s.Dense()
	}
	return x, nil
}

// wide returns an operand for the leaf t. A tensor over the batch shape gets a dim of size 1 for
// each feature of t; a scalar stays as it is.
func (w *leafwise) wide(other any, t Value) (any, error) {
	x, ok := other.(*tensor.Tensor)
	if !ok || len(t.Shape()) == w.batch || w.kernel.Free {
		return other, nil
	}
	expr := make([]ix.Index, len(t.Shape()))
	for dim := w.batch; dim < len(expr); dim++ {
		expr[dim] = ix.New
	}
	return x.Index(expr...)
}

// elementwise is a value with elements, for functions of elements. The values passed to its methods
// are of the same kind.
type elementwise interface {
	DType() tensor.DType
	ByteSize() int
	// tensor returns a tensor of all elements. It shares their memory, unless the rows of a ragged
	// tensor are not compact or the value is a Stacked. Parts that several values share are made
	// once in p.
	tensor(p *plan.Pass) (*tensor.Tensor, error)
	// with returns the value with made in the place of that tensor.
	with(p *plan.Pass, made *tensor.Tensor) (Value, error)
	// set adds to tr: the elements of the value = the elements of made. first is the result of
	// tensor.
	set(tr *tensor.Transfer, p *plan.Pass, first, made *tensor.Tensor) error
	// checkOperand returns an error unless the tensors of x and of the value have corresponding
	// elements.
	checkOperand(x Value) error
	// wholeRows reports whether a kernel that selects rows selects whole rows of the value, not
	// elements.
	wholeRows() bool

	// make returns the result of the kernel for a value in a dictionary with lead batch dims.
	make(w *leafwise, lead int, others []any) (Value, error)
	// to adds to tr: dst = the result of the kernel.
	to(w *leafwise, tr *tensor.Transfer, dst Value, lead int, others []any) error
}

// elements returns v as elementwise, or nil if v has no elements.
func elements(v Value) elementwise { return opsOf(v).elementwise(v) }

// elementsOfTensor implements elementwise for a tensor.
type elementsOfTensor struct{ *tensor.Tensor }

func (e elementsOfTensor) tensor(*plan.Pass) (*tensor.Tensor, error) { return e.Tensor, nil }

func (elementsOfTensor) with(_ *plan.Pass, made *tensor.Tensor) (Value, error) { return made, nil }

func (elementsOfTensor) set(tr *tensor.Transfer, _ *plan.Pass, first, made *tensor.Tensor) error {
	if err := made.Shape().CheckEqual(first.Shape()); err != nil {
		return err
	}
	return tr.Copy(first, made)
}

func (elementsOfTensor) checkOperand(Value) error { return nil }

func (elementsOfTensor) wholeRows() bool { return false }

func (e elementsOfTensor) make(w *leafwise, lead int, others []any) (Value, error) {
	return asValue(w.pass.Make(e.Tensor, lead, others))
}

func (e elementsOfTensor) to(w *leafwise, tr *tensor.Transfer, dst Value, lead int, others []any) error {
	t, _ := dst.(*tensor.Tensor)
	return w.pass.To(tr, t, e.Tensor, lead, others)
}

// elementsOfRagged implements elementwise for a ragged tensor.
type elementsOfRagged struct{ *ragged.Tensor }

func (e elementsOfRagged) tensor(p *plan.Pass) (*tensor.Tensor, error) {
	s, err := nested(e.Tensor).CompactIn(p)
	if err != nil {
		return nil, err
	}
	return s.Values()
}

func (e elementsOfRagged) with(p *plan.Pass, made *tensor.Tensor) (Value, error) {
	return asValue(ragged.New(made, nested(e.Tensor).LayoutIn(p)))
}

func (e elementsOfRagged) set(tr *tensor.Transfer, p *plan.Pass, _, made *tensor.Tensor) error {
	x, err := ragged.New(made, nested(e.Tensor).LayoutIn(p))
	if err != nil {
		return err
	}
	planned, err := plan.Index(e.Shape())
	if err != nil {
		return err
	}
	return e.Ops().AddWrite(tr, x, plan.NewPass(planned)) // in place: the lengths are equal
}

func (e elementsOfRagged) checkOperand(x Value) error {
	t, _ := x.(*ragged.Tensor)
	return e.Layout().CheckEqual(t.Layout())
}

func (elementsOfRagged) wholeRows() bool { return true }

func (e elementsOfRagged) make(w *leafwise, _ int, others []any) (Value, error) {
	return asValue(w.raggedPass(e.Tensor).Make(e.Tensor, others))
}

func (e elementsOfRagged) to(w *leafwise, tr *tensor.Transfer, dst Value, _ int, others []any) error {
	t, _ := dst.(*ragged.Tensor)
	return w.raggedPass(e.Tensor).To(tr, t, e.Tensor, others)
}
