package tensor

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shape"
)

// A Kernel is an operation that computes with elements: a function that checks the operands and a
// function that computes the result. Leafwise of [Ops] applies it to a tensor, or to each leaf of a
// dictionary. Package arith consists of Kernels.
//
// Safe for concurrent use if its functions are.
type Kernel struct {
	// Op is the name of the operation in errors; Others are the names of the operands after the
	// first.
	Op     string
	Others []string

	// Check returns the dtype and the shape of the result for operands xs, or why there is none.
	// xs[0] is the value that Leafwise was called on. Its first lead dims are the batch dims of the
	// dictionary that holds it; lead is 0 for a tensor by itself. Unless Free is set, each other
	// operand has the shape of xs[0] or is a scalar. If Elements is set, the result must have the
	// shape of xs[0].
	Check func(xs []*Tensor, lead int) (DType, shape.Shape, error)

	// Elements computes a block of the result. Each element of the result may depend only on the
	// elements of the operands at its position. Several goroutines may call Elements at once.
	Elements func(b *Block) error

	// Weight is the cost of Elements relative to a copy. The higher it is, the smaller are the
	// results for which a second core is used. 0 means 1.
	Weight int

	// By default each other operand that is a tensor is broadcast to the shape of xs[0]; a number
	// or bool becomes a scalar of shape []. If Free is set, all operands keep their shapes, also
	// leaves of dictionaries, and Check must check the shapes.
	Free bool

	// Whole sets dst, which has the dtype and shape that Check returned. It runs if there is no
	// Elements. dst may be xs[0] only if the kernel cannot fail and writes a single leaf. If the
	// kernel may fail, or writes several leaves to a destination, dst is temporary memory instead,
	// which is copied to the destination after Whole has succeeded for every leaf.
	Whole func(dst *Tensor, xs []*Tensor, lead int) error

	// Rowwise declares that row i of the result of Whole depends only on row i of each operand, the
	// rows being the positions of the lead dims. Then Whole can run on the values of a ragged
	// tensor.
	Rowwise bool

	// Fails reports whether Elements or Whole may return an error for operands of the dtypes of xs.
	// If so, the kernel first runs without writing to the destination. A nil Fails means that the
	// kernel never fails.
	Fails func(xs []*Tensor) bool

	// Batch returns the reduction to apply to a batch shape. It is called for a dictionary and for
	// each inner dictionary. If Batch is nil, batch shapes and values that are not tensors stay as
	// they are.
	Batch func(batch shape.Shape) (*plan.Reduction, error)

	// Missing is the number or bool used in place of a leaf that one of several dictionaries lacks.
	// If Missing is nil, such a leaf is an error.
	Missing any

	// Partial declares that the last operand, if it is a dictionary, may lack leaves of the first,
	// and have others, which have no effect. For a leaf that it lacks, xs ends with the operand
	// before it. The operand of a ragged leaf may be a tensor over its batch dims.
	Partial bool

	// Select returns a plan that picks rows of a value that is not a tensor. The result has these
	// rows from the first operand and the other rows from the last operand. If Select is nil, or
	// the last operand is not a dictionary, values that are not tensors stay as they are.
	Select func() (*plan.Plan, error)
}

// Valid returns [ErrKind] unless k has a Check and one of Elements and Whole.
func (k *Kernel) Valid() error {
	if k == nil || k.Check == nil || k.Elements == nil && k.Whole == nil {
		return fmt.Errorf("%w: got a kernel without Check, or without Elements and Whole", ErrKind)
	}
	return nil
}

// Other returns the name of the i-th operand after the first, for errors.
func (k *Kernel) Other(i int) string {
	if i < len(k.Others) {
		return k.Others[i]
	}
	return fmt.Sprintf("operand %d", i+1)
}

