package tdict

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// elementsOfStacked implements elementwise for a Stacked. A kernel is applied to each member if the
// operands allow it, otherwise to the result of Dense.
type elementsOfStacked struct{ *Stacked }

// DType returns the dtype of the first member.
func (e elementsOfStacked) DType() tensor.DType { return elements(e.first()).DType() }

func (e elementsOfStacked) ByteSize() (n int) {
	for _, m := range e.members {
		if m.value != nil {
			n += elements(m.value).ByteSize()
		}
	}
	return n
}

func (e elementsOfStacked) tensor(p *plan.Pass) (*tensor.Tensor, error) {
	d, err := e.Dense()
	if err != nil {
		return nil, err
	}
	return elements(d).tensor(p)
}

func (e elementsOfStacked) with(p *plan.Pass, made *tensor.Tensor) (Value, error) {
	d, err := e.Dense()
	if err != nil {
		return nil, err
	}
	return elements(d).with(p, made)
}

func (e elementsOfStacked) set(tr *tensor.Transfer, p *plan.Pass, _, made *tensor.Tensor) error {
	v, err := e.with(p, made)
	if err != nil {
		return err
	}
	return assign(tr, e.Stacked, v)
}

func (elementsOfStacked) checkOperand(Value) error { return nil }

func (e elementsOfStacked) wholeRows() bool { return elements(e.first()).wholeRows() }

// make applies a kernel to each member, or to the result of Dense.
func (e elementsOfStacked) make(w *leafwise, lead int, others []any) (Value, error) {
	if !e.divides(w, others) {
		d, err := e.Dense()
		if err != nil {
			return nil, err
		}
		dense := slices.Clone(others)
		for n, other := range others {
			if x, ok := other.(*Stacked); ok {
				if dense[n], err = x.Dense(); err != nil {
					return nil, err
				}
			}
		}
		return elements(d).make(w, lead, dense)
	}
	out := slices.Clone(e.members)
	for i, m := range out {
		if m.value == nil {
			continue
		}
		parts, err := e.operands(i, m.value, others)
		if err == nil {
			out[i].value, err = elements(m.value).make(w, e.leadOf(lead), parts)
		}
		if err != nil {
			return nil, fmt.Errorf("member %d: %w", i, err)
		}
	}
	return asValue(newStacked(e.dim, out))
}

// to adds to tr: dst = the result of make.
func (e elementsOfStacked) to(w *leafwise, tr *tensor.Transfer, dst Value, lead int, others []any) error {
	d, _ := dst.(*Stacked)
	if !e.divides(w, others) || d.dim != e.dim || len(d.members) != len(e.members) {
		made, err := e.make(w, lead, others)
		if err != nil {
			return err
		}
		return assign(tr, dst, made)
	}
	if err := d.checkApart(upTo(len(d.members))); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	for i, m := range e.members {
		if m.value == nil {
			continue
		}
		to := d.members[i].value
		parts, err := e.operands(i, m.value, others)
		switch {
		case err != nil:
		case to == nil:
			err = fmt.Errorf("destination: %w", ErrMissing)
		case opsOf(to) != opsOf(m.value):
			err = fmt.Errorf("destination: %w", mismatch(to, m.value))
		default:
			err = elements(m.value).to(w, tr, to, e.leadOf(lead), parts)
		}
		if err != nil {
			return fmt.Errorf("member %d: %w", i, err)
		}
	}
	return nil
}

// leadOf returns the number of batch dims of members in a dictionary with lead batch dims.
func (e elementsOfStacked) leadOf(lead int) int {
	if e.dim < lead {
		return lead - 1
	}
	return lead
}

// divides reports whether the kernel can be applied to each member, with a part of each operand. It
// cannot if it works along dims, since members number them differently.
func (e elementsOfStacked) divides(w *leafwise, others []any) bool {
	if w.kernel.Batch != nil || w.kernel.Whole != nil && !w.kernel.Rowwise {
		return false
	}
	for _, other := range others {
		if x, ok := other.(*Stacked); ok {
			if x.dim != e.dim || len(x.members) != len(e.members) {
				return false
			}
		} else if x, ok := other.(Value); ok && (w.kernel.Free || len(x.Shape()) < len(e.shape)) {
			return false
		}
	}
	return true
}

// operands returns the parts of the operands for v, member i.
func (e elementsOfStacked) operands(i int, v Value, others []any) ([]any, error) {
	parts := slices.Clone(others)
	for n, other := range others {
		if x, ok := other.(*Stacked); ok {
			if x.members[i].value == nil {
				return nil, fmt.Errorf("operand %d: %w", n+1, ErrMissing)
			}
			if got := x.members[i].value; opsOf(got) != opsOf(v) {
				return nil, fmt.Errorf("operand %d: %w", n+1, mismatch(got, v))
			}
			parts[n] = x.members[i].value
			continue
		}
		x, ok := other.(Value)
		if !ok {
			continue
		}
		part, err := rowOf(x, e.dim, min(i, x.Shape()[e.dim]-1))
		if err == nil && len(x.Shape()) == len(e.shape) {
			expr := make([]ix.Index, len(part.Shape()), max(len(v.Shape()), len(part.Shape())))
			for len(expr) < len(v.Shape()) {
				expr = append(expr, ix.New)
			}
			part, err = partOf(part, expr)
		}
		if err != nil {
			return nil, err
		}
		parts[n] = part
	}
	return parts, nil
}
