//go:build !nounsafe

package cast

import (
	"strings"
	"unsafe"
)

// Uninit returns n bytes of new memory, aligned for every element type. What they hold is
// undefined: the caller must fill them before anybody else sees them. It saves the zeroing that
// make does.
func Uninit(n int) []byte {
	if n < 1024 { // zeroing is free, and make aligns small sizes as we want them
		return make([]byte, n, (n+7)&^7)
	}
	var b strings.Builder // the one standard type whose growth does not zero
	b.Grow(n)
	b.WriteByte(0)
	// The text has one byte, so its data is b's buffer, of which Grow promised n bytes; b is not
	// used again, so nobody holds these bytes as a string.
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.StringData(b.String()))), n)
}

// UninitOf is [Uninit] of n elements of a type that holds no pointer, of which the caller must fill
// each field.
func UninitOf[T any](n int) []T {
	var v T
	b := Uninit(n * int(unsafe.Sizeof(v)))
	if len(b) == 0 {
		return make([]T, n)
	}
	// Aligned, as long as n elements, and of no pointer that the garbage collector would have to
	// know.
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}
