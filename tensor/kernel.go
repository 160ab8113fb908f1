package tensor

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/shapeops"
)

// A Kernel is an operation that looks at elements, or at a mask of them: what it checks, and what
// it runs. [Tensor.Leafwise] applies it to a tensor, and the method of the same name to each leaf
// of a dictionary; package arith has the verbs that are made of Kernels.
//
// Safe for concurrent use, as its functions must be.
type Kernel struct {
	// Op names the operation in errors, and Others its operands after the first.
	Op     string
	Others []string

	// Check returns the dtype and the shape of what the kernel makes of xs, or why it cannot. The
	// first of xs is what Leafwise is called on; the others have its shape, unless they are Free.
	Check func(xs []*Tensor) (DType, shapeops.Shape, error)

	// Elements works on some elements of the result and those of xs at the same positions, if each
	// element depends on no others. It is called by several goroutines at a time.
	Elements func(b *Block)

	// Free leaves tensors among the other operands, and the shapes of dictionaries, as they are:
	// Check says what they must be. By default they broadcast to the first.
	Free bool

	// Whole sets dst, which Check gave dtype and shape, if there is no Elements. dst may be xs[0],
	// unless the kernel is Fallible. For several leaves in memory that is there, it works on new
	// memory, which is copied once it has not failed for any.
	Whole func(dst *Tensor, xs []*Tensor) error
	// Fallible says that Whole may fail when it has changed dst, so that it gets new memory always.
	Fallible bool

	// Missing is what stands for a leaf that one of several dictionaries lacks: a number or a bool.
	// By default that is an error.
	Missing any

	// Select plans which rows of values that are not tensors come from the first operand; the
	// others come from the last, if that is a dictionary too. Without it, such values stay as they
	// are.
	Select func() (*shapeops.Plan, error)
}

// CheckKernel returns [ErrKind] unless there is a kernel that makes something.
func CheckKernel(k *Kernel) error {
	if k == nil || k.Check == nil || k.Elements == nil && k.Whole == nil {
		return fmt.Errorf("%w: got a kernel without Check, or without Elements and Whole", ErrKind)
	}
	return nil
}

// Other returns what errors call the i-th operand after the first.
func (k *Kernel) Other(i int) string {
	if i < len(k.Others) {
		return k.Others[i]
	}
	return fmt.Sprintf("operand %d", i+1)
}

// checked is Check, with a result that can be made.
func (k *Kernel) checked(xs []*Tensor) (DType, shapeops.Shape, error) {
	d, shape, err := k.Check(xs)
	if err != nil {
		return 0, nil, err
	}
	if !d.valid() {
		return 0, nil, fmt.Errorf("%w: the kernel makes %v", ErrDType, d)
	}
	return d, shape, shape.Check()
}

// Leafwise returns what a kernel makes of t and others, each of which is a tensor, broadcast to the
// shape of t, or a number or bool, which [ScalarOf] makes an element of t's dtype. The result is
// new. Its errors are those of ScalarOf, shapeops.ErrShape if a tensor does not broadcast, and
// those of the kernel.
func (t *Tensor) Leafwise(k *Kernel, others ...any) (*Tensor, error) {
	xs, err := t.operands(k, others)
	if err != nil {
		return nil, err
	}
	d, shape, err := k.checked(xs)
	if err != nil {
		return nil, err
	}
	out, done, err := blankLike(nil, d, shape, nil, xs...)
	if err != nil || done {
		return out, err
	}
	if err := k.run(out, xs, 0); err != nil {
		return nil, err
	}
	return out, nil
}

// LeafwiseInto is [Tensor.Leafwise] into a tensor that the caller owns, which must have the dtype
// and the shape of the result. It may be t or another operand, but not lie otherwise in their
// memory. Its errors are also those of [Transfer]; on an error nothing has changed.
func (t *Tensor) LeafwiseInto(dst *Tensor, k *Kernel, others ...any) error {
	var tr Transfer
	if err := t.LeafwiseTo(&tr, dst, k, others...); err != nil {
		return err
	}
	return tr.Run()
}

