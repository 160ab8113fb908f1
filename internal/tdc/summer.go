package tdc

import (
	"hash/crc32"
	"io"
)

// BlockSize is the size of a block: the bytes that have one checksum. The last block may be
// shorter.
const BlockSize = 64 << 20

// Castagnoli is the table of CRC-32C, for which processors have an instruction.
var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A Summer computes the sum of each block of the bytes that it writes to W.
type Summer struct {
	W    io.Writer // or nil
	Full []uint32  // sums of full blocks
	Part uint32    // sum of the bytes after them
	N    int       // number of these bytes
}

// Write sums p and writes it to W.
func (s *Summer) Write(p []byte) (int, error) {
	s.Add(p)
	if s.W == nil {
		return len(p), nil
	}
	return s.W.Write(p)
}

// Add sums p.
func (s *Summer) Add(p []byte) {
	for len(p) > 0 {
		n := min(len(p), BlockSize-s.N)
		s.Part, s.N = crc32.Update(s.Part, Castagnoli, p[:n]), s.N+n
		if p = p[n:]; s.N == BlockSize {
			s.Full, s.Part, s.N = append(s.Full, s.Part), 0, 0
		}
	}
}

// Sums returns the sums of all blocks so far, with the last, shorter one.
func (s *Summer) Sums() []uint32 {
	sums := append([]uint32{}, s.Full...)
	if s.N > 0 {
		sums = append(sums, s.Part)
	}
	return sums
}
