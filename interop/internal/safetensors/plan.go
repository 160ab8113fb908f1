package safetensors

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/errtext"
)

// maxData is the maximum size of the data, so that a file with the largest header does not
// overflow.
const maxData = math.MaxInt64 - lengthBytes - maxHeader

// Plan returns the header of a file for tensors with the names, dtypes and shapes of entries, in
// any order, and the bytes with which the file begins. The data follows these bytes, in the order
// of the header's entries: tensors with wide elements first, then by dtype and name. Begin and End
// of entries are ignored.
//
// The header shares metadata, which may be nil, and the shapes of entries.
//
// Plan returns [ErrUnsupported] for everything that [Read] refuses: a dtype that [Size] does not
// support, sizes that are negative or overflow, more than 64 dims, a name that is a duplicate or
// "__metadata__", text that is not UTF-8, and a header of more than 100 MB.
func Plan(entries []Entry, metadata map[string]string) (*Header, []byte, error) {
	h := &Header{Entries: slices.Clone(entries), Metadata: metadata}
	if err := h.check(); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(h.Entries, first)
	if err := h.place(); err != nil {
		return nil, nil, err
	}
	head := h.text()
	if n := len(head) - lengthBytes; n > maxHeader {
		return nil, nil, within("header", unsupported("got %d bytes, want at most %d", n, maxHeader))
	}
	h.DataStart = int64(len(head))
	return h, head, nil
}

// first compares two tensors in the order of the original.
func first(a, b Entry) int {
	if a.DType == b.DType {
		return strings.Compare(a.Name, b.Name)
	}
	return cmp.Compare(rank(b.DType), rank(a.DType))
}

// check checks everything that does not depend on the order of tensors.
func (h *Header) check() error {
	names := make(map[string]bool, len(h.Entries))
	for i := range h.Entries {
		e := &h.Entries[i]
		err := e.check()
		if err == nil && names[e.Name] {
			err = unsupported("duplicate name")
		}
		if err != nil {
			return inTensor(e.Name, err)
		}
		names[e.Name] = true
	}
	for name, text := range h.Metadata {
		if !utf8.ValidString(name) || !utf8.ValidString(text) {
			return within(metadataName, unsupported("%s: not UTF-8", errtext.Quote(name)))
		}
	}
	return nil
}

// check checks everything that does not depend on other tensors.
func (e *Entry) check() error {
	if e.Name == metadataName {
		return unsupported("the name of the metadata")
	}
	if !utf8.ValidString(e.Name) {
		return unsupported("not UTF-8")
	}
	if n := len(e.Shape); n > maxDims {
		return within(fieldShape, unsupported("got %d dims, want at most %d", n, maxDims))
	}
	if rank(e.DType) < 0 {
		return within(fieldDType, unknown(e.DType))
	}
	if _, ok := e.bytes(); !ok {
		return within(fieldShape, unsupported("got %v, want sizes of at least 0 that do not overflow", e.Shape))
	}
	return nil
}

// place sets the offsets of the tensors, one after another.
func (h *Header) place() error {
	end := int64(0)
	for i := range h.Entries {
		e := &h.Entries[i]
		n, _ := e.bytes()
		if n > maxData-end {
			return inTensor(e.Name, unsupported("got more than %d bytes of data before its end", int64(maxData)))
		}
		e.Begin, e.End = end, end+n
		end = e.End
	}
	return nil
}
