package tensor

import (
	"cmp"

	"github.com/go-tensordict/tensordict/internal/mapping"
)

// ReadStrided calls fn with the memory that t's elements lie in, for code that works row by row:
// the element at position p is s[p[0]*strides[0] + p[1]*strides[1] + ...]. It is [Read] that never
// copies, however large t is. fn must not write to either slice, nor keep them after it returns.
//
// Calls nest: fn may call ReadStrided and [WriteStrided] of other tensors. ReadStrided returns fn's
// error, with the name of the lender if that is a fault in t's memory, the errors of Read, and
// [ErrLayout] if the memory is not aligned for T, which [Tensor.Clone] mends. Safe for concurrent
// use, as readers are.
func ReadStrided[T Real](t *Tensor, fn func(s []T, strides []int) error) error {
	if err := checkElem[T](t); err != nil {
		return err
	}
	return useStrided(t, memory.borrow, fn)
}

// WriteStrided is [ReadStrided] of memory that fn may change. Several goroutines may use it at a
// time on one tensor, if none writes an element that another looks at.
//
// Its errors are also [ErrReadOnly], and [ErrLayout] if elements share memory. After a fault in
// mapped memory some elements may have changed.
func WriteStrided[T Real](t *Tensor, fn func(s []T, strides []int) error) error {
	if err := checkElem[T](t); err != nil {
		return err
	}
	if err := t.checkWritable(); err != nil {
		return err
	}
	return useStrided(t, memory.borrowToWrite, fn)
}

// useStrided calls fn with the part of t's memory that its elements span, if it can.
func useStrided[T Real](t *Tensor, borrow func(memory) ([]byte, error), fn func(s []T, strides []int) error) error {
	_, high := t.view.Bounds()
	size := t.dtype.Size()
	var failed error
	err := t.useBy(borrow, func(b []byte) {
		var s []T
		if s, failed = typedBytes[T](t.dtype, b[t.view.Offset*size:high*size]); failed == nil {
			failed = nameBare(fn(s, t.view.Strides), b, t.mem)
		}
	})
	return cmp.Or(failed, err)
}

// nameBare is nameFault of an error that has no name yet.
func nameBare(err error, b []byte, m memory) error {
	if _, bare := err.(*mapping.FaultError); bare {
		return nameFault(err, b, m, nil, memory{})
	}
	return err
}
