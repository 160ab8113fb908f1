package columns

import (
	"encoding/binary"

	"github.com/go-tensordict/tensordict/internal/cast"
)

// spread has, for each byte, its bits as 8 bytes, the lowest bit first.
var spread = func() (table [256][8]byte) {
	for b := range table {
		for i := range 8 {
			table[b][i] = byte(b >> i & 1)
		}
	}
	return table
}()

// unpack sets the bools to the bits from number off on.
func unpack(to []bool, bits []byte, off int) {
	dst := cast.Bytes(to)
	for ; len(dst) > 0 && off%8 != 0; off++ {
		dst[0] = bits[off/8] >> (off % 8) & 1
		dst = dst[1:]
	}
	for bits = bits[off/8:]; len(dst) >= 8; dst, bits = dst[8:], bits[1:] {
		copy(dst[:8], spread[bits[0]][:])
	}
	for i := range dst {
		dst[i] = bits[0] >> i & 1
	}
}

// pack returns the bools as bits.
func pack(from []bool) []byte {
	src := cast.Bytes(from)
	bits := make([]byte, (len(src)+7)/8)
	for i := range len(src) / 8 {
		x := binary.LittleEndian.Uint64(src[8*i:])
		bits[i] = byte(x * 0x0102040810204080 >> 56) // bit i of the product is byte i of x
	}
	for i := len(src) &^ 7; i < len(src); i++ {
		bits[i/8] |= src[i] << (i % 8)
	}
	return bits
}
