package pickstack

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// maxInputs is the largest number of inputs of a plan. Their memory is borrowed in nested calls.
const maxInputs = 1 << 12

// checkIndices returns ErrShape unless there are 1 to maxInputs inputs, and an index for each.
func checkIndices(indices, inputs int) error {
	switch {
	case inputs == 0:
		return fmt.Errorf("%w: got no input", shapeops.ErrShape)
	case inputs > maxInputs:
		return fmt.Errorf("%w: got %d inputs, want at most %d", shapeops.ErrShape, inputs, maxInputs)
	case indices != inputs:
		return fmt.Errorf("%w: got %d indices, want %d, one for each input", shapeops.ErrShape, indices, inputs)
	}
	return nil
}

// checkInputs returns the index of the inputs' dtype in dtypes, the batch size, and the number of
// channels of the output.
func (p *Plan) checkInputs(xs []*tensor.Tensor) (dtype, batch, channels int, err error) {
	if len(p.tables) == 0 {
		return 0, 0, 0, errNoPlan
	}
	if len(xs) != len(p.tables) {
		return 0, 0, 0, fmt.Errorf("%w: got %d inputs, want %d", shapeops.ErrShape, len(xs), len(p.tables))
	}
	for n, x := range xs {
		if err := p.checkInput(n, x, xs[0]); err != nil {
			return 0, 0, 0, &InputError{n, err}
		}
		channels += x.Shape()[2]
	}
	if err := checkFinite("MinValue", p.rule.MinValue, xs[0].DType()); err != nil {
		return 0, 0, 0, err
	}
	if err := checkFinite("Empty", p.rule.Empty, xs[0].DType()); err != nil {
		return 0, 0, 0, err
	}
	return slices.Index(dtypes[:], xs[0].DType()), xs[0].Shape()[0], channels, nil
}

// checkInput checks input n, x. first is input 0, which has been checked unless it is x.
func (p *Plan) checkInput(n int, x, first *tensor.Tensor) error {
	switch {
	case x == nil:
		return errNil
	case !slices.Contains(dtypes[:], x.DType()):
		return fmt.Errorf("%w: got %v, want one of %v", tensor.ErrDType, x.DType(), dtypes)
	case len(x.Shape()) != 3:
		return fmt.Errorf("%w: got %v, want [B P C]", shapeops.ErrDim, x.Shape())
	case x.DType() != first.DType():
		return fmt.Errorf("%w: got %v, want %v, the dtype of input 0", tensor.ErrDType, x.DType(), first.DType())
	case x.Shape()[0] != first.Shape()[0]:
		return fmt.Errorf("%w: got batch size %d, want %d, the batch size of input 0", shapeops.ErrShape, x.Shape()[0], first.Shape()[0])
	case x.Shape()[1] != p.tables[n].width:
		return fmt.Errorf("%w: got %d rows, want %d, as in the plan", shapeops.ErrShape, x.Shape()[1], p.tables[n].width)
	}
	return nil
}

// checkElements returns ErrMeta if an input is on device meta.
func checkElements(xs []*tensor.Tensor) error {
	for n, x := range xs {
		if x.Device() == tensor.Meta {
			return &InputError{n, tensor.ErrMeta}
		}
	}
	return nil
}

// checkOutput returns an error unless t, the output or its gradient, has the right dtype and shape.
func (p *Plan) checkOutput(t *tensor.Tensor, dtype, batch, channels int) error {
	switch {
	case t == nil:
		return errNil
	case t.DType() != dtypes[dtype]:
		return fmt.Errorf("%w: got %v, want %v", tensor.ErrDType, t.DType(), dtypes[dtype])
	case len(t.Shape()) != 3:
		return fmt.Errorf("%w: got %v, want [B A C]", shapeops.ErrDim, t.Shape())
	}
	if s := t.Shape(); s[0] != batch || s[1] != p.rows || s[2] != channels {
		return fmt.Errorf("%w: got %v, want [%d %d %d]", shapeops.ErrShape, s, batch, p.rows, channels)
	}
	return nil
}

// checkGradient checks the inputs and the gradient of the output. It returns the index of their
// dtype in dtypes.
func (p *Plan) checkGradient(g *tensor.Tensor, xs []*tensor.Tensor) (dtype int, err error) {
	dtype, batch, channels, err := p.checkInputs(xs)
	if err != nil {
		return 0, err
	}
	if err := p.checkOutput(g, dtype, batch, channels); err != nil {
		return 0, fmt.Errorf("gradient of the output: %w", err)
	}
	return dtype, nil
}

// ErrOptions is returned for an invalid option of a pool.
var ErrOptions = errors.New("unusable options of a pool")

// An InputError says which input an error is about: its index or pools, or its tensor. Errors about
// the gradient of an input, or about two tensors that overlap, name the input only in their text.
type InputError struct {
	Input int
	Err   error
}

// Error returns the text: the number of the input and the reason.
func (e *InputError) Error() string { return fmt.Sprintf("input %d: %v", e.Input, e.Err) }

// Unwrap returns the reason.
func (e *InputError) Unwrap() error { return e.Err }

var (
	errNil    = fmt.Errorf("%w: got a nil tensor", tensor.ErrKind)
	errNoPlan = fmt.Errorf("%w: got an empty plan: NewPick and NewPool make plans", tensor.ErrKind)
)
