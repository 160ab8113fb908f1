package columns

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// maxNesting is the deepest nesting of types.
const maxNesting = 64

// check returns nil if array.MakeFromData can be given data as an array of type t: there are the
// buffers, children and dictionary of the type, and each is as long as length and offset need it,
// at every depth. The last offset of texts is inside their bytes. It reads no other elements; a
// [Reader] checks them as it reads. Its time depends on the type only. depth is the depth of t.
//
// Otherwise check returns [ErrArray], or [ErrType] for a type that no entry can have, or that is
// nested more than 64 deep.
func check(data arrow.ArrayData, t arrow.DataType, depth int) error {
	f, t, err := formOf(t)
	if err != nil {
		return err
	}
	if depth > maxNesting {
		return fmt.Errorf("%w: got a type nested more than %d deep", ErrType, maxNesting)
	}
	d, ok := data.(*array.Data)
	if !ok || d == nil {
		return fmt.Errorf("%w: got no data", ErrArray)
	}
	n, off := d.Len(), d.Offset()
	if n < 0 || off < 0 || off > math.MaxInt64/256-n { // so that no size in bits overflows
		return fmt.Errorf("%w: got length %d at offset %d", ErrArray, n, off)
	}
	if err := f.checkBuffers(d.Buffers(), off+n); err != nil {
		return err
	}
	if f.layout == codes {
		dict, _ := d.Dictionary().(*array.Data)
		return within("dictionary", check(dict, t.(*arrow.DictionaryType).ValueType, depth+1))
	}
	var fields []arrow.Field
	if nested, ok := t.(arrow.NestedType); ok {
		fields = nested.Fields()
	}
	if got := len(d.Children()); got != len(fields) {
		return fmt.Errorf("%w: got %d children, want %d", ErrArray, got, len(fields))
	}
	for i, child := range d.Children() {
		err := check(child, fields[i].Type, depth+1)
		if err == nil {
			err = checkLen(child.Len(), off+n, t)
		}
		if err != nil {
			return within(fields[i].Name, err)
		}
	}
	return nil
}

// within adds the name of a child to an error.
func within(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%q: %w", name, err)
}

// checkLen returns an error unless a child with got elements is long enough for the first n
// elements of a type.
func checkLen(got, n int, t arrow.DataType) error {
	switch x := t.(type) {
	case *arrow.StructType:
	case *arrow.FixedSizeListType:
		k := int(x.Len())
		if k < 0 || k > 0 && n > math.MaxInt/k {
			return fmt.Errorf("%w: got %d lists of %d elements", ErrArray, n, k)
		}
		n *= k
	default:
		return nil
	}
	if got < n {
		return fmt.Errorf("%w: got %d elements, want at least %d", ErrArray, got, n)
	}
	return nil
}

// checkBuffers returns an error unless buffers are large enough for n elements.
func (f form) checkBuffers(buffers []*memory.Buffer, n int) error {
	want := 2
	switch f.layout {
	case bytes32, bytes64, listViews32, listViews64:
		want = 3
	case fixedLists, structs:
		want = 1
	case nothing: // arrays that the library reads have none, others have one that is nil
		return nil
	}
	if len(buffers) != want && (f.layout != views || len(buffers) < want) {
		return fmt.Errorf("%w: got %d buffers, want %d", ErrArray, len(buffers), want)
	}
	if b := bytesOf(buffers[0]); len(b) > 0 {
		if err := checkSize(0, len(b), n, 1); err != nil {
			return err
		}
	}
	if want == 1 || n == 0 {
		return nil
	}
	offsets := n
	if f.isText() && f.layout != views || f.layout == lists32 || f.layout == lists64 {
		offsets++
	}
	if err := checkSize(1, len(bytesOf(buffers[1])), offsets, f.width); err != nil || want == 2 {
		return err
	}
	if !f.isText() {
		return checkSize(2, len(bytesOf(buffers[2])), n, f.width)
	}
	if last, got := f.offset(bytesOf(buffers[1]), n), len(bytesOf(buffers[2])); last < 0 || last > got {
		return fmt.Errorf("%w: got offset %d in %d bytes of texts", ErrArray, last, got)
	}
	return nil
}

// checkSize returns an error unless the got bytes of buffer i hold n elements of width bits.
func checkSize(i, got, n, width int) error {
	if width < 0 || width > 0 && n > (math.MaxInt-7)/width {
		return fmt.Errorf("%w: got %d elements of %d bits", ErrArray, n, width)
	}
	if want := (n*width + 7) / 8; got < want {
		return fmt.Errorf("%w: buffer %d: got %d bytes, want at least %d", ErrArray, i, got, want)
	}
	return nil
}

// bytesOf returns the bytes of a buffer, which may be nil.
func bytesOf(b *memory.Buffer) []byte {
	if b == nil {
		return nil
	}
	return b.Bytes()
}

// offset returns offset i of texts or lists.
func (f form) offset(offsets []byte, i int) int {
	if f.width == 32 {
		return int(int32(binary.NativeEndian.Uint32(offsets[4*i:])))
	}
	return int(int64(binary.NativeEndian.Uint64(offsets[8*i:])))
}