// checked is Check, followed by a check that the result can be made.
func (k *Kernel) checked(xs []*Tensor, lead int) (DType, shape.Shape, error) {
	d, shape, err := k.Check(xs, lead)
	if err != nil {
		return 0, nil, err
	}
	if !d.valid() {
		return 0, nil, fmt.Errorf("result of Check: %w: got %v", ErrDType, d)
	}
	if identical(shape, xs[0].view.Shape) {
		return d, shape, nil
	}
	if err := shape.Check(); err != nil || k.Elements == nil {
		return d, shape, err
	}
	if err := shape.CheckEqual(xs[0].view.Shape); err != nil {
		return 0, nil, fmt.Errorf("result of Check: %w", err)
	}
	return d, shape, nil
}

// fails reports whether the kernel may return an error for xs while it runs.
func (k *Kernel) fails(xs []*Tensor) bool { return k.Fails != nil && k.Fails(xs) }

// Leafwise applies k to t and others, and returns a new tensor. Each of others is a tensor,
// broadcast to the shape of t, or a number or bool, which [ScalarOf] converts to t's dtype. It
// returns the errors of ScalarOf and of k, and shape.ErrShape if a tensor does not broadcast.
func (v *ops) Leafwise(k *Kernel, others ...any) (*Tensor, error) {
	t := (*Tensor)(v)
	if err := k.Valid(); err != nil {
		return nil, err
	}
	p := KernelPass{kernel: k}
	out, err := p.Make(t, 0, others)
	return out, k.named(err)
}

// LeafwiseInto is Leafwise into dst, which has the dtype and the shape of the result. An operand in
// dst's memory is copied first, unless each of its elements lies where its result goes. It returns
// [ErrOverlap] if more than 64 MiB of elements as wide as the result would have to be copied, and
// the errors of [Transfer]. On an error nothing has changed.
func (v *ops) LeafwiseInto(dst *Tensor, k *Kernel, others ...any) error {
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

// named adds the name of the operation to an error.
func (k *Kernel) named(err error) error {
	if err == nil || k.Op == "" {
		return err
	}
	return fmt.Errorf("%s: %w", k.Op, err)
}

// run sets dst, which shares no memory with xs unless the kernel allows it. If all elements are
// contiguous and too few for a second core, it runs once, on b; otherwise block by block.
func (k *Kernel) run(b *straightBlock, dst *Tensor, xs []*Tensor, lead, workers int) error {
	switch {
	case k.Elements == nil:
		return k.Whole(dst, xs, lead)
	case dst.Size() == 0:
		return nil
	case dst.ByteSize() <= k.parallelBytes() && b.lineUp(dst, xs):
		return k.Elements(&b.Block)
	}
	l := newLanes(k, dst, xs)
	err := l.run(workers)
	if err != nil && l.transposed() && !errors.Is(err, mapping.ErrFault) {
		l.dry = true // to name the first element that fails
		return cmp.Or(l.run(workers), err)
	}
	return err
}

// parallelBytes is the size of a result from which a second core is used.
func (k *Kernel) parallelBytes() int { return parallelBytes / max(1, k.Weight) }

// kernel adds a kernel whose result and operands are checked.
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

// A kernelTask runs a kernel on checked operands.
type kernelTask struct {
	kernel *Kernel
	dst    *Tensor
	xs     []*Tensor
	lead   int
	apart  []bool    // of xs: copied first, since dst overlaps it
	ready  []*Tensor // xs, or copies
	made   *Tensor   // the result of a kernel that can fail, before it is copied to dst
}

// prepare copies operands that overlap dst, and runs a kernel that can fail.
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
		if t.dst.Size() == 0 {
			return nil
		}
		l := newLanes(t.kernel, t.dst, t.ready)
		l.dry = true // to see whether it fails
		return l.run(workers)
	case t.kernel.Elements != nil || alone && !fails:
		return nil
	}
	if t.made, err = blank(nil, t.dst.dtype, t.dst.view.Shape, nil); err != nil {
		return err
	}
	return t.kernel.Whole(t.made, t.ready, t.lead)
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
