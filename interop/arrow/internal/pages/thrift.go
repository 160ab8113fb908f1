package pages

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
)

// Errors of this package.
var (
	ErrCorrupt     = fileformat.ErrCorrupt
	ErrUnsupported = fileformat.ErrUnsupported
	ErrMemory      = columns.ErrMemory
)

var corrupt, unsupported = fileformat.Corrupt, fileformat.Unsupported

// The types of Thrift's compact protocol.
const (
	typeStop = iota
	typeTrue
	typeFalse
	typeByte
	typeInt16
	typeInt32
	typeInt64
	typeDouble
	typeBinary
	typeList
	typeSet
	typeMap
	typeStruct
	typeUUID
)

// maxNesting bounds structs in structs.
const maxNesting = 32

// A kind is a struct that the checks know, with its fields that are lists, structs, or integers
// that they look at.
type kind struct{ fields map[int16]field }

// A field has the type of a field. The library reads the elements of a list by the type that it
// expects, whatever type the list says.
type field struct {
	typ, elem byte
	of        *kind // of a struct, or of the elements
}

// A walker walks values of the compact protocol.
type walker struct {
	b    []byte
	at   int
	cost int64 // roughly the memory that the library takes for what was walked
	most int64 // largest cost
	// see, if not nil, is called with each integer of a struct of a known kind, and with the id 0
	// and the offset where the struct begins.
	see func(k *kind, id int16, v int64) error
}

// errShort is the error of bytes that end inside a value.
var errShort = fmt.Errorf("%w: %w in a header", ErrCorrupt, io.ErrUnexpectedEOF)

// pay adds to the cost.
func (w *walker) pay(n int64) error {
	if w.cost += n; w.cost > w.most {
		return fmt.Errorf("%w: the footer would take more than %d bytes: raise MaxMemory", ErrMemory, w.most)
	}
	return nil
}

func (w *walker) byte() (byte, error) {
	if w.at >= len(w.b) {
		return 0, errShort
	}
	w.at++
	return w.b[w.at-1], nil
}

func (w *walker) varint() (uint64, error) {
	v, n := binary.Uvarint(w.b[w.at:])
	switch {
	case n == 0:
		return 0, errShort
	case n < 0:
		return 0, corrupt("a number has more than 64 bits")
	}
	w.at += n
	return v, nil
}

func (w *walker) integer() (int64, error) {
	v, err := w.varint()
	return int64(v>>1) ^ -int64(v&1), err
}

// skip moves over n bytes.
func (w *walker) skip(n uint64) error {
	if n > uint64(len(w.b)-w.at) {
		return errShort
	}
	w.at += int(n)
	return nil
}

// structure walks a struct. k is nil for one that the library skips.
func (w *walker) structure(k *kind, depth int) error {
	if depth > maxNesting {
		return corrupt("structs are nested more than %d deep", maxNesting)
	}
	if err := w.pay(structCost); err != nil {
		return err
	}
	if k != nil && w.see != nil {
		if err := w.see(k, 0, int64(w.at)); err != nil {
			return err
		}
	}
	for id := int16(0); ; {
		head, err := w.byte()
		if err != nil || head == typeStop {
			return err
		}
		if delta := int16(head >> 4); delta != 0 {
			id += delta
		} else {
			v, err := w.integer()
			if err != nil {
				return err
			}
			id = int16(v)
		}
		var f field
		if k != nil {
			f = k.fields[id]
		}
		if typ := head & 15; f.typ != 0 && typ != f.typ && !(f.typ == typeTrue && typ == typeFalse) {
			f = field{} // the library skips it
		}
		v, isInt, err := w.value(head&15, f, depth)
		if err == nil && isInt && f.typ != 0 && w.see != nil {
			err = w.see(k, id, v)
		}
		if err != nil {
			return err
		}
	}
}

// value walks a value of a struct, and returns an integer or a bool.
func (w *walker) value(typ byte, f field, depth int) (v int64, isInt bool, err error) {
	switch typ {
	case typeTrue:
		return 1, true, nil
	case typeFalse:
		return 0, true, nil
	}
	if typ == typeInt16 || typ == typeInt32 || typ == typeInt64 {
		v, err = w.integer()
		return v, true, err
	}
	return 0, false, w.other(typ, f, depth)
}

// other walks a value that is not an integer, or an element of a list.
func (w *walker) other(typ byte, f field, depth int) error {
	switch typ {
	case typeTrue, typeFalse, typeByte:
		return w.skip(1)
	case typeInt16, typeInt32, typeInt64:
		_, err := w.varint()
		return err
	case typeDouble:
		return w.skip(8)
	case typeUUID:
		return w.skip(16)
	case typeBinary:
		n, err := w.varint()
		if err == nil {
			err = w.skip(n)
		}
		if err != nil {
			return err
		}
		return w.pay(int64(n) + elementCost)
	case typeList, typeSet:
		return w.list(f, depth)
	case typeMap:
		return w.mapping(depth)
	case typeStruct:
		return w.structure(f.of, depth+1)
	}
	return corrupt("got type %d in a header", typ)
}

// list walks a list or a set. Each element has at least one byte.
func (w *walker) list(f field, depth int) error {
	head, err := w.byte()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = w.varint(); err != nil {
			return err
		}
	}
	elem := head & 15
	if f.elem != 0 && elem != f.elem {
		return corrupt("a list has elements of type %d, want %d", elem, f.elem)
	}
	if n > math.MaxInt32 || n > uint64(len(w.b)-w.at) {
		return fmt.Errorf("%w: a list of %d elements in %d bytes: %w", ErrCorrupt, n, len(w.b)-w.at, io.ErrUnexpectedEOF)
	}
	if depth > maxNesting {
		return corrupt("lists are nested more than %d deep", maxNesting)
	}
	if err := w.pay(int64(n) * elementCost); err != nil {
		return err
	}
	for range n {
		if err := w.other(elem, field{of: f.of}, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// mapping walks a map, which the library skips.
func (w *walker) mapping(depth int) error {
	n, err := w.varint()
	if err != nil || n == 0 {
		return err
	}
	if n > uint64(len(w.b)-w.at) || depth > maxNesting {
		return fmt.Errorf("%w: a map of %d entries in %d bytes: %w", ErrCorrupt, n, len(w.b)-w.at, io.ErrUnexpectedEOF)
	}
	types, err := w.byte()
	for i := uint64(0); i < n && err == nil; i++ {
		if err = w.other(types>>4, field{}, depth+1); err == nil {
			err = w.other(types&15, field{}, depth+1)
		}
	}
	return err
}
