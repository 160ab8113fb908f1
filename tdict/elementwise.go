package tdict

import (
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tensor"
)

// elementwise is a value that has elements, with how functions of elements work on it. Other values
// given to its methods are of its kind.
type elementwise interface {
	DType() tensor.DType
	ByteSize() int
	// tensor returns a tensor of all elements, in which they can be written if they lie in order.
	// What values share is made once in a pass.
	tensor(p *plan.Pass) (*tensor.Tensor, error)
	// with returns the value with what was made of that tensor in its place.
	with(p *plan.Pass, made *tensor.Tensor) (Value, error)
	// set adds to tr: the elements of the value = those of what was made of first, its tensor.
	set(tr *tensor.Transfer, p *plan.Pass, first, made *tensor.Tensor) error
	// beside returns an error unless the tensor of x can go with that of the value.
	beside(x Value) error
	// byRows says that rows are more than their elements: they are chosen as a whole.
	byRows() bool

	// make returns what a kernel makes of the value, in a dictionary with lead batch dims.
	make(w *leafwise, lead int, others []any) (Value, error)
	// to adds to tr: dst = what a kernel makes of the value.
	to(w *leafwise, tr *tensor.Transfer, dst Value, lead int, others []any) error
}

// elementsOfTensor is a tensor as elementwise.
type elementsOfTensor struct{ *tensor.Tensor }

func (e elementsOfTensor) tensor(*plan.Pass) (*tensor.Tensor, error) { return e.Tensor, nil }

func (elementsOfTensor) with(_ *plan.Pass, made *tensor.Tensor) (Value, error) { return made, nil }

func (elementsOfTensor) set(tr *tensor.Transfer, _ *plan.Pass, first, made *tensor.Tensor) error {
	if err := made.Shape().CheckEqual(first.Shape()); err != nil {
		return err
	}
	return tr.Copy(first, made)
}

func (elementsOfTensor) beside(Value) error { return nil }

func (elementsOfTensor) byRows() bool { return false }

func (e elementsOfTensor) make(w *leafwise, lead int, others []any) (Value, error) {
	return some(w.pass.Make(e.Tensor, lead, others))
}

func (e elementsOfTensor) to(w *leafwise, tr *tensor.Transfer, dst Value, lead int, others []any) error {
	t, _ := asTensor(dst)
	return w.pass.To(tr, t, e.Tensor, lead, others)
}

// elementsOfRagged is a ragged tensor as elementwise.
type elementsOfRagged struct{ *ragged.Tensor }

func (e elementsOfRagged) tensor(p *plan.Pass) (*tensor.Tensor, error) {
	s, err := nested(e.Tensor).CompactIn(p)
	if err != nil {
		return nil, err
	}
	return s.Values()
}

func (e elementsOfRagged) with(p *plan.Pass, made *tensor.Tensor) (Value, error) {
	return some(ragged.New(made, nested(e.Tensor).LayoutIn(p)))
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
	return e.Ops().AddWrite(tr, x, plan.NewPass(planned)) // in place, for lengths stay
}

func (e elementsOfRagged) beside(x Value) error {
	t, _ := asRagged(x)
	return e.Layout().CheckEqual(t.Layout())
}

func (elementsOfRagged) byRows() bool { return true }

func (e elementsOfRagged) make(w *leafwise, _ int, others []any) (Value, error) {
	return some(w.raggedPass().Make(e.Tensor, others))
}

func (e elementsOfRagged) to(w *leafwise, tr *tensor.Transfer, dst Value, _ int, others []any) error {
	t, _ := asRagged(dst)
	return w.raggedPass().To(tr, t, e.Tensor, others)
}
