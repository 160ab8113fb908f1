package tensor

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
)

// A Kernel is an operation that looks at elements, or at a mask of them: what it checks, and what
// it runs. Leafwise of [Verbs] applies it to a tensor, and to each leaf
// of a dictionary; package arith has the verbs that are made of Kernels.
//
// Safe for concurrent use, as its functions must be.
type Kernel struct {
	// Op names the operation in errors, and Others its operands after the first.
	Op     string
	Others []string

	// Check returns the dtype and the shape of what the kernel makes of xs, or why it cannot. The
	// first of xs is what Leafwise is called on, and has lead batch dims: those of the dictionary
	// whose leaf it is, none for a tensor by itself. The others have its shape, or that of a
	// scalar, unless they are Free. With Elements, the shape is that of the first.
	Check func(xs []*Tensor, lead int) (DType, shapeops.Shape, error)

	// Elements works on some elements of the result and those of xs at the same positions, if each
	// element depends on no others. It is called by several goroutines at a time.
	Elements func(b *Block) error

	// Weight is about how many times as long as a copy Elements takes. The higher it is, the
	// smaller are the results for which a second core pays. 0 means 1.
	Weight int

	// Free leaves tensors among the other operands, and the shapes of dictionaries, as they are:
	// Check says what they must be. By default they broadcast to the first.
	Free bool

	// Whole sets dst, which Check gave dtype and shape, if there is no Elements. dst may be xs[0],
	// unless the kernel may fail. For several leaves in memory that is there, it works on new
	// memory, which is copied once it has not failed for any.
	Whole func(dst *Tensor, xs []*Tensor, lead int) error

	// Rowwise says of Whole that each row of the result, as lead dims number them, is made of that
	// row of xs alone: so it may be run on the values of a ragged tensor.
	Rowwise bool

	// Fails reports whether Elements or Whole may return an error for operands of the dtypes of xs.
	// Then it is tried before memory that is there is written. Nil means never.
	Fails func(xs []*Tensor) bool

	// Batch says what becomes of the batch shape of a dictionary, and of each in it. Nil means that
	// it stays, and with it what is no tensor.
	Batch func(batch shapeops.Shape) (*plan.Reduction, error)

	// Missing is what stands for a leaf that one of several dictionaries lacks: a number or a bool.
	// By default that is an error.
	Missing any

	// Select plans which rows of values that are not tensors come from the first operand; the
	// others come from the last, if that is a dictionary too. Without it, such values stay as they
	// are.
	Select func() (*plan.Plan, error)
}

