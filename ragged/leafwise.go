package ragged

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Leafwise returns what a kernel makes of t's values and of others, with t's rows. Each of the
// others is one of these:
//
//   - a number or bool, which tensor.ScalarOf makes an element of t's dtype,
//   - a ragged tensor with t's lengths,
//   - a ragged tensor with fewer levels, which has the lengths of t's first ones: each of its
//     values is repeated for all that t has in its place,
//   - a tensor that broadcasts to t's batch shape, or [B... F...] with features: likewise.
//
// Features follow: where an operand has fewer dims of features, it is one for all of them.
//
// It is how the verbs of package arith work on ragged tensors: on each value by itself. What works
// on rows of several values is [Tensor.Reduce], [Tensor.CumSum] and [Tensor.Sort]. Leafwise returns
// shapeops.ErrKind for a kernel that looks beyond a value, and for an operand that is none of
// these; [ErrLengths], with level and row, if lengths differ; and the errors of
// tensor.Tensor.Leafwise.
func (v *verbs) Leafwise(k *tensor.Kernel, others ...any) (*Tensor, error) {
	t := (*Tensor)(v)
	p, err := newKernelPass(k)
	if err != nil {
		return nil, err
	}
	out, err := p.Make(t, others)
	return out, p.named(err)
}

// LeafwiseInto is Leafwise into a tensor that the caller owns, which must have the batch
// shape, depth, features and dtype of the result. It may be t or another operand. If its lengths
// are those of t, its values are set in place, in memory that others may share; else it becomes the
// result, in memory of its own. If it is a view, or on a mapped file, its rows keep their lengths:
// [ErrLengths]. Its errors are also those of tensor.Transfer; on an error nothing has changed.
func (v *verbs) LeafwiseInto(dst *Tensor, k *tensor.Kernel, others ...any) error {
	t := (*Tensor)(v)
	p, err := newKernelPass(k)
	if err != nil {
		return err
	}
	return p.named(run(func(tr *tensor.Transfer) error { return p.To(tr, dst, t, others) }))
}

// A KernelPass carries a kernel over several ragged tensors, as a tensor.KernelPass does over
// tensors: what the layouts that they share make of an operand is made once, and results of tensors
// that share a layout share one. It serves one operation. Not safe for concurrent use.
type KernelPass struct {
	kernel *tensor.Kernel
	values *tensor.KernelPass
	shared *plan.Pass
}

// NewKernelPass returns a pass of k, which must pass tensor.CheckKernel. values is a pass of k too,
// which works on the values.
func NewKernelPass(k *tensor.Kernel, values *tensor.KernelPass) *KernelPass {
	return &KernelPass{k, values, new(plan.Pass)}
}

// newKernelPass is NewKernelPass for one tensor.
func newKernelPass(k *tensor.Kernel) (*KernelPass, error) {
	if err := k.Valid(); err != nil {
		return nil, err
	}
	return NewKernelPass(k, tensor.NewKernelPass(k)), nil
}

// named returns an error with the name of the operation.
func (p *KernelPass) named(err error) error {
	if err == nil || p.kernel.Op == "" {
		return err
	}
	return fmt.Errorf("%s: %w", p.kernel.Op, err)
}

// Make is Leafwise of t.
func (p *KernelPass) Make(t *Tensor, others []any) (*Tensor, error) {
	s, xs, err := p.operands(t, others)
	if err != nil {
		return nil, err
	}
	values, err := p.values.Make(s.values, 1, xs)
	if err != nil {
		return nil, err
	}
	return &Tensor{layout: s.layout, values: values}, nil
}

// To adds to tr: dst = what the kernel makes of t, as LeafwiseInto does.
func (p *KernelPass) To(tr *tensor.Transfer, dst, t *Tensor, others []any) error {
	s, xs, err := p.operands(t, others)
	if err != nil {
		return err
	}
	if !dst.made() {
		return fmt.Errorf("destination: %w", errNil)
	}
	same := !dst.layout.root().repeats && dst.layout.Equal(s.layout)
	if first, n, ok := dst.layout.span(); same && ok {
		values, err := dst.values.Narrow(0, first, n)
		if err != nil {
			return err
		}
		return p.values.To(tr, values, s.values, 1, xs)
	}
	values, err := p.values.Make(s.values, 1, xs)
	if err != nil {
		return err
	}
	if err := dst.become(tr, &Tensor{layout: s.layout, values: values}, same); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	return nil
}

// become adds to tr: t = x, whose memory is its own. If the lengths are the same, values are
// written to where they lie.
func (t *Tensor) become(tr *tensor.Transfer, x *Tensor, same bool) error {
	if err := x.checkInto(t, x.layout); err != nil {
		return err
	}
	if same {
		p, err := plan.Index(t.Shape())
		if err != nil {
			return err
		}
		return t.Verbs().AddWrite(tr, x, plan.NewPass(p))
	}
	if err := t.checkFixed(x.layout); err != nil {
		return err
	}
	tr.Commit(func() { t.layout, t.values = x.layout, x.values })
	return nil
}

