package tensor

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/plan"
)

// Clone returns a contiguous copy of t in its own Go memory. It returns an error if lent memory
// cannot be read any more, and shape.ErrShape if t is expanded to more bytes than an int counts.
// A copy larger than the machine's memory ends the program: check [Tensor.ByteSize] first.
func (t *Tensor) Clone() (*Tensor, error) { return t.clone(nil) }

func (t *Tensor) clone(p *plan.Pass) (*Tensor, error) {
	out, done, err := blankLike(p, t.dtype, t.view.Shape, nil, t)
	if err != nil || done {
		return out, err
	}
	var m move
	m.all(t.dtype.Size(), out.mem, t.mem, out.view, t.view)
	if err := m.run(workersOf(p)); err != nil {
		return nil, err
	}
	return out, nil
}

// elements returns a copy of t that is contiguous, aligned, and in Go memory.
func (t *Tensor) elements() (*Tensor, error) {
	if t.Device() == Meta {
		return nil, ErrMeta
	}
	return t.Clone()
}

// Contiguous returns t if t is contiguous, otherwise a [Tensor.Clone].
func (t *Tensor) Contiguous() (*Tensor, error) {
	if t.view.IsContiguous() {
		return t, nil
	}
	return t.Clone()
}

// CopyFrom sets the elements of t to the elements of src, broadcast. It returns the errors of
// [Transfer]; on an error nothing has changed.
func (t *Tensor) CopyFrom(src *Tensor) error { return errtext.Named("copy from", t.copyFrom(src)) }

// copyFrom is CopyFrom without its name in errors.
func (t *Tensor) copyFrom(src *Tensor) error {
	var tr Transfer
	if err := tr.Copy(t, src); err != nil {
		return err
	}
	return tr.Run()
}

// WriteTo writes the elements to w, row-major and in the machine's byte order; [FromBytes] reads
// them. It implements io.WriterTo. It returns [ErrKind] if w is nil.
func (t *Tensor) WriteTo(w io.Writer) (n int64, err error) {
	if w == nil {
		return 0, fmt.Errorf("%w: got no writer", ErrKind)
	}
	if b, ok := t.solid(); ok {
		return writeAll(w, b)
	}
	if !t.view.IsContiguous() {
		mem, release, err := t.mem.hold(memory.borrow)
		if err != nil {
			return 0, err
		}
		defer release()
		return (&Tensor{t.dtype, t.view, mem}).writeSlices(w)
	}
	low, high := t.span()
	step := high - low
	if t.mem.checking() { // so that what was checked is still in memory when it is written
		step = min(step, checkedBytes)
	}
	for at := low; at < high || at == low; at += max(step, 1) {
		end := min(high, at+step)
		var failed error
		err := t.useBy(func(m memory) ([]byte, error) { return m.borrowPart(at, end) }, func(b []byte) {
			var more int64
			more, failed = writeAll(w, b[at:end])
			n += more
		})
		if errors.Is(failed, syscall.EFAULT) { // the system met the fault, in a write call
			failed = t.mem.loan.named(fmt.Errorf("%w: %w", mapping.ErrFault, failed))
		}
		if err = cmp.Or(failed, err); err != nil {
			return n, err
		}
	}
	return n, nil
}

// checkedBytes is how many bytes are checked and then written at a time.
const checkedBytes = 64 << 20

func writeAll(w io.Writer, b []byte) (int64, error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, err := w.Write(b)
	return int64(n), err
}

// ReadFull reads all elements of t from r, in the form in which [Tensor.WriteTo] writes them:
// row-major and in the machine's byte order. If t is contiguous, it reads straight into t's memory;
// otherwise it reads into new memory, which it copies to t. If r returns an error, ReadFull returns
// that error, or io.ErrUnexpectedEOF if r ends too early; the elements of a contiguous t that were
// read before the error keep their new values. ReadFull returns [ErrReadOnly], or [ErrLayout] if
// two elements share memory, before it reads anything.
func (t *Tensor) ReadFull(r io.Reader) error {
	if r == nil {
		return fmt.Errorf("%w: got no reader", ErrKind)
	}
	if err := t.checkWritable(); err != nil {
		return err
	}
	if b, ok := t.solid(); ok {
		return readAll(r, b)
	}
	if !t.view.IsContiguous() {
		c, err := New(t.dtype, t.view.Shape...)
		if err == nil {
			err = c.ReadFull(r)
		}
		if err != nil {
			return err
		}
		return t.copyFrom(c)
	}
	var failed error
	err := t.useBy(memory.borrowToWrite, func(b []byte) { failed = readAll(r, t.own(b)) })
	if errors.Is(failed, syscall.EFAULT) { // the system met the fault, in a read call
		failed = t.mem.loan.named(fmt.Errorf("%w: %w", mapping.ErrFault, failed))
	}
	return cmp.Or(failed, err)
}

func readAll(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	if err == io.EOF && len(b) > 0 {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// copyBytes is about how much of a tensor that is not contiguous is copied at a time.
const copyBytes = 1 << 20

// writeSlices writes t some rows of its first dim at a time, or row by row if rows are large.
func (t *Tensor) writeSlices(w io.Writer) (total int64, err error) {
	rows := t.view.Shape[0]
	at := max(1, copyBytes/max(1, t.row(0).ByteSize()))
	for start := 0; start < rows && err == nil; start += at {
		var n int64
		if at == 1 && len(t.view.Shape) > 1 {
			n, err = t.row(start).WriteTo(w)
		} else {
			n, err = t.rows(start, min(at, rows-start)).writeCopy(w)
		}
		total += n
	}
	return total, err
}

// row returns row i of the first dim, without that dim.
func (t *Tensor) row(i int) *Tensor {
	v := t.view
	v.Offset += i * v.Strides[0]
	v.Shape, v.Strides = v.Shape[1:], v.Strides[1:]
	return &Tensor{dtype: t.dtype, view: v, mem: t.mem}
}

// rows returns n rows of the first dim, from row i on.
func (t *Tensor) rows(i, n int) *Tensor {
	v := t.view
	v.Offset += i * v.Strides[0]
	v.Shape = v.Shape.Clone()
	v.Shape[0] = n
	return &Tensor{dtype: t.dtype, view: v, mem: t.mem}
}

func (t *Tensor) writeCopy(w io.Writer) (int64, error) {
	c, err := t.elements()
	if err != nil {
		return 0, err
	}
	return writeAll(w, c.mem.bytes)
}

// workersOf returns the number of cores that a pass may use; 0 means GOMAXPROCS.
func workersOf(p *plan.Pass) int {
	if p == nil {
		return 0
	}
	return p.Workers
}
