package pickstack

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// operands are the tensors of a call.
type operands struct {
	src, dst []*tensor.Tensor // dst may have nil
	written  []*tensor.Tensor // dst without nil
	backward bool             // src begins with the gradient of the output
	add      bool             // to what dst holds
	batch    int
	channels []int // of each input
	offsets  []int // of each input: the channels of those before it
	total    int   // channels of the output
}

func (o *operands) on() *operands { return o }

// set notes the sizes of the inputs.
func (o *operands) set(batch int, xs []*tensor.Tensor) {
	o.batch, o.total, o.channels, o.offsets = batch, 0, o.channels[:0], o.offsets[:0]
	for _, x := range xs {
		o.channels, o.offsets = append(o.channels, x.Shape()[2]), append(o.offsets, o.total)
		o.total += x.Shape()[2]
	}
}

// forget lets go of the tensors.
func (o *operands) forget() {
	clear(o.src[:cap(o.src)])
	clear(o.dst)
	clear(o.written)
	o.src, o.dst, o.written = o.src[:0], o.dst[:0], o.written[:0]
}

// sourceName returns what src[i] is.
func (o *operands) sourceName(i int) string {
	switch {
	case !o.backward:
		return fmt.Sprintf("input %d", i)
	case i == 0:
		return "gradient of the output"
	}
	return fmt.Sprintf("input %d", i-1)
}

// resultName returns what dst[i] is.
func (o *operands) resultName(i int) string {
	if o.backward {
		return fmt.Sprintf("gradient of input %d", i)
	}
	return "output"
}

// width returns the bytes of an element.
func (o *operands) width() int { return o.src[0].DType().Size() }

// bytes returns how many bytes so many numbers for each batch element take.
func (o *operands) bytes(numbers int) int { return o.batch * numbers * o.width() }

// checkApart returns ErrOverlap unless what is written lies apart from all else.
func (o *operands) checkApart() error {
	for _, t := range o.dst {
		if t != nil {
			o.written = append(o.written, t)
		}
	}
	err := tensor.CheckApart(o.written, o.src)
	if errors.Is(err, tensor.ErrOverlap) {
		return cmp.Or(o.overlap(), err)
	}
	return err
}

// overlap says which two tensors share elements.
func (o *operands) overlap() error {
	for i, t := range o.dst {
		for j, u := range o.src {
			if t != nil && tensor.CheckApart([]*tensor.Tensor{t}, []*tensor.Tensor{u}) != nil {
				return fmt.Errorf("%w: %s shares elements with %s", tensor.ErrOverlap, o.resultName(i), o.sourceName(j))
			}
		}
		for j, u := range o.dst[:i] {
			if t != nil && u != nil && tensor.CheckApart([]*tensor.Tensor{t, u}, nil) != nil {
				return fmt.Errorf("%w: %s shares elements with %s", tensor.ErrOverlap, o.resultName(i), o.resultName(j))
			}
		}
	}
	return nil
}

// checkInputs returns the number in dtypes of the dtype of the inputs, the batch size and the
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
			return 0, 0, 0, fmt.Errorf("input %d: %w", n, err)
		}
		channels += x.Shape()[2]
	}
	if err := p.rule.checkFor(xs[0].DType()); err != nil {
		return 0, 0, 0, err
	}
	return slices.Index(dtypes[:], xs[0].DType()), xs[0].Shape()[0], channels, nil
}

// checkInput checks an input, given the first, which was checked before if it is another.
func (p *Plan) checkInput(n int, x, first *tensor.Tensor) error {
	switch {
	case x == nil:
		return errNil
	case !slices.Contains(dtypes[:], x.DType()):
		return fmt.Errorf("%w: got %v, want one of %v", tensor.ErrDType, x.DType(), dtypes)
	case len(x.Shape()) != 3:
		return errRank(x)
	case x.DType() != first.DType():
		return fmt.Errorf("%w: got %v, want %v, as of input 0", tensor.ErrDType, x.DType(), first.DType())
	case x.Shape()[0] != first.Shape()[0]:
		return fmt.Errorf("%w: got batch size %d, want %d, as of input 0", shapeops.ErrShape, x.Shape()[0], first.Shape()[0])
	case x.Shape()[1] != p.tables[n].width:
		return fmt.Errorf("%w: got %d rows, want %d, as in the plan", shapeops.ErrShape, x.Shape()[1], p.tables[n].width)
	}
	return nil
}

var (
	errNil    = fmt.Errorf("%w: got a nil tensor", tensor.ErrKind)
	errNoPlan = fmt.Errorf("%w: got an empty plan: NewPick and NewPool make plans", tensor.ErrKind)
)

func errRank(x *tensor.Tensor) error {
	return fmt.Errorf("%w: got %v, want [B P C]", shapeops.ErrDim, x.Shape())
}

// checkOutput returns an error unless t, the output or its gradient, fits.
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

// checkGradients returns an error unless dxs, of which some may be nil, fit the inputs.
func (p *Plan) checkGradients(dxs, xs []*tensor.Tensor) error {
	if len(dxs) != len(xs) {
		return fmt.Errorf("gradients of the inputs: %w: got %d tensors, want %d", shapeops.ErrShape, len(dxs), len(xs))
	}
	for n, dx := range dxs {
		switch {
		case dx == nil:
		case dx.DType() != xs[n].DType():
			return fmt.Errorf("gradient of input %d: %w: got %v, want %v", n, tensor.ErrDType, dx.DType(), xs[n].DType())
		case !dx.Shape().Equal(xs[n].Shape()):
			return fmt.Errorf("gradient of input %d: %w: got %v, want %v", n, shapeops.ErrShape, dx.Shape(), xs[n].Shape())
		}
	}
	return nil
}
