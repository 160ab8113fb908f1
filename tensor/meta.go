package tensor

import (
	"errors"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shape"
)

// A Device says where the elements of a tensor are.
type Device string

// The devices.
const (
	CPU  Device = "cpu"  // memory that Go manages, or that a [Lender] lends
	Meta Device = "meta" // nowhere: the tensor has a dtype and a shape
)

// ErrMeta says that an operation needs the elements of a tensor on device [Meta].
var ErrMeta = errors.New("a tensor on device meta has no elements: Materialize it first")

// Device returns the tensor's device.
func (t *Tensor) Device() Device {
	if t.mem.loan != nil {
		if _, ok := t.mem.loan.lender.(*nowhere); ok {
			return Meta
		}
	}
	return CPU
}

// NewMeta returns a tensor on device [Meta]: it has a dtype and a shape, and no memory for
// elements. Operations on shape work on it. Operations that copy return tensors on device Meta.
// Operations that need elements return [ErrMeta]. NewMeta returns the errors of [New].
func NewMeta(dtype DType, shape ...int) (*Tensor, error) { return newMeta(nil, dtype, shape, nil) }

func newMeta(p *plan.Pass, dtype DType, lead, trailing shape.Shape) (*Tensor, error) {
	v, n, err := layOut(p, dtype, lead, trailing)
	if err != nil {
		return nil, err
	}
	return &Tensor{dtype, v, memory{loan: newLoan(&nowhere{}, 0, n)}}, nil
}

// ToMeta returns a tensor on device [Meta] with t's dtype and shape.
func (t *Tensor) ToMeta() (*Tensor, error) { return NewMeta(t.dtype, t.view.Shape...) }

// Materialize returns t; if t is on device [Meta], it returns a tensor of zeros with t's dtype and
// shape. It returns the errors of [New].
func (t *Tensor) Materialize() (_ *Tensor, err error) {
	defer errtext.Name("materialize", &err)
	if t.Device() == Meta {
		return New(t.dtype, t.view.Shape...)
	}
	return t, nil
}

// nowhere is the Lender of tensors on device Meta.
type nowhere struct {
	_ byte // so that two have different addresses
}

func (*nowhere) Borrow() ([]byte, error) { return nil, ErrMeta }
func (*nowhere) Return()                 {}
func (*nowhere) Pin() ([]byte, error)    { return nil, ErrMeta }
func (*nowhere) ReadOnly() bool          { return false }

// blankLike is blank. If one of xs is on device Meta, the result is too; done is then true, and
// there is nothing to write.
func blankLike(p *plan.Pass, dtype DType, lead, trailing shape.Shape, xs ...*Tensor) (out *Tensor, done bool, err error) {
	for _, x := range xs {
		if x.Device() == Meta {
			out, err = newMeta(p, dtype, lead, trailing)
			return out, true, err
		}
	}
	out, err = blank(p, dtype, lead, trailing)
	return out, false, err
}
