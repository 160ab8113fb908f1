package tensor

import (
	"github.com/go-tensordict/tensordict/internal/plan"
)

// Ops are operations on values of type T that are part of a [Transfer] or apply a [Kernel]. Each
// type of value has a method Ops that returns them. They are for packages that implement types of
// values, or operations on elements.
type Ops[T any] interface {
	plan.Ops[T]

	// AddExecute adds dst = p.Plan applied to the value.
	AddExecute(tr *Transfer, dst T, p *plan.Pass) error
	// AddJoin adds dst = xs joined by p.Join. xs[0] is the value itself.
	AddJoin(tr *Transfer, dst T, p *plan.Pass, xs []T) error
	// AddWrite adds value[p.Plan] = src, broadcast.
	AddWrite(tr *Transfer, src T, p *plan.Pass) error
	// Leafwise applies k to the value and others, and returns the result.
	Leafwise(k *Kernel, others ...any) (T, error)
	// LeafwiseInto is Leafwise into dst. On an error nothing has changed.
	LeafwiseInto(dst T, k *Kernel, others ...any) error

	// AppendJSON appends the text of MarshalJSON to b. On an error it returns b unchanged.
	AppendJSON(b []byte) ([]byte, error)
	// Texts returns the text of each element or row, row-major. It is meant for few elements.
	Texts() ([]string, error)
	// Differing returns the first n elements or rows, row-major, in which the value and x differ by
	// more than a tolerance, and the count of all such elements. It returns an error if they differ
	// in anything but elements.
	Differing(x T, tol Tolerance, n int) (first []ElementDiff, count int, err error)
}

// ops is a Tensor with the methods of [Ops].
type ops Tensor

var (
	_ plan.DenseOps[*Tensor]  = (*ops)(nil)
	_ plan.BitDiffer[*Tensor] = (*ops)(nil)
)

// Plan returns the methods that package shapeops calls.
func (t *Tensor) Plan() plan.Ops[*Tensor] { return (*ops)(t) }

// Ops returns the methods that packages arith and tdict call.
func (t *Tensor) Ops() Ops[*Tensor] { return (*ops)(t) }

// ExecuteInto implements plan.Ops.
func (v *ops) ExecuteInto(p *plan.Pass, dst *Tensor) error {
	var tr Transfer
	if err := v.AddExecute(&tr, dst, p); err != nil {
		return err
	}
	return tr.Run()
}

// Write implements plan.Ops.
func (v *ops) Write(p *plan.Pass, src *Tensor) error {
	var tr Transfer
	if err := v.AddWrite(&tr, src, p); err != nil {
		return err
	}
	return tr.Run()
}

// ExecuteInPlace implements plan.DenseOps, through a copy.
func (v *ops) ExecuteInPlace(p *plan.Pass) error {
	t := (*Tensor)(v)
	if err := p.CheckPlan(t.view.Shape); err != nil {
		return err
	}
	if err := t.checkWritable(); err != nil {
		return err
	}
	c, err := t.Clone()
	if err != nil {
		return err
	}
	return c.passedInto(t, p)
}
