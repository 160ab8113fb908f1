package memmap

import (
	"slices"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/tensor"
)

// SameSums reports whether stored checksums show that two tensors have the same bytes. It reads no
// elements. It is true if
//
//   - both tensors have the same dtype and shape
//   - each is the whole of a leaf of a [Dataset] that was opened for reading
//   - both leaves are in directories, or both in archives
//   - their checksums are equal
//
// false says nothing about the tensors.
//
// The checksums were computed when the elements were saved. SameSums does not notice later damage
// to the files; [Verify] does. Two leaves that differ have the same CRC-32 in one of 2^32 cases.
func SameSums(a, b *tensor.Tensor) bool {
	if a == nil || b == nil || a.DType() != b.DType() || !a.Shape().Equal(b.Shape()) {
		return false
	}
	x, zipped := sumsOf(a)
	y, alsoZipped := sumsOf(b)
	return x != nil && zipped == alsoZipped && slices.Equal(x, y)
}

// sumsOf returns the stored sums of a tensor that is the whole of a file, or nil. They are the sums
// of its blocks or, if zipped, the one of its file in an archive.
func sumsOf(t *tensor.Tensor) (sums []uint32, zipped bool) {
	file, ok := t.Lender().(lender)
	if !ok || file.Size() != t.ByteSize() || !t.View().IsContiguous() {
		return nil, false
	}
	switch f := file.(type) {
	case *mapfile.File:
		if len(f.Sums) == (f.Size()+BlockSize-1)/BlockSize {
			return f.Sums, false
		}
	case interface{ sum() (uint32, int64) }:
		if sum, size := f.sum(); size == int64(t.ByteSize()) {
			return []uint32{sum}, true
		}
	}
	return nil, false
}
