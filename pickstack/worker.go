package pickstack

import (
	"errors"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/tensor"
)

// A worker runs tasks of a call on one goroutine.
type worker[E stored, T number, K key] struct {
	*call[E, T, K]
	from, to  []slab[E, T] // of src and dst, borrowed
	open      func(s []E, strides []int) error
	annotated bool // the error being returned already names its tensor

	x     []T   // the current rows of the source
	at    []int // elements of x at which the entries begin
	row   []T   // scratch for a row of the result
	rows  []T   // scratch for rows of the source
	sums  []float64
	strip strip[T, K]
}

// run borrows all tensors, and runs tasks until there are none. Each worker borrows for itself, so
// that it gets the faults in mapped memory that it causes.
func (w *worker[E, T, K]) run() error {
	w.from, w.to, w.annotated = w.from[:0], w.to[:0], false
	defer func() {
		clear(w.from)
		clear(w.to)
		w.x = nil
	}()
	err := w.borrow()
	if err != nil {
		w.next.Store(int64(w.tasks)) // stops the other workers
	}
	return err
}

// borrow borrows the remaining tensors, in nested calls, and then runs the tasks.
func (w *worker[E, T, K]) borrow() error {
	if i := len(w.from); i < len(w.src) {
		return w.annotate(w.aboutSource, i, tensor.ReadStrided(w.src[i], w.open))
	}
	for len(w.to) < len(w.dst) && w.dst[len(w.to)] == nil {
		w.to = append(w.to, slab[E, T]{})
	}
	if i := len(w.to); i < len(w.dst) {
		return w.annotate(w.aboutResult, i, tensor.WriteStrided(w.dst[i], w.open))
	}
	for task := w.next.Add(1) - 1; task < int64(w.tasks); task = w.next.Add(1) - 1 {
		w.do(w, int(task))
	}
	return nil
}

// annotate adds to an error, once, which tensor it is about. A fault has the name of the file
// already.
func (w *worker[E, T, K]) annotate(about func(i int, err error) error, i int, err error) error {
	if err == nil || w.annotated || errors.Is(err, mapping.ErrFault) {
		return err
	}
	w.annotated = true
	return about(i, err)
}

// opened keeps the memory of the tensor just borrowed, and borrows the others.
func (w *worker[E, T, K]) opened(s []E, strides []int) error {
	if i := len(w.from); i < len(w.src) {
		w.from = append(w.from, newSlab[E, T](s, w.src[i].Shape(), strides))
	} else {
		w.to = append(w.to, newSlab[E, T](s, w.dst[len(w.to)].Shape(), strides))
	}
	return w.borrow()
}
