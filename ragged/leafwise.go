package ragged

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Leafwise applies a kernel to the values of t and of others. The result has the rows of t. Each of
// others is
//
//   - a number or bool, which becomes an element of t's dtype, as tensor.ScalarOf says
//   - a ragged tensor with t's lengths
//   - a ragged tensor with fewer levels and the lengths of t's outer levels: each of its values
//     is repeated for all rows or values that t has in its place
//   - a tensor that broadcasts to t's batch shape, or [B... F...] with features; its values are
//     repeated in the same way
//
// An operand with fewer feature dims is broadcast over the missing ones, which come last.
//
// Package arith uses Leafwise for elementwise operations on ragged tensors. For operations on whole
// rows see [Tensor.Reduce], [Tensor.CumSum] and [Tensor.Sort]. Leafwise returns shapeops.ErrKind
// for a kernel that looks at more than one value, and for any other operand; [ErrLengths], with
// level and row, if lengths differ; and the errors of tensor.Tensor.Leafwise.
func (t ops) Leafwise(k *tensor.Kernel, others ...any) (*Tensor, error) {
	p, err := newKernelPass(k)
	if err != nil {
		return nil, err
	}
	out, err := p.Make(t.Tensor, others)
	return out, p.named(err)
}

// LeafwiseInto is Leafwise into dst, which has the batch shape, depth, features and dtype of the
// result. dst may be t or another operand.
//
// If dst has the lengths of t, its values are set in place, in memory that other tensors may share;
// otherwise dst gets new memory. If dst is a view, or in a mapped file, and its lengths would
// change, LeafwiseInto returns [ErrLengths]. It also returns the errors of tensor.Transfer; on an
// error nothing has changed.
func (t ops) LeafwiseInto(dst *Tensor, k *tensor.Kernel, others ...any) error {
	p, err := newKernelPass(k)
	if err != nil {
		return err
	}
	return p.named(run(func(tr *tensor.Transfer) error { return p.To(tr, dst, t.Tensor, others) }))
}

// A kernelPass applies one kernel to several ragged tensors, as a tensor.KernelPass does to
// tensors. It computes what operands become under a layout once, and results of tensors that share
// a layout share one too. Use it for one operation. Not safe for concurrent use.
type kernelPass struct {
	kernel *tensor.Kernel
	values *tensor.KernelPass
	shared *plan.Pass
}

// KernelPass returns a pass of k, which must be valid, for several ragged tensors. values is a pass
// of the same kernel, for the values.
func (ops) KernelPass(k *tensor.Kernel, values *tensor.KernelPass) interface {
	Make(t *Tensor, others []any) (*Tensor, error)
	To(tr *tensor.Transfer, dst, t *Tensor, others []any) error
} {
	return &kernelPass{k, values, new(plan.Pass)}
}

// newKernelPass returns a pass of k for a single tensor. It checks k.
func newKernelPass(k *tensor.Kernel) (*kernelPass, error) {
	if err := k.Valid(); err != nil {
		return nil, err
	}
	return &kernelPass{k, tensor.NewKernelPass(k), new(plan.Pass)}, nil
}

// named adds the name of the operation to an error.
func (p *kernelPass) named(err error) error {
	if err == nil || p.kernel.Op == "" {
		return err
	}
	return fmt.Errorf("%s: %w", p.kernel.Op, err)
}