// LeafwiseTo adds to tr: dst = what a kernel makes of t and others, as [Tensor.LeafwiseInto] does.
func (t *Tensor) LeafwiseTo(tr *Transfer, dst *Tensor, k *Kernel, others ...any) error {
	xs, err := t.operands(k, others)
	if err != nil {
		return err
	}
	d, shape, err := k.checked(xs)
	if err != nil {
		return err
	}
	if dst == nil {
		return errNil
	}
	if dst.dtype != d {
		return fmt.Errorf("destination: %w: got %v, want %v", ErrDType, dst.dtype, d)
	}
	if err := dst.view.Shape.CheckEqual(shape); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	if err := dst.checkWritable(); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	return tr.kernel(k, dst, xs)
}

// operands returns t and others, broadcast to its shape unless the kernel leaves them free.
func (t *Tensor) operands(k *Kernel, others []any) ([]*Tensor, error) {
	if err := CheckKernel(k); err != nil {
		return nil, err
	}
	xs := make([]*Tensor, 1, 1+len(others))
	xs[0] = t
	for i, other := range others {
		x, ok := other.(*Tensor)
		if !ok {
			var err error
			if x, err = ScalarOf(t.dtype, other); err != nil {
				return nil, fmt.Errorf("%s: %w", k.Other(i), err)
			}
		}
		if x == nil {
			return nil, fmt.Errorf("%s: %w", k.Other(i), errNil)
		}
		view, err := x.view, error(nil)
		if !k.Free {
			view, err = x.broadcast(t.view.Shape)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.Other(i), err)
		}
		xs = append(xs, &Tensor{dtype: x.dtype, view: view, mem: x.mem})
	}
	return xs, nil
}

// run sets dst, which shares no memory with xs unless it may.
func (k *Kernel) run(dst *Tensor, xs []*Tensor, workers int) error {
	if k.Elements == nil {
		return k.Whole(dst, xs)
	}
	if dst.Size() == 0 {
		return nil
	}
	return newLanes(k, dst, xs).run(workers)
}

// kernel adds a kernel, whose result and operands have been checked.
func (tr *Transfer) kernel(k *Kernel, dst *Tensor, xs []*Tensor) error {
	t := &kernelTask{kernel: k, dst: dst, xs: xs, apart: make([]bool, len(xs))}
	for i, x := range xs {
		alike := x.dtype.Size() == dst.dtype.Size() && x.view.Shape.Equal(dst.view.Shape)
		if alike && (i == 0 || k.Elements != nil) {
			var m move
			m.all(dst.dtype.Size(), dst.mem, x.mem, dst.view, x.view)
			if err := m.checkOverlap(&tr.survey); err != nil {
				return err
			}
			continue
		}
		t.apart[i] = dst.SharesMemory(x)
	}
	group := len(tr.moves) + 1
	tr.side(group, dst, writes)
	for _, x := range xs {
		tr.side(group, x, reads)
	}
	tr.task(t)
	return nil
}

// A kernelTask runs a kernel on operands that have been checked.
type kernelTask struct {
	kernel *Kernel
	dst    *Tensor
	xs     []*Tensor
	apart  []bool    // of xs, those that are copied first, since dst lies in their memory
	ready  []*Tensor // xs, or copies
	made   *Tensor   // the result of one that can fail, before it is copied
}

// prepare copies operands, and makes the result of a kernel that can fail.
func (t *kernelTask) prepare(alone bool) (err error) {
	t.ready, t.made = slices.Clone(t.xs), nil
	for i, x := range t.ready {
		if t.apart[i] {
			if t.ready[i], err = x.Clone(); err != nil {
				return err
			}
		}
	}
	if t.kernel.Elements != nil || alone && !t.kernel.Fallible {
		return nil
	}
	if t.made, err = blank(nil, t.dst.dtype, t.dst.view.Shape, nil); err != nil {
		return err
	}
	return t.kernel.Whole(t.made, t.ready)
}

func (t *kernelTask) run(workers int) (err error) {
	if t.made != nil {
		err = t.dst.CopyFrom(t.made)
	} else {
		err = t.kernel.run(t.dst, t.ready, workers)
	}
	t.ready, t.made = nil, nil
	return err
}
