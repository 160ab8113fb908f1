package tdict

import (
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tensor"
)

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
	t, _ := asTensor(dst)
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
	t, _ := asRagged(x)
	return e.Layout().CheckEqual(t.Layout())
}

func (elementsOfRagged) wholeRows() bool { return true }

func (e elementsOfRagged) make(w *leafwise, _ int, others []any) (Value, error) {
	return asValue(w.raggedPass().Make(e.Tensor, others))
}

func (e elementsOfRagged) to(w *leafwise, tr *tensor.Transfer, dst Value, _ int, others []any) error {
	t, _ := asRagged(dst)
	return w.raggedPass().To(tr, t, e.Tensor, others)
}
