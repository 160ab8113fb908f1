package mapping

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Words is [Mapping.Acquire] of the bytes as 64-bit words, which processes that have mapped the
// same file may load, store, and compare and swap atomically: word i is bytes 8*i to 8*i+7, in the
// machine's order. Bytes after the last whole word are left out. The words are valid until
// [Mapping.Release].
//
// Storing to words of a ReadOnly Mapping is a fault, which [Guard] catches, unless the program was
// built with the race detector: then it ends. Words returns [ErrClosed] once Close began.
func (m *Mapping) Words() ([]atomic.Uint64, error) {
	data, err := m.Acquire()
	if err != nil {
		return nil, err
	}
	first := unsafe.Pointer(unsafe.SliceData(data)) // the beginning of a page, so aligned
	if uintptr(first)%8 != 0 {
		m.Release()
		return nil, fmt.Errorf("%w: impossible: the memory is not aligned", ErrSize)
	}
	return unsafe.Slice((*atomic.Uint64)(first), len(data)/8), nil
}
