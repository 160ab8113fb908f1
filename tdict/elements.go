package tdict

import (
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tensor"
)

// elementwise is how functions of elements work on a kind of value that has some. Values given to
// its methods are of that kind.
type elementwise interface {
	// tensor returns a tensor of all elements of v, in which they can be written if they lie in
	// order. What values share is made once in a pass.
	tensor(v Value, p *plan.Pass) (*tensor.Tensor, error)
	// with returns v with what was made of that tensor in its place.
	with(v Value, p *plan.Pass, made *tensor.Tensor) (Value, error)
	// set adds to tr: the elements of v = those of what was made of first, its tensor.
	set(tr *tensor.Transfer, v Value, p *plan.Pass, first, made *tensor.Tensor) error
	// beside returns an error unless the tensor of x can go with that of v.
	beside(v, x Value) error
	dtype(v Value) tensor.DType
	bytes(v Value) int
	// byRows says that rows of v are more than their elements: they are chosen as a whole.
	byRows() bool

	// expect says that make will be called with v.
	expect(w *leafwise, v Value)
	// make returns what a kernel makes of v, in a dictionary with lead batch dims.
	make(w *leafwise, v Value, lead int, others []any) (Value, error)
	// to adds to tr: dst = what a kernel makes of v.
	to(w *leafwise, tr *tensor.Transfer, dst, v Value, lead int, others []any) error
}

// The kinds of value that have elements.
var (
	tensorElements elementwise = elementsOfTensor{}
	raggedElements elementwise = elementsOfRagged{}
)

type elementsOfTensor struct{}

func (elementsOfTensor) tensor(v Value, _ *plan.Pass) (*tensor.Tensor, error) {
	return v.(*tensor.Tensor), nil
}

func (elementsOfTensor) with(_ Value, _ *plan.Pass, made *tensor.Tensor) (Value, error) {
	return made, nil
}

func (elementsOfTensor) set(tr *tensor.Transfer, _ Value, _ *plan.Pass, first, made *tensor.Tensor) error {
	if err := made.Shape().CheckEqual(first.Shape()); err != nil {
		return err
	}
	return tr.Copy(first, made)
}

func (elementsOfTensor) beside(_, _ Value) error { return nil }

func (elementsOfTensor) dtype(v Value) tensor.DType { return v.(*tensor.Tensor).DType() }

func (elementsOfTensor) bytes(v Value) int { return v.(*tensor.Tensor).ByteSize() }

func (elementsOfTensor) byRows() bool { return false }

func (elementsOfTensor) expect(w *leafwise, v Value) { w.pass.Expect(v.(*tensor.Tensor)) }

func (elementsOfTensor) make(w *leafwise, v Value, lead int, others []any) (Value, error) {
	return some(w.pass.Make(v.(*tensor.Tensor), lead, others))
}

func (elementsOfTensor) to(w *leafwise, tr *tensor.Transfer, dst, v Value, lead int, others []any) error {
	return w.pass.To(tr, dst.(*tensor.Tensor), v.(*tensor.Tensor), lead, others)
}

type elementsOfRagged struct{}

func (elementsOfRagged) tensor(v Value, p *plan.Pass) (*tensor.Tensor, error) {
	s, err := nested(v.(*ragged.Tensor)).StraightIn(p)
	if err != nil {
		return nil, err
	}
	return s.Values()
}

func (elementsOfRagged) with(v Value, p *plan.Pass, made *tensor.Tensor) (Value, error) {
	return some(ragged.New(made, nested(v.(*ragged.Tensor)).LayoutIn(p)))
}

func (e elementsOfRagged) set(tr *tensor.Transfer, v Value, p *plan.Pass, _, made *tensor.Tensor) error {
	x, err := ragged.New(made, nested(v.(*ragged.Tensor)).LayoutIn(p))
	if err != nil {
		return err
	}
	planned, err := plan.Index(v.Shape())
	if err != nil {
		return err
	}
	return v.(*ragged.Tensor).Verbs().AddWrite(tr, x, plan.NewPass(planned)) // in place, for lengths stay
}

func (elementsOfRagged) beside(v, x Value) error {
	return v.(*ragged.Tensor).Layout().CheckEqual(x.(*ragged.Tensor).Layout())
}

func (elementsOfRagged) dtype(v Value) tensor.DType { return v.(*ragged.Tensor).DType() }

func (elementsOfRagged) bytes(v Value) int { return v.(*ragged.Tensor).ByteSize() }

func (elementsOfRagged) byRows() bool { return true }

func (elementsOfRagged) expect(w *leafwise, v Value) { w.raggedPass().Expect(v.(*ragged.Tensor)) }

func (elementsOfRagged) make(w *leafwise, v Value, _ int, others []any) (Value, error) {
	return some(w.raggedPass().Make(v.(*ragged.Tensor), others))
}

func (elementsOfRagged) to(w *leafwise, tr *tensor.Transfer, dst, v Value, _ int, others []any) error {
	return w.raggedPass().To(tr, dst.(*ragged.Tensor), v.(*ragged.Tensor), others)
}
