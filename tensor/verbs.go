package tensor

import (
	"github.com/go-tensordict/tensordict/internal/plan"
)

// Verbs are the operations of a kind of value T within a [Transfer] or by a [Kernel]. Each kind has
// a method Verbs that returns them. They are for packages that implement kinds of values, or
// operations on elements.
type Verbs[T any] interface {
	plan.Verbs[T]

	// AddExecute adds dst = p.Plan applied to the value.
	AddExecute(tr *Transfer, dst T, p *plan.Pass) error
	// AddJoin adds dst = xs joined as p.Join says; the value is xs[0].
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

// verbs is a Tensor with the methods of [Verbs].
type verbs Tensor

var (
	_ plan.DenseVerbs[*Tensor] = (*verbs)(nil)
	_ plan.BitDiffer[*Tensor]  = (*verbs)(nil)
)

// Plan returns the methods that package shapeops calls.
func (t *Tensor) Plan() plan.Verbs[*Tensor] { return (*verbs)(t) }

// Verbs returns the methods that packages arith and tdict call.
func (t *Tensor) Verbs() Verbs[*Tensor] { return (*verbs)(t) }

// ExecuteInto implements plan.Verbs.
func (v *verbs) ExecuteInto(p *plan.Pass, dst *Tensor) error {
	var tr Transfer
	if err := v.AddExecute(&tr, dst, p); err != nil {
		return err
	}
	return tr.Run()
}

// Write implements plan.Verbs.
func (v *verbs) Write(p *plan.Pass, src *Tensor) error {
	var tr Transfer
	if err := v.AddWrite(&tr, src, p); err != nil {
		return err
	}
	return tr.Run()
}

// ExecuteInPlace implements plan.DenseVerbs, through a copy.
func (v *verbs) ExecuteInPlace(p *plan.Pass) error {
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
