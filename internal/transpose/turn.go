package transpose

import (
	"encoding/binary"

	"github.com/go-tensordict/tensordict/internal/vector"
)

// turn transposes a tile in scratch memory. With words it also transposes what lies beyond the last
// rows and columns, up to a multiple of 8 bytes.
func (s *scratch) turn(rows, cols, width int) {
	if s.vectors(rows, cols, width) {
		return
	}
	switch width {
	case 1:
		s.turn1(rows, cols)
	case 2:
		s.turn2(rows, cols)
	case 4:
		s.turn4(rows, cols)
	case 8:
		s.turn8(rows, cols)
	case 16:
		s.turn16(rows, cols)
	default:
		for i := range rows {
			for j := range cols {
				copy(s.to[i*toPitch+j*width:][:width], s.from[j*fromPitch+i*width:])
			}
		}
	}
}

// vectors is turn by blocks of 8 rows of 32 bytes, and reports whether there are instructions for
// it.
func (s *scratch) vectors(rows, cols, width int) bool {
	for i := 0; i < rows*width; i += 32 {
		if !vector.Transpose(width, s.to[i/width*toPitch:], s.from[i:], toPitch, fromPitch, (cols+7)/8) {
			return false
		}
	}
	return true
}

var le = binary.LittleEndian

// exchange exchanges the upper items of a with the lower items of b. lower has the bits of the
// lower items, and shift is the distance of an upper item from a lower one.
func exchange(a, b uint64, shift int, lower uint64) (uint64, uint64) {
	t := (a>>shift ^ b) & lower
	return a ^ t<<shift, b ^ t
}

// The bits of the lower one of each two items of 1, 2 and 4 bytes.
const (
	lower1 = 0x00ff00ff00ff00ff
	lower2 = 0x0000ffff0000ffff
	lower4 = 0x00000000ffffffff
)

// turn1 transposes blocks of 8x8 bytes.
func (s *scratch) turn1(rows, cols int) {
	for i := 0; i < rows; i += 8 {
		for j := 0; j < cols; j += 8 {
			f := (*[7*fromPitch + 8]byte)(s.from[j*fromPitch+i:])
			a0, a1, a2, a3 := le.Uint64(f[:]), le.Uint64(f[fromPitch:]), le.Uint64(f[2*fromPitch:]), le.Uint64(f[3*fromPitch:])
			a4, a5, a6, a7 := le.Uint64(f[4*fromPitch:]), le.Uint64(f[5*fromPitch:]), le.Uint64(f[6*fromPitch:]), le.Uint64(f[7*fromPitch:])
			a0, a4 = exchange(a0, a4, 32, lower4)
			a1, a5 = exchange(a1, a5, 32, lower4)
			a2, a6 = exchange(a2, a6, 32, lower4)
			a3, a7 = exchange(a3, a7, 32, lower4)
			a0, a2 = exchange(a0, a2, 16, lower2)
			a1, a3 = exchange(a1, a3, 16, lower2)
			a4, a6 = exchange(a4, a6, 16, lower2)
			a5, a7 = exchange(a5, a7, 16, lower2)
			a0, a1 = exchange(a0, a1, 8, lower1)
			a2, a3 = exchange(a2, a3, 8, lower1)
			a4, a5 = exchange(a4, a5, 8, lower1)
			a6, a7 = exchange(a6, a7, 8, lower1)
			t := (*[7*toPitch + 8]byte)(s.to[i*toPitch+j:])
			le.PutUint64(t[:], a0)
			le.PutUint64(t[toPitch:], a1)
			le.PutUint64(t[2*toPitch:], a2)
			le.PutUint64(t[3*toPitch:], a3)
			le.PutUint64(t[4*toPitch:], a4)
			le.PutUint64(t[5*toPitch:], a5)
			le.PutUint64(t[6*toPitch:], a6)
			le.PutUint64(t[7*toPitch:], a7)
		}
	}
}

// turn2 transposes blocks of 4x4 items of 2 bytes.
func (s *scratch) turn2(rows, cols int) {
	for i := 0; i < rows; i += 4 {
		for j := 0; j < cols; j += 4 {
			f := (*[3*fromPitch + 8]byte)(s.from[j*fromPitch+2*i:])
			a0, a1, a2, a3 := le.Uint64(f[:]), le.Uint64(f[fromPitch:]), le.Uint64(f[2*fromPitch:]), le.Uint64(f[3*fromPitch:])
			a0, a2 = exchange(a0, a2, 32, lower4)
			a1, a3 = exchange(a1, a3, 32, lower4)
			a0, a1 = exchange(a0, a1, 16, lower2)
			a2, a3 = exchange(a2, a3, 16, lower2)
			t := (*[3*toPitch + 8]byte)(s.to[i*toPitch+2*j:])
			le.PutUint64(t[:], a0)
			le.PutUint64(t[toPitch:], a1)
			le.PutUint64(t[2*toPitch:], a2)
			le.PutUint64(t[3*toPitch:], a3)
		}
	}
}

// turn4 transposes blocks of 2x2 items of 4 bytes.
func (s *scratch) turn4(rows, cols int) {
	for i := 0; i < rows; i += 2 {
		for j := 0; j < cols; j += 2 {
			f := (*[fromPitch + 8]byte)(s.from[j*fromPitch+4*i:])
			t := (*[toPitch + 8]byte)(s.to[i*toPitch+4*j:])
			a0, a1 := exchange(le.Uint64(f[:]), le.Uint64(f[fromPitch:]), 32, lower4)
			le.PutUint64(t[:], a0)
			le.PutUint64(t[toPitch:], a1)
		}
	}
}

// turn8 transposes blocks of 2x4 items of 8 bytes.
func (s *scratch) turn8(rows, cols int) {
	for i := 0; i < rows; i += 2 {
		for j := 0; j < cols; j += 4 {
			f := (*[3*fromPitch + 16]byte)(s.from[j*fromPitch+8*i:])
			t := (*[toPitch + 32]byte)(s.to[i*toPitch+8*j:])
			le.PutUint64(t[:], le.Uint64(f[:]))
			le.PutUint64(t[8:], le.Uint64(f[fromPitch:]))
			le.PutUint64(t[16:], le.Uint64(f[2*fromPitch:]))
			le.PutUint64(t[24:], le.Uint64(f[3*fromPitch:]))
			le.PutUint64(t[toPitch:], le.Uint64(f[8:]))
			le.PutUint64(t[toPitch+8:], le.Uint64(f[fromPitch+8:]))
			le.PutUint64(t[toPitch+16:], le.Uint64(f[2*fromPitch+8:]))
			le.PutUint64(t[toPitch+24:], le.Uint64(f[3*fromPitch+8:]))
		}
	}
}

// turn16 transposes blocks of 1x4 items of 16 bytes.
func (s *scratch) turn16(rows, cols int) {
	for i := range rows {
		for j := 0; j < cols; j += 4 {
			f := (*[3*fromPitch + 16]byte)(s.from[j*fromPitch+16*i:])
			t := (*[64]byte)(s.to[i*toPitch+16*j:])
			*(*[16]byte)(t[:]) = *(*[16]byte)(f[:])
			*(*[16]byte)(t[16:]) = *(*[16]byte)(f[fromPitch:])
			*(*[16]byte)(t[32:]) = *(*[16]byte)(f[2*fromPitch:])
			*(*[16]byte)(t[48:]) = *(*[16]byte)(f[3*fromPitch:])
		}
	}
}
