package arith

import (
	"encoding/binary"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/tensor"
)

// choose sets the elements of a block to yes where mask is true, and to no where it is false. If
// yes or no is the block's own memory, elements that would keep their value are not written.
func choose(b *tensor.Block, mask, yes, no tensor.Lane) error {
	switch {
	case mask.Per == tensor.PerBlock && mask.Bytes[0] != 0:
		copyLane(b.Dst, b, yes)
	case mask.Per == tensor.PerBlock:
		copyLane(b.Dst, b, no)
	case mask.Per == tensor.PerRow:
		chooseRows(b, mask.Bytes, yes, no)
	case yes.Per == tensor.PerRow || no.Per == tensor.PerRow:
		chooseEach(b, mask, yes, no)
	default:
		chooseElements(b.Dst, mask.Bytes, yes, no)
	}
	return nil
}

// copyLane sets dst to the elements of lane from, broadcast to the block.
func copyLane(dst []byte, b *tensor.Block, from tensor.Lane) {
	switch from.Per {
	case tensor.PerElement:
		if !same(dst, from.Bytes) {
			copy(dst, from.Bytes)
		}
	case tensor.PerBlock:
		cast.Repeat(dst, from.Bytes)
	case tensor.PerRow:
		n := b.Width * b.DType.Size()
		for r := range b.Rows {
			cast.Repeat(dst[r*n:(r+1)*n], from.Bytes[r*b.DType.Size():(r+1)*b.DType.Size()])
		}
	}
}

// same reports whether a and b begin in the same place.
func same(a, b []byte) bool { return len(a) > 0 && len(b) > 0 && &a[0] == &b[0] }

// chooseRows is choose with one mask element for each row.
func chooseRows(b *tensor.Block, mask []byte, yes, no tensor.Lane) {
	n := b.Width * b.DType.Size()
	keep := 2 // the mask value of rows that dst already holds
	if same(b.Dst, no.Bytes) && no.Per == tensor.PerElement {
		keep = 0
	} else if same(b.Dst, yes.Bytes) && yes.Per == tensor.PerElement {
		keep = 1
	}
	rows := [2]tensor.Lane{no, yes}
	for i, l := range rows {
		if l.Per == tensor.PerBlock { // a row of copies of the only element
			rows[i].Bytes = make([]byte, n)
			cast.Repeat(rows[i].Bytes, l.Bytes)
		}
	}
	for r, m := range mask[:b.Rows] {
		if int(m) == keep {
			continue
		}
		dst := b.Dst[r*n : (r+1)*n]
		switch from := &rows[m&1]; from.Per {
		case tensor.PerElement:
			copy(dst, from.Bytes[r*n:])
		case tensor.PerRow:
			cast.Repeat(dst, from.Bytes[r*b.DType.Size():(r+1)*b.DType.Size()])
		case tensor.PerBlock:
			copy(dst, from.Bytes)
		}
	}
}

// chooseEach is choose row by row, for operands with one element for each row.
func chooseEach(b *tensor.Block, mask, yes, no tensor.Lane) {
	n := b.Width * b.DType.Size()
	for r := range b.Rows {
		row := func(l tensor.Lane) tensor.Lane {
			switch l.Per {
			case tensor.PerElement:
				l.Bytes = l.Bytes[r*b.Width*l.DType.Size() : (r+1)*b.Width*l.DType.Size()]
			case tensor.PerRow:
				l.Bytes, l.Per = l.Bytes[r*l.DType.Size():(r+1)*l.DType.Size()], tensor.PerBlock
			}
			return l
		}
		chooseElements(b.Dst[r*n:(r+1)*n], row(mask).Bytes, row(yes), row(no))
	}
}

