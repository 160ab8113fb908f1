//go:build !nounsafe

package cast

import (
	"strings"
	"unsafe"
)

// Uninit returns n bytes of new memory, aligned for every element type. Their content is undefined:
// the caller must fill them before other code sees them. It saves the zeroing of make.
func Uninit(n int) []byte {
	if n < 1024 { // zeroing is cheap, and make aligns small sizes well enough
		return make([]byte, n, (n+7)&^7)
	}
	var b strings.Builder // the one standard type whose growth does not zero
	b.Grow(n)
	b.WriteByte(0)
	// The string has one byte, so its data is b's buffer, which Grow made n bytes long; b is not
	// used again, so these bytes are not part of a string that others hold.
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.StringData(b.String()))), n)
}

// UninitOf is [Uninit] for n elements of a type without pointers. The caller must fill each field.
func UninitOf[T any](n int) []T {
	var v T
	b := Uninit(n * int(unsafe.Sizeof(v)))
	if len(b) == 0 {
		return make([]T, n)
	}
	// Aligned, as long as n elements, and without a pointer that the garbage collector would
	// have to know.
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}
