package message

import (
	"encoding/binary"

	"github.com/go-tensordict/tensordict/internal/fileformat"
)

var le = binary.LittleEndian

// A flat is a flatbuffer. Its methods check that all they read is inside of it. After an invalid
// offset, err is set and methods return zeros.
type flat struct {
	b    []byte
	left int // bytes that may still be visited, since tables and texts can be shared
	err  error
}

// newFlat returns b as a flatbuffer. Writers share little, and nothing that is large.
func newFlat(b []byte) *flat { return &flat{b: b, left: 4*len(b) + 1<<10} }

// fail sets the error, unless one is set already.
func (f *flat) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fileformat.Corrupt(format, args...)
	}
}

// has reports whether n bytes at pos are inside, and subtracts them from the bytes that may be
// visited.
func (f *flat) has(pos, n int) bool {
	if f.err == nil && (pos < 0 || n < 0 || pos > len(f.b)-n) {
		f.fail("got %d bytes at byte %d of a message of %d bytes", n, pos, len(f.b))
	}
	if f.left -= n; f.err == nil && f.left < 0 {
		f.fail("the parts of a message of %d bytes are used repeatedly", len(f.b))
	}
	return f.err == nil
}

// A table is a table of a flatbuffer. The zero table has no fields.
type table struct {
	f   *flat
	pos int
	vt  []byte // offsets of the fields, 2 bytes each
}

// root returns the root table.
func (f *flat) root() table {
	if !f.has(0, 4) {
		return table{f: f}
	}
	return f.table(int(le.Uint32(f.b)))
}

// table returns the table at pos.
func (f *flat) table(pos int) table {
	none := table{f: f}
	if !f.has(pos, 4) {
		return none
	}
	vt := pos - int(int32(le.Uint32(f.b[pos:])))
	if f.left += 4; !f.has(vt, 4) { // tables share vtables
		return none
	}
	// The vtable also has the size of the table. Go's writer shares vtables of tables that differ
	// in it, so it is not used.
	n := int(le.Uint16(f.b[vt:]))
	if n < 4 || n%2 != 0 || n > len(f.b)-vt {
		f.fail("got a table with a vtable of %d bytes at byte %d", n, pos)
		return none
	}
	return table{f, pos, f.b[vt+4 : vt+n]}
}

// at returns the position of a field of width bytes, or 0 if the table does not have it.
func (t table) at(slot, width int) int {
	if t.f.err != nil || 2*slot+2 > len(t.vt) {
		return 0
	}
	offset := int(le.Uint16(t.vt[2*slot:]))
	if offset == 0 {
		return 0
	}
	if offset < 4 || offset > len(t.f.b)-t.pos-width {
		t.f.fail("got field %d at byte %d of a table at byte %d of %d", slot, offset, t.pos, len(t.f.b))
		return 0
	}
	return t.pos + offset
}

// num returns the integer of width bytes in a field, or 0 if the table does not have it.
func (t table) num(slot, width int) int64 {
	pos := t.at(slot, width)
	if pos == 0 {
		return 0
	}
	switch b := t.f.b[pos:]; width {
	case 1:
		return int64(b[0])
	case 2:
		return int64(int16(le.Uint16(b)))
	case 4:
		return int64(int32(le.Uint32(b)))
	default:
		return int64(le.Uint64(b))
	}
}

// refer returns the position that a field refers to, or 0 if the table does not have it.
func (t table) refer(slot int) int {
	pos := t.at(slot, 4)
	if pos == 0 {
		return 0
	}
	return pos + int(le.Uint32(t.f.b[pos:]))
}

// sub returns the table in a field, and whether there is one.
func (t table) sub(slot int) (sub table, ok bool) {
	pos := t.refer(slot)
	if pos == 0 {
		return table{f: t.f}, false
	}
	sub = t.f.table(pos)
	return sub, t.f.err == nil
}

// vector returns the n elements of width bytes in a field; none if the table does not have it.
func (t table) vector(slot, width int) (pos, n int) {
	if pos = t.refer(slot); pos == 0 || !t.f.has(pos, 4) {
		return 0, 0
	}
	n = int(le.Uint32(t.f.b[pos:]))
	if !t.f.has(pos+4, n*width) {
		return 0, 0
	}
	return pos + 4, n
}

// text returns the text in a field.
func (t table) text(slot int) string {
	pos, n := t.vector(slot, 1)
	return string(t.f.b[pos : pos+n])
}

// tables calls fn with each table of a vector.
func (t table) tables(slot int, fn func(i int, sub table)) {
	pos, n := t.vector(slot, 4)
	for i := range n {
		at := pos + 4*i
		if sub := t.f.table(at + int(le.Uint32(t.f.b[at:]))); t.f.err != nil {
			return
		} else {
			fn(i, sub)
		}
	}
}
