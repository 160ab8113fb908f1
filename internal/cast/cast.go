package cast

import (
	"encoding/binary"
	"unsafe"
)

// Fixed is the set of types that contain no pointer and have the same size on every platform.
type Fixed interface {
	~bool | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~float32 | ~float64 | ~complex64 | ~complex128 | ~[2]uint64
}

// Size returns the size of a T in bytes.
func Size[T Fixed]() int {
	var v T
	return int(unsafe.Sizeof(v))
}

// Bytes returns s as bytes. Both share memory.
func Bytes[T Fixed](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	// The pointer is to s's array, which has cap(s) elements of this size and no pointers
	// inside.
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*Size[T]())
}

// Slice returns b as a slice of T. Both share memory. It returns false if b is not aligned for T or
// its length is not a multiple of the size of T. For T bool, the caller must know that every byte
// is 0 or 1.
func Slice[T Fixed](b []byte) ([]T, bool) {
	if len(b) == 0 {
		return nil, true
	}
	var v T
	p := unsafe.Pointer(unsafe.SliceData(b))
	if len(b)%Size[T]() != 0 || uintptr(p)%unsafe.Alignof(v) != 0 {
		return nil, false
	}
	// Aligned, inside b's array, and T contains no pointer: every bit pattern is a value, except
	// for bool.
	return unsafe.Slice((*T)(p), len(b)/Size[T]()), true
}

// Aligned reports whether b is aligned for numbers of size bytes: whether it begins at a multiple
// of size, or of 8 if size is more.
func Aligned(b []byte, size int) bool { return len(b) == 0 || Address(b)%uintptr(min(size, 8)) == 0 }

// Shift returns the distance in bytes from the start of a to the start of b, and whether a and b
// share memory.
func Shift(a, b []byte) (shift int, shared bool) {
	if len(a) == 0 || len(b) == 0 {
		return 0, false
	}
	p, q := Address(a), Address(b)
	if p <= q {
		return int(q - p), q-p < uintptr(len(a))
	}
	return -int(p - q), p-q < uintptr(len(b))
}

// Address returns the address of the first byte of b. Use it only for comparison, while b is in
// use.
func Address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// Contains reports whether addr is the address of a byte of b.
func Contains(b []byte, addr uintptr) bool { return addr-Address(b) < uintptr(len(b)) }

// LittleEndian reports whether this machine stores the low byte of a number first.
func LittleEndian() bool { return binary.NativeEndian.Uint16([]byte{1, 0}) == 1 }
