package pickstack

import (
	"errors"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/tensor"
)

// A worker does tasks of a call on one goroutine.
type worker[E stored, T number, K key] struct {
	*call[E, T, K]
	from, to []slab[E, T] // of src and dst, borrowed
	open     func(s []E, strides []int) error
	blamed   bool // the error that is being returned says which tensor it is about

	x     []T   // the rows at hand
	at    []int // where in x entries begin
	row   []T   // of the result
	rows  []T   // of the source, if they are copied
	sums  []float64
	strip strip[T, K]
}

func newWorker[E stored, T number, K key](c *call[E, T, K]) *worker[E, T, K] {
	w := &worker[E, T, K]{call: c}
	w.open = w.opened
	return w
}

// run borrows all tensors and does tasks until there are none. Each worker borrows for itself, so
// that a fault in mapped memory is met where it happens.
func (w *worker[E, T, K]) run() error {
	w.from, w.to, w.blamed = w.from[:0], w.to[:0], false
	defer w.letGo()
	err := w.borrow()
	if err != nil {
		w.next.Store(int64(w.tasks)) // no other worker need go on
	}
	return err
}

func (w *worker[E, T, K]) letGo() {
	clear(w.from)
	clear(w.to)
	w.x = nil
}

// borrow borrows the tensors that are left, one within the other, and then does the tasks.
func (w *worker[E, T, K]) borrow() error {
	if i := len(w.from); i < len(w.src) {
		return w.blame(w.aboutSource, i, tensor.ReadStrided(w.src[i], w.open))
	}
	for len(w.to) < len(w.dst) && w.dst[len(w.to)] == nil {
		w.to = append(w.to, slab[E, T]{})
	}
	if i := len(w.to); i < len(w.dst) {
		return w.blame(w.aboutResult, i, tensor.WriteStrided(w.dst[i], w.open))
	}
	for task := w.next.Add(1) - 1; task < int64(w.tasks); task = w.next.Add(1) - 1 {
		w.do(w, int(task))
	}
	return nil
}

// blame adds to an error which tensor it is about, once. A fault was given the name of the file.
func (w *worker[E, T, K]) blame(about func(i int, err error) error, i int, err error) error {
	if err == nil || w.blamed || errors.Is(err, mapping.ErrFault) {
		return err
	}
	w.blamed = true
	return about(i, err)
}

// opened takes the memory of the next tensor, and borrows the others.
func (w *worker[E, T, K]) opened(s []E, strides []int) error {
	if i := len(w.from); i < len(w.src) {
		w.from = append(w.from, newSlab[E, T](s, w.src[i].Shape(), strides))
	} else {
		w.to = append(w.to, newSlab[E, T](s, w.dst[len(w.to)].Shape(), strides))
	}
	return w.borrow()
}