// Valid returns [ErrKind] unless there is a kernel that makes something.
func (k *Kernel) Valid() error {
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
func (k *Kernel) checked(xs []*Tensor, lead int) (DType, shapeops.Shape, error) {
	d, shape, err := k.Check(xs, lead)
	if err != nil {
		return 0, nil, err
	}
	if !d.valid() {
		return 0, nil, fmt.Errorf("%w: the kernel makes %v", ErrDType, d)
	}
	if identical(shape, xs[0].view.Shape) {
		return d, shape, nil
	}
	if err := shape.Check(); err != nil || k.Elements == nil {
		return d, shape, err
	}
	if err := shape.CheckEqual(xs[0].view.Shape); err != nil {
		return 0, nil, fmt.Errorf("the kernel makes another shape of elements: %w", err)
	}
	return d, shape, nil
}

// fails reports whether the kernel may return an error for xs while it runs.
func (k *Kernel) fails(xs []*Tensor) bool { return k.Fails != nil && k.Fails(xs) }

// Leafwise returns what a kernel makes of t and others, each of which is a tensor, broadcast to the
// shape of t, or a number or bool, which [ScalarOf] makes an element of t's dtype. The result is
// new. Its errors are those of ScalarOf, shapeops.ErrShape if a tensor does not broadcast, and
// those of the kernel.
func (v *verbs) Leafwise(k *Kernel, others ...any) (*Tensor, error) {
	t := (*Tensor)(v)
	if err := k.Valid(); err != nil {
		return nil, err
	}
	p := KernelPass{kernel: k}
	out, err := p.Make(t, 0, others)
	return out, k.named(err)
}

// LeafwiseInto is Leafwise into a tensor that the caller owns, which must have the dtype
// and the shape of the result. An operand in its memory is copied first, unless each element lies
// where its result goes; if elements of more than 64 MiB are as wide as those of the result, that
// is [ErrOverlap]. Its errors are also those of [Transfer]; on an error nothing has changed.
func (v *verbs) LeafwiseInto(dst *Tensor, k *Kernel, others ...any) error {
	t := (*Tensor)(v)
	if err := k.Valid(); err != nil {
		return err
	}
	var tr Transfer
	p := KernelPass{kernel: k}
	if err := p.To(&tr, dst, t, 0, others); err != nil {
		return k.named(err)
	}
	return k.named(tr.Run())
}

// named returns an error with the name of the operation.
func (k *Kernel) named(err error) error {
	if err == nil || k.Op == "" {
		return err
	}
	return fmt.Errorf("%s: %w", k.Op, err)
}

// run sets dst, which shares no memory with xs unless it may: at once, in the given block, if all
// elements lie in order and are not worth a second core, otherwise block by block.
func (k *Kernel) run(b *straightBlock, dst *Tensor, xs []*Tensor, lead, workers int) error {
	switch {
	case k.Elements == nil:
		return k.Whole(dst, xs, lead)
	case dst.Size() == 0:
		return nil
	case dst.ByteSize() <= k.parallelBytes() && b.lineUp(dst, xs):
		return k.Elements(&b.Block)
	}
	return newLanes(k, dst, xs).run(workers)
}

// parallelBytes is where a second core begins to pay for the kernel.
func (k *Kernel) parallelBytes() int { return parallelBytes / max(1, k.Weight) }

// kernel adds a kernel, whose result and operands have been checked.
func (tr *Transfer) kernel(k *Kernel, dst *Tensor, xs []*Tensor, lead int) error {
	t := &kernelTask{kernel: k, dst: dst, xs: xs, lead: lead, apart: make([]bool, len(xs))}
	for i, x := range xs {
		if (i == 0 || k.Elements != nil) && dst.inPlaceOf(x) {
			continue
		}
		t.apart[i] = dst.meets(x)
		if t.apart[i] && x.dtype.Size() == dst.dtype.Size() && x.ByteSize() > stagedBytes {
			return errOverlap
		}
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
	lead   int
	apart  []bool    // of xs, those that are copied first, since dst lies in their memory
	ready  []*Tensor // xs, or copies
	made   *Tensor   // the result of one that can fail, before it is copied
}

// prepare copies operands, and makes the result of a kernel that can fail.
func (t *kernelTask) prepare(alone bool, workers int) (err error) {
	t.ready, t.made = slices.Clone(t.xs), nil
	for i, x := range t.ready {
		if t.apart[i] {
			if t.ready[i], err = x.clone(&plan.Pass{Workers: workers}); err != nil {
				return err
			}
		}
	}
	switch fails := t.kernel.fails(t.ready); {
	case t.kernel.Elements != nil && fails:
		return t.try(workers)
	case t.kernel.Elements != nil || alone && !fails:
		return nil
	}
	if t.made, err = blank(nil, t.dst.dtype, t.dst.view.Shape, nil); err != nil {
		return err
	}
	return t.kernel.Whole(t.made, t.ready, t.lead)
}

// try runs the kernel to see whether it fails.
func (t *kernelTask) try(workers int) error {
	if t.dst.Size() == 0 {
		return nil
	}
	l := newLanes(t.kernel, t.dst, t.ready)
	l.dry = true
	return l.run(workers)
}

func (t *kernelTask) run(workers int) (err error) {
	if t.made != nil {
		tr := Transfer{Workers: workers}
		if err = tr.Copy(t.dst, t.made); err == nil {
			err = tr.Run()
		}
	} else {
		err = t.kernel.run(new(straightBlock), t.dst, t.ready, t.lead, workers)
	}
	t.ready, t.made = nil, nil
	return err
}
