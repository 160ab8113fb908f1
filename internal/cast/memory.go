package cast

import "unsafe"

// Memory returns the n bytes at p, which must be in one allocation: a slice, an array or a struct.
// It is for packages that know a type by reflection; p comes from Value.UnsafePointer. The caller
// must not write over a pointer, and may write only 0 or 1 to a bool.
func Memory(p unsafe.Pointer, n int) []byte {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(p), n) // keeps the memory of p alive
}
