package tensor

import (
	"cmp"

	"github.com/go-tensordict/tensordict/internal/mapping"
)

// ReadStrided calls fn with the memory of t's elements, for code that works row by row: the element
// at position p is s[p[0]*strides[0] + p[1]*strides[1] + ...]. Unlike [Read] it never copies. fn
// must not write to either slice, nor keep them after it returns.
//
// Calls nest: fn may call ReadStrided and [WriteStrided] on other tensors. ReadStrided returns fn's
// error (with the lender's name if it is a fault in t's memory), the errors of Read, and
// [ErrLayout] if the memory is not aligned for T: call [Tensor.Clone] first. Safe for concurrent
// readers.
func ReadStrided[T Real](t *Tensor, fn func(s []T, strides []int) error) error {
	if err := checkElem[T](t); err != nil {
		return err
	}
	return useStrided(t, memory.borrow, fn)
}

// WriteStrided is [ReadStrided] for memory that fn may change. Several goroutines may call it on
// one tensor if none writes an element that another uses.
//
// It also returns [ErrReadOnly], and [ErrLayout] if elements share memory. After a fault in mapped
// memory some elements may have changed.
func WriteStrided[T Real](t *Tensor, fn func(s []T, strides []int) error) error {
	if err := checkElem[T](t); err != nil {
		return err
	}
	if err := t.checkWritable(); err != nil {
		return err
	}
	return useStrided(t, memory.borrowToWrite, fn)
}

// useStrided calls fn with the part of t's memory that its elements span.
func useStrided[T Real](t *Tensor, borrow func(memory) ([]byte, error), fn func(s []T, strides []int) error) error {
	_, high := t.view.Bounds()
	size := t.dtype.Size()
	var failed error
	err := t.useBy(borrow, func(b []byte) {
		var s []T
		if s, failed = typedBytes[T](t.dtype, b[t.view.Offset*size:high*size]); failed == nil {
			failed = fn(s, t.view.Strides)
			if _, bare := failed.(*mapping.FaultError); bare { // it has no name yet
				failed = nameFault(failed, b, t.mem, nil, memory{})
			}
		}
	})
	return cmp.Or(failed, err)
}
