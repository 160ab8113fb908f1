package samplecache

import (
	"hash/crc32"
	"sync"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/tensor"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// nearBytes is a piece that stays in the processor's nearest cache.
const nearBytes = 4 << 10

var nears = sync.Pool{New: func() any { return new([nearBytes]byte) }}

// checksum returns the CRC-32C of bytes. Of more than a few it copies piece by piece to where they
// are near: Go's CRC-32C reads from three places at a time, which memory is slow at. That takes
// half the time.
func checksum(b []byte) (sum uint32) {
	if len(b) <= nearBytes {
		return crc32.Checksum(b, castagnoli)
	}
	near := nears.Get().(*[nearBytes]byte)
	defer nears.Put(near)
	for len(b) > 0 {
		n := copy(near[:], b)
		sum = crc32.Update(sum, castagnoli, near[:n])
		b = b[n:]
	}
	return sum
}

// sumOf returns the sum of a part of what a lender lends.
func sumOf(lender tensor.Lender, from, size int) (sum uint32, err error) {
	b, err := lender.Borrow()
	if err != nil {
		return 0, err
	}
	defer lender.Return()
	err = mapping.Guard(func() { sum = checksum(b[from:][:size]) })
	if err == nil {
		err = intact(lender)
	}
	return sum, err
}