// Make is Leafwise of t.
func (p *kernelPass) Make(t *Tensor, others []any) (*Tensor, error) {
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

// To adds to tr: dst = the kernel applied to t, as LeafwiseInto does.
func (p *kernelPass) To(tr *tensor.Transfer, dst, t *Tensor, others []any) error {
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
	if err := dst.addReplace(tr, &Tensor{layout: s.layout, values: values}, same); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	return nil
}

// addReplace adds to tr: t = x. x has its own memory. If same is set, x has the lengths of t, and
// its values are written in place.
func (t *Tensor) addReplace(tr *tensor.Transfer, x *Tensor, same bool) error {
	if err := x.checkInto(t, x.layout); err != nil {
		return err
	}
	if same {
		p, err := plan.Index(t.Shape())
		if err != nil {
			return err
		}
		return t.Ops().AddWrite(tr, x, plan.NewPass(p))
	}
	if err := t.checkFixed(x.layout); err != nil {
		return err
	}
	tr.Commit(func() { t.layout, t.values = x.layout, x.values })
	return nil
}

// operands returns t made compact, and the operands of the kernel beside t's values.
func (p *kernelPass) operands(t *Tensor, others []any) (*Tensor, []any, error) {
	if !t.made() {
		return nil, nil, errNil
	}
	if k := p.kernel; k.Batch != nil || k.Elements == nil && !k.Rowwise {
		return nil, nil, fmt.Errorf("%w: got %s for an operation across values: call Reduce, CumSum or Sort",
			shapeops.ErrKind, t.Text())
	}
	s, err := t.compact(p.shared)
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

// operand returns one operand of the kernel: a tensor with a row for each value of t, or a number.
func (p *kernelPass) operand(t *Tensor, other any) (any, error) {
	var rows *tensor.Tensor
	var err error
	switch x := other.(type) {
	case *Tensor:
		rows, err = p.raggedOperand(t, x)
	case *tensor.Tensor:
		if x == nil {
			return nil, errNoValues
		}
		if len(x.Shape()) == 0 {
			return x, nil
		}
		rows, err = p.denseOperand(t, x)
	default:
		return other, nil
	}
	if err != nil || p.kernel.Free || len(rows.Shape()) >= len(t.values.Shape()) {
		return rows, err
	}
	after := len(t.values.Shape()) - len(rows.Shape())
	return rows.Reshape(append(rows.Shape().Clone(), slices.Repeat(shapeops.Shape{1}, after)...)...)
}

// raggedOperand returns the values of x, one for each value of t.
func (p *kernelPass) raggedOperand(t, x *Tensor) (*tensor.Tensor, error) {
	if !x.made() {
		return nil, errNil
	}
	if x.Depth() > t.Depth() {
		return nil, fmt.Errorf("%w: got %v with %d levels, want at most %d as in %v", ErrLengths, x.layout, x.Depth(), t.Depth(), t.layout)
	}
	if err := t.layout.at(x.Depth()).CheckEqual(x.layout); err != nil {
		return nil, err
	}
	s, err := x.compact(p.shared)
	if err != nil {
		return nil, err
	}
	return p.repeated(t.layout, x.Depth(), s.values)
}

// A spreadKey is the key under which a pass keeps x with one row for each value of l.
type spreadKey struct {
	l *Layout
	x *tensor.Tensor
}

// denseOperand returns x with one row for each value of t. x broadcasts to the batch shape of t, or
// has features after it.
func (p *kernelPass) denseOperand(t *Tensor, x *tensor.Tensor) (*tensor.Tensor, error) {
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

// over returns x expanded to a batch shape, followed by the features of x. If the kernel is Free,
// dims of x that are missing are its last ones.
func (p *kernelPass) over(batch shapeops.Shape, x *tensor.Tensor) (*tensor.Tensor, error) {
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

// A countsKey is the key under which a pass keeps the number of values of each row at a depth.
type countsKey struct {
	l     *Layout
	depth int
}

// repeated takes rows, one for each row of a compact layout at a depth, and repeats each for every
// value in it.
func (p *kernelPass) repeated(l *Layout, depth int, rows *tensor.Tensor) (*tensor.Tensor, error) {
	if depth == l.depth {
		return rows, nil
	}
	counts, _ := plan.Once(p.shared, countsKey{l, depth}, func() ([]int, error) { return l.counts(depth), nil })
	return shapeops.RepeatEach(rows, 0, counts)
}

// Cast returns t with another dtype; values are converted as by tensor.Tensor.Cast.
func (t *Tensor) Cast(dtype tensor.DType) (*Tensor, error) {
	return t.mapped("cast", func(values *tensor.Tensor) (*tensor.Tensor, error) { return values.Cast(dtype) })
}

// MapValues returns t with fn(values) in place of its values; the rows stay the same:
//
//	[V F...] -> [V G...], which may share memory
//
// It returns shapeops.ErrShape if fn changes the number of values, shapeops.ErrKind if fn is nil,
// and the error of fn.
func (t *Tensor) MapValues(fn func(values *tensor.Tensor) (*tensor.Tensor, error)) (*Tensor, error) {
	return t.mapped("map values", fn)
}

// mapped is MapValues under the name op. An error of fn stays as it is.
func (t *Tensor) mapped(op string, fn func(values *tensor.Tensor) (*tensor.Tensor, error)) (*Tensor, error) {
	if !t.made() {
		return nil, errtext.Named(op, errNil)
	}
	if fn == nil {
		return nil, errtext.Named(op, errNoFunc)
	}
	s, err := t.compact(nil)
	if err != nil {
		return nil, errtext.Named(op, err)
	}
	values, err := fn(s.values)
	if err != nil {
		return nil, err
	}
	out, err := New(values, s.layout)
	return out, errtext.Named(op, err)
}
