package mapping

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Words is [Mapping.Acquire] of the bytes as 64-bit words. Processes that have mapped the same file
// may load, store, and compare and swap them atomically. Word i is bytes 8*i to 8*i+7, in the
// machine's byte order. Bytes after the last whole word are left out. The words are valid until
// [Mapping.Release].
//
// Storing to words of a ReadOnly Mapping is a fault, which [Guard] catches; a program built with
// the race detector ends instead. Words returns [ErrClosed] once Close began.
func (m *Mapping) Words() ([]atomic.Uint64, error) {
	data, err := m.Acquire()
	if err != nil {
		return nil, err
	}
	first := unsafe.Pointer(unsafe.SliceData(data)) // start of a page, so aligned
	if uintptr(first)%8 != 0 {
		m.Release()
		return nil, fmt.Errorf("%w: impossible: the memory is not aligned", ErrSize)
	}
	return unsafe.Slice((*atomic.Uint64)(first), len(data)/8), nil
}
