package memmap

import (
	"hash/crc32"
	"io"
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
		if len(f.Sums) == (f.Size()+blockBytes-1)/blockBytes {
			return f.Sums, false
		}
	case interface{ sum() (uint32, int64) }:
		if sum, size := f.sum(); size == int64(t.ByteSize()) {
			return []uint32{sum}, true
		}
	}
	return nil, false
}

// elements writes the elements of t. For Copy, if t is the whole of a file that has sums, it
// returns ErrCorrupt, with that file, after the first block that differs from its sum.
func (s *saver) elements(w io.Writer, t *tensor.Tensor) error {
	c := &checker{w: w, block: blockBytes, table: castagnoli}
	if s.checks != nil {
		var zipped bool
		if c.want, zipped = sumsOf(t); zipped {
			c.block, c.table = t.ByteSize(), crc32.IEEETable
		}
	}
	if c.want == nil {
		_, err := t.WriteTo(w)
		return err
	}
	_, err := t.WriteTo(c)
	if err == nil && c.n > 0 {
		err = c.check()
	}
	if known(err) {
		return s.checks.failAt(t.Lender().(lender).Path(), err)
	}
	return err
}

// A checker writes to w, and compares the sum of each block.
type checker struct {
	w     io.Writer
	want  []uint32 // of the remaining blocks; the last block may be shorter
	block int      // bytes of a block
	table *crc32.Table
	sum   uint32
	n     int // bytes of the block written so far
}

// Write implements io.Writer. It sums small pieces, so that they are still in the cache when it
// writes them.
func (c *checker) Write(b []byte) (n int, err error) {
	const piece = 256 << 10
	for n < len(b) && err == nil {
		some := b[n:min(len(b), n+piece, n+c.block-c.n)]
		c.sum = crc32.Update(c.sum, c.table, some)
		c.n += len(some)
		var m int
		m, err = c.w.Write(some)
		n += m
		if err == nil && c.n == c.block {
			err = c.check()
		}
	}
	return n, err
}

// check compares the sum of the block that has ended.
func (c *checker) check() error {
	got, want := c.sum, c.want[0]
	c.want, c.sum, c.n = c.want[1:], 0, 0
	switch {
	case got == want:
		return nil
	case c.table == castagnoli:
		return &mismatch{got, want}
	}
	return corrupt("got CRC-32 %08x, want %08x", got, want)
}
