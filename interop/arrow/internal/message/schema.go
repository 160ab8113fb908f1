package message

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/go-tensordict/tensordict/internal/cast"
)

// The limits of a schema.
const (
	maxFields = 1_000_000
	maxDepth  = 64
)

// The kinds of messages.
const (
	kindSchema     = 1
	kindDictionary = 2
	kindBatch      = 3
)

// typeFields has the fields of the table of each type of a column, by the number of the type: the
// widths of numbers, s for a text, v for a vector of 4 bytes each.
var typeFields = [...]string{
	1:  "",    // Null
	2:  "41",  // Int: bitWidth, is_signed
	3:  "2",   // FloatingPoint: precision
	4:  "",    // Binary
	5:  "",    // Utf8
	6:  "",    // Bool
	7:  "444", // Decimal: precision, scale, bitWidth
	8:  "2",   // Date: unit
	9:  "24",  // Time: unit, bitWidth
	10: "2s",  // Timestamp: unit, timezone
	11: "2",   // Interval: unit
	12: "",    // List
	13: "",    // Struct
	14: "2v",  // Union: mode, typeIds
	15: "4",   // FixedSizeBinary: byteWidth
	16: "4",   // FixedSizeList: listSize
	17: "1",   // Map: keysSorted
	18: "2",   // Duration: unit
	19: "",    // LargeBinary
	20: "",    // LargeUtf8
	21: "",    // LargeList
	22: "",    // RunEndEncoded
	23: "",    // BinaryView
	24: "",    // Utf8View
	25: "",    // ListView
	26: "",    // LargeListView
}

// noDictionary is in a list of ids for a field that has no dictionary.
const noDictionary = -1 << 63

// A schemaChecker walks the fields of a schema.
type schemaChecker struct {
	f   *flat
	ids []int64 // the ids of dictionaries of all fields, each before its children
}

// readSchema returns the schema in a table of a message or a footer, and the ids of dictionaries of
// all fields, each before its children.
func readSchema(t table) (*arrow.Schema, []int64, error) {
	c := &schemaChecker{f: t.f}
	if t.num(0, 2) != 0 {
		return nil, nil, unsupported("got numbers with the high byte first (big-endian), want little-endian")
	}
	if !cast.LittleEndian() {
		return nil, nil, unsupported("Arrow's numbers have the low byte first, which this machine does not")
	}
	c.fields(t, 1, "", 0)
	c.metadata(t, 2)
	if t.f.err != nil {
		return nil, nil, t.f.err
	}
	s, err := libraryReads(t)
	return s, c.ids, err
}

// fields checks a vector of fields.
func (c *schemaChecker) fields(t table, slot int, parent string, depth int) {
	switch _, n := t.vector(slot, 4); {
	case n == 0:
		return
	case depth > maxDepth:
		c.f.fail("column %q is nested more than %d deep", parent, maxDepth)
		return
	case len(c.ids)+n > maxFields:
		c.f.fail("got %d columns or more, want at most %d", len(c.ids)+n, maxFields)
		return
	}
	t.tables(slot, func(_ int, field table) { c.field(field, depth) })
}

// field checks a field and its children.
func (c *schemaChecker) field(t table, depth int) {
	if len(c.ids) == maxFields {
		c.f.fail("got more than %d columns", maxFields)
		return
	}
	name := t.text(0)
	t.num(1, 1) // nullable
	kind := int(t.num(2, 1))
	typ, ok := t.sub(3)
	if kind == 0 || kind >= len(typeFields) || !ok {
		c.f.fail("column %q has type %d, want a number from 1 to %d and its table", name, kind, len(typeFields)-1)
		return
	}
	for slot, width := range typeFields[kind] {
		switch width {
		case 's':
			typ.text(slot)
		case 'v':
			typ.vector(slot, 4)
		default:
			typ.num(slot, int(width-'0'))
		}
	}
	id := int64(noDictionary)
	if encoding, ok := t.sub(4); ok {
		id = encoding.num(0, 8)
		index, ok := encoding.sub(1)
		if !ok || id == noDictionary {
			c.f.fail("column %q has a dictionary with id %d and without a type of its indices", name, id)
			return
		}
		index.num(0, 4)
		index.num(1, 1)
		encoding.num(2, 1)
	}
	c.ids = append(c.ids, id)
	c.metadata(t, 6)
	c.fields(t, 5, name, depth+1)
}

// metadata checks a vector of pairs of texts.
func (c *schemaChecker) metadata(t table, slot int) {
	t.tables(slot, func(_ int, pair table) {
		pair.text(0)
		pair.text(1)
	})
}

// libraryReads has the library read a schema that was checked. The library reads only messages, so
// the schema gets a message around it.
func libraryReads(t table) (s *arrow.Schema, err error) {
	const head = 32
	b := make([]byte, head, head+len(t.f.b))
	le.PutUint32(b, 20)                         // the message
	le.PutUint16(b[4:], 10)                     // its vtable, of the type and the header
	le.PutUint16(b[6:], 12)                     //
	le.PutUint16(b[10:], 4)                     //
	le.PutUint16(b[12:], 8)                     //
	le.PutUint32(b[20:], 20-4)                  // from the message back to its vtable
	b[24] = kindSchema                          //
	le.PutUint32(b[28:], uint32(head+t.pos-28)) // from here to the schema
	m := ipc.NewMessage(memory.NewBufferBytes(append(b, t.f.b...)), memory.NewBufferBytes(nil))
	err = Try(func() error {
		r, err := ipc.NewReaderFromMessageReader(single{m})
		if err == nil {
			s = r.Schema()
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return s, nil
}

// A single is an ipc.MessageReader with one message.
type single struct{ m *ipc.Message }

func (s single) Message() (*ipc.Message, error) { return s.m, nil }
func (single) Retain()                          {}
func (single) Release()                         {}
