package cast

import "unsafe"

// Memory returns the n bytes at p, which must lie in one piece of memory: a slice, an array or a
// struct. It is for packages that know a type by reflection, whose Value.UnsafePointer p comes
// from. The caller must not write where a pointer lies, and writes to a bool 0 or 1 only.
func Memory(p unsafe.Pointer, n int) []byte {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(p), n) // which keeps the memory that p points into
}