// operands returns t with rows in their order, and what the kernel takes beside its values.
func (p *KernelPass) operands(t *Tensor, others []any) (*Tensor, []any, error) {
	if !t.made() {
		return nil, nil, errNil
	}
	if k := p.kernel; k.Batch != nil || k.Elements == nil && !k.Rowwise {
		return nil, nil, fmt.Errorf("%w: got %s, and a verb that looks beyond a value of it: call Reduce, CumSum or Sort of it",
			shapeops.ErrKind, t.Text())
	}
	s, err := t.straight(p.shared)
	if err != nil {
		return nil, nil, err
	}
	xs := make([]any, len(others))
	for i, other := range others {
		if xs[i], err = p.operand(s, other); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", p.kernel.Other(i), err)
		}
	}
	return s, xs, nil
}

// operand returns what the kernel takes for an operand: one row for each value of t, or a number.
func (p *KernelPass) operand(t *Tensor, other any) (any, error) {
	var rows *tensor.Tensor
	var err error
	switch x := other.(type) {
	case *Tensor:
		rows, err = p.beside(t, x)
	case *tensor.Tensor:
		if x == nil {
			return nil, errNoValues
		}
		if len(x.Shape()) == 0 {
			return x, nil
		}
		rows, err = p.spread(t, x)
	default:
		return other, nil
	}
	if err != nil || p.kernel.Free || len(rows.Shape()) >= len(t.values.Shape()) {
		return rows, err
	}
	after := len(t.values.Shape()) - len(rows.Shape())
	return rows.Reshape(append(rows.Shape().Clone(), slices.Repeat(shapeops.Shape{1}, after)...)...)
}

// beside returns the values of x, one for each of t's.
func (p *KernelPass) beside(t, x *Tensor) (*tensor.Tensor, error) {
	if !x.made() {
		return nil, errNil
	}
	if x.Depth() > t.Depth() {
		return nil, fmt.Errorf("%w: got %v with %d levels, want at most %d as in %v", ErrLengths, x.layout, x.Depth(), t.Depth(), t.layout)
	}
	if err := t.layout.at(x.Depth()).CheckEqual(x.layout); err != nil {
		return nil, err
	}
	s, err := x.straight(p.shared)
	if err != nil {
		return nil, err
	}
	return p.repeated(t.layout, x.Depth(), s.values)
}

// A spreadKey is under which a pass keeps a tensor with one row for each value of a layout.
type spreadKey struct {
	l *Layout
	x *tensor.Tensor
}

// spread returns x, which broadcasts to the batch shape of t or has features after it, with one row
// for each value of t.
func (p *KernelPass) spread(t *Tensor, x *tensor.Tensor) (*tensor.Tensor, error) {
	return plan.Once(p.shared, spreadKey{t.layout, x}, func() (*tensor.Tensor, error) {
		batch := t.Shape()
		x, err := p.over(batch, x)
		if err != nil {
			return nil, err
		}
		features := x.Shape()[len(batch):]
		rows, err := x.Reshape(append(shapeops.Shape{batch.Size()}, features...)...)
		if err != nil {
			return nil, err
		}
		return p.repeated(t.layout, 0, rows)
	})
}

// over returns x expanded to a batch shape, with the features that it has besides. Of a kernel
// whose operands are free, it is one over leading dims.
func (p *KernelPass) over(batch shapeops.Shape, x *tensor.Tensor) (*tensor.Tensor, error) {
	s, to := x.Shape(), batch
	switch {
	case len(s) > len(batch):
		to = append(batch.Clone(), s[len(batch):]...)
	case p.kernel.Free:
		if err := batch.CheckPrefix(s); err != nil {
			return nil, err
		}
		var err error
		if x, err = x.Reshape(append(s.Clone(), slices.Repeat(shapeops.Shape{1}, len(batch)-len(s))...)...); err != nil {
			return nil, err
		}
	}
	return x.Expand(to...)
}

// A countsKey is under which a pass keeps how many values each row of a level has.
type countsKey struct {
	l     *Layout
	depth int
}

// repeated returns rows, one for each row of a straight layout at a depth, with one for each value.
func (p *KernelPass) repeated(l *Layout, depth int, rows *tensor.Tensor) (*tensor.Tensor, error) {
	if depth == l.depth {
		return rows, nil
	}
	counts, _ := plan.Once(p.shared, countsKey{l, depth}, func() ([]int, error) { return l.counts(depth), nil })
	return shapeops.RepeatEach(rows, 0, counts)
}
