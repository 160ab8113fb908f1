package tensor

import (
	"github.com/go-tensordict/tensordict/internal/plan"
)

// Verbs has what values of type T do as a part of a [Transfer] or by a [Kernel]. Each kind of value
// has a method Verbs that returns its own. It is for packages that implement kinds of values, or
// operations on elements.
type Verbs[T any] interface {
	plan.Verbs[T]

	// AddExecute adds to tr: dst = what p.Plan makes of the value.
	AddExecute(tr *Transfer, dst T, p *plan.Pass) error
	// AddJoin adds to tr: dst = xs, of which the value is the first, joined as p.Join says.
	AddJoin(tr *Transfer, dst T, p *plan.Pass, xs []T) error
	// AddWrite adds to tr: the part of the value that p.Plan selects = src, broadcast.
	AddWrite(tr *Transfer, src T, p *plan.Pass) error
	// Leafwise returns what k makes of the value and others.
	Leafwise(k *Kernel, others ...any) (T, error)
	// LeafwiseInto is Leafwise into dst. On an error nothing has changed.
	LeafwiseInto(dst T, k *Kernel, others ...any) error

	// AppendJSON appends what MarshalJSON returns to b, and returns b as it was with an error.
	AppendJSON(b []byte) ([]byte, error)
	// Texts returns the text of each element or row, row-major. It is for few elements.
	Texts() ([]string, error)
	// Differing returns the first n elements or rows, row-major, in which the value and x differ by
	// more than a tolerance, and how many there are in all. It returns an error if they differ in
	// more than elements.
	Differing(x T, tol Tolerance, n int) (first []ElementDiff, count int, err error)
}

// verbs is a Tensor with its [Verbs].
type verbs Tensor

var (
	_ plan.DenseVerbs[*Tensor] = (*verbs)(nil)
	_ plan.BitDiffer[*Tensor]  = (*verbs)(nil)
)

// Plan returns what package shapeops calls.
func (t *Tensor) Plan() plan.Verbs[*Tensor] { return (*verbs)(t) }

// Verbs returns what packages arith and tdict call.
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

// ExecuteInPlace implements plan.DenseVerbs, by way of a copy.
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