// chooseElements is choose with a mask element for each element. yes and no have one element for
// each element of dst, or a single one.
func chooseElements(dst, mask []byte, yes, no tensor.Lane) {
	switch {
	case no.Per == tensor.PerElement && same(dst, no.Bytes):
		replace(dst, mask, 0, yes)
		return
	case yes.Per == tensor.PerElement && same(dst, yes.Bytes):
		replace(dst, mask, 1, no)
		return
	}
	switch yes.DType.Size() {
	case 1:
		if yes.Per == tensor.PerElement && no.Per == tensor.PerElement { // eight at a time
			n, order := len(dst)&^7, binary.NativeEndian
			for i := 0; i < n; i += 8 {
				m := order.Uint64(mask[i:]) * 255 // each byte 0 or 1: all bits or none
				a, b := order.Uint64(yes.Bytes[i:]), order.Uint64(no.Bytes[i:])
				order.PutUint64(dst[i:], b^(a^b)&m)
			}
			dst, mask, yes.Bytes, no.Bytes = dst[n:], mask[n:], yes.Bytes[n:], no.Bytes[n:]
		}
		chooseOf[uint8](dst, mask, yes, no)
	case 2:
		chooseOf[uint16](dst, mask, yes, no)
	case 4:
		chooseOf[uint32](dst, mask, yes, no)
	case 8:
		chooseOf[uint64](dst, mask, yes, no)
	default:
		to, lanes := items[complex128](dst), [2]tensor.Lane{no, yes}
		for i := range to {
			from := items[complex128](lanes[mask[i]&1].Bytes)
			to[i] = from[min(i, len(from)-1)]
		}
	}
}

// chooseOf chooses without a branch, because a branch on a random mask is often mispredicted.
func chooseOf[T uints](dst, mask []byte, yes, no tensor.Lane) {
	to, a, b := items[T](dst), items[T](yes.Bytes), items[T](no.Bytes)
	if len(to) == 0 {
		return
	}
	mask = mask[:len(to)]
	switch {
	case yes.Per == tensor.PerElement && no.Per == tensor.PerElement:
		a, b = a[:len(to)], b[:len(to)]
		for i, m := range mask {
			to[i] = b[i] ^ (a[i]^b[i])&-T(m)
		}
	case no.Per == tensor.PerElement:
		b, v := b[:len(to)], a[0]
		for i, m := range mask {
			to[i] = b[i] ^ (v^b[i])&-T(m)
		}
	case yes.Per == tensor.PerElement:
		a, v := a[:len(to)], b[0]
		for i, m := range mask {
			to[i] = v ^ (a[i]^v)&-T(m)
		}
	default:
		v, w := a[0], b[0]
		for i, m := range mask {
			to[i] = w ^ (v^w)&-T(m)
		}
	}
}

// replace sets the elements of dst whose mask is not kept to the elements of from. It does not
// write the others: they may be shared with other goroutines, or lie in a file.
func replace(dst, mask []byte, kept byte, from tensor.Lane) {
	switch from.DType.Size() {
	case 1:
		replaceOf(dst, mask, kept, from.Bytes, from.Per)
	case 2:
		replaceOf(items[uint16](dst), mask, kept, items[uint16](from.Bytes), from.Per)
	case 4:
		replaceOf(items[uint32](dst), mask, kept, items[uint32](from.Bytes), from.Per)
	case 8:
		replaceOf(items[uint64](dst), mask, kept, items[uint64](from.Bytes), from.Per)
	default:
		replaceOf(items[complex128](dst), mask, kept, items[complex128](from.Bytes), from.Per)
	}
}

// replaceOf is replace for one type. It handles eight elements with equal mask values at once.
func replaceOf[T any](to []T, mask []byte, kept byte, from []T, per tensor.Per) {
	one := per != tensor.PerElement
	none := uint64(kept) * 0x0101010101010101
	for len(to) >= 8 {
		switch bits := binary.NativeEndian.Uint64(mask) ^ none; {
		case bits == 0:
		case one:
			replaceOne(to[:8], mask[:8], kept, from[0])
		case bits == 0x0101010101010101:
			copy(to[:8], from[:8])
		default:
			replaceEach(to[:8], mask[:8], kept, from[:8])
		}
		to, mask = to[8:], mask[8:]
		if !one {
			from = from[8:]
		}
	}
	if one {
		replaceOne(to, mask[:len(to)], kept, from[0])
	} else {
		replaceEach(to, mask[:len(to)], kept, from[:len(to)])
	}
}

func replaceOne[T any](to []T, mask []byte, kept byte, v T) {
	for i, m := range mask {
		if m != kept {
			to[i] = v
		}
	}
}

func replaceEach[T any](to []T, mask []byte, kept byte, from []T) {
	for i, m := range mask {
		if m != kept {
			to[i] = from[i]
		}
	}
}

// items views aligned bytes as elements.
func items[T cast.Fixed](b []byte) []T {
	s, _ := cast.Slice[T](b)
	return s
}
