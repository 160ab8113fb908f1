// Package cast views numbers as bytes and bytes as numbers, without a copy. It also returns the
// address of bytes, and reports whether two slices share memory.
//
//	b := cast.Bytes([]float32{1, 2})     // 8 bytes, in the same memory
//	x, aligned := cast.Slice[float32](b) // and back
//	rows := cast.Memory(p, n)            // n bytes of structs, which package tensorclass moves
//
// This package and internal/mapping are the only ones that may import unsafe; a test enforces it.
// With the build tag nounsafe, [Uninit] and [UninitOf] do not use unsafe.
package cast
