package tensor

import (
	"github.com/go-tensordict/tensordict/internal/plan"
)

// Ops are the operations of values of type T that take a plan, are part of a [Transfer], or apply a
// [Kernel]. Tensors, ragged tensors and dictionaries have a method Ops that returns them, for this
// library's packages that implement types of values or operations on them, such as shapeops and
// arith.
type Ops[T any] interface {
	// Execute returns the result of p.Plan on the value.
	Execute(p *plan.Pass) (T, error)
	// ExecuteInto is Execute into dst, which must have the shape of the result. On an error nothing
	// has changed.
	ExecuteInto(p *plan.Pass, dst T) error
	// Write writes src, broadcast, to the part of the value that p.Plan selects. On an error
	// nothing has changed.
	Write(p *plan.Pass, src T) error
	// Join joins xs as p.Join says, into a new value. The value is xs[0]. Unless the plan pads, the
	// leading dims of xs have been checked against it, by plan.Join.Joined.
	Join(p *plan.Pass, xs []T) (T, error)
	// JoinInto is Join into dst. Unless the plan pads, the shape of dst has been checked too. On an
	// error nothing has changed.
	JoinInto(p *plan.Pass, dst T, xs []T) error

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

// Ops returns the methods that packages shapeops, arith and tdict call.
func (t *Tensor) Ops() Ops[*Tensor] { return (*ops)(t) }

// ExecuteInto implements Ops.
func (v *ops) ExecuteInto(p *plan.Pass, dst *Tensor) error {
	var tr Transfer
	if err := v.AddExecute(&tr, dst, p); err != nil {
		return err
	}
	return tr.Run()
}

// Write implements Ops.
func (v *ops) Write(p *plan.Pass, src *Tensor) error {
	var tr Transfer
	if err := v.AddWrite(&tr, src, p); err != nil {
		return err
	}
	return tr.Run()
}
