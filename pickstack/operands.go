package pickstack

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/tensor"
)

// operands are the tensors of a call.
type operands struct {
	src, dst []*tensor.Tensor // dst may contain nil
	written  []*tensor.Tensor // dst without nil
	backward bool             // src begins with the gradient of the output
	add      bool             // add to dst
	batch    int
	channels []int // of each input
	offsets  []int // for each input, the number of channels of the inputs before it
	total    int   // channels of the output
}

func (o *operands) tensors() *operands { return o }

// set sets the batch size and the channels from the inputs.
func (o *operands) set(xs []*tensor.Tensor) {
	o.batch, o.total, o.channels, o.offsets = xs[0].Shape()[0], 0, o.channels[:0], o.offsets[:0]
	for _, x := range xs {
		o.channels, o.offsets = append(o.channels, x.Shape()[2]), append(o.offsets, o.total)
		o.total += x.Shape()[2]
	}
}

// sourceName returns the name of src[i] in errors.
func (o *operands) sourceName(i int) string {
	switch {
	case !o.backward:
		return fmt.Sprintf("input %d", i)
	case i == 0:
		return "gradient of the output"
	}
	return fmt.Sprintf("input %d", i-1)
}

// resultName returns the name of dst[i] in errors.
func (o *operands) resultName(i int) string {
	if o.backward {
		return fmt.Sprintf("gradient of input %d", i)
	}
	return "output"
}

// aboutSource adds to err that it is about src[i].
func (o *operands) aboutSource(i int, err error) error {
	switch {
	case !o.backward:
		return &InputError{i, err}
	case i > 0:
		return &InputError{i - 1, err}
	}
	return fmt.Errorf("%s: %w", o.sourceName(i), err)
}

// aboutResult adds to err that it is about dst[i].
func (o *operands) aboutResult(i int, err error) error {
	return fmt.Errorf("%s: %w", o.resultName(i), err)
}

// width returns the size of an element in bytes.
func (o *operands) width() int { return o.src[0].DType().Size() }

// bytes returns the size in bytes of the given count of numbers for each batch element.
func (o *operands) bytes(numbers int) int { return o.batch * numbers * o.width() }

// checkApart returns ErrOverlap if a tensor in dst shares elements with another operand.
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

// overlap returns the error of CheckApart for the first pair of tensors that overlap, with their
// names.
func (o *operands) overlap() error {
	for i, t := range o.dst {
		for j, u := range o.src {
			if err := apart(t, u); err != nil {
				return fmt.Errorf("%s and %s: %w", o.resultName(i), o.sourceName(j), err)
			}
		}
		for j, u := range o.dst[:i] {
			if err := apart(t, u); err != nil {
				return fmt.Errorf("%s and %s: %w", o.resultName(i), o.resultName(j), err)
			}
		}
	}
	return nil
}

// apart returns ErrOverlap if writing t would change u. Either may be nil.
func apart(t, u *tensor.Tensor) error {
	if t == nil || u == nil {
		return nil
	}
	return tensor.CheckApart([]*tensor.Tensor{t}, []*tensor.Tensor{u})
}
