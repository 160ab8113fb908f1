package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// magic is the start of every .npy file; two bytes with the version follow.
const magic = "\x93NUMPY"

// maxHeader is the maximum length of a header, in bytes. NumPy's default is 10,000.
const maxHeader = 1 << 20

// A header describes the array that follows it.
type header struct {
	dtype
	shape   shapeops.Shape
	fortran bool // elements are in column-major order
	length  int  // size of the header in bytes
	content int  // size of the elements in bytes
}

// headers caches the headers of members by their text, since many are equal.
type headers map[string]*header

const (
	maxKnown     = 1000
	maxKnownText = 1000 // bytes
)

// readHeader reads a header from r, and not a byte more. It looks it up in known, which may be nil.
// If r has no bytes, the error is also io.EOF.
func readHeader(r io.Reader, known headers) (*header, error) {
	start := make([]byte, len(magic)+2+4)
	if _, err := io.ReadFull(r, start[:len(magic)+2]); err != nil {
		return nil, cut(err, "magic string")
	}
	if string(start[:len(magic)]) != magic {
		return nil, corrupt("got %q, want the %q of a .npy file", start[:len(magic)], magic)
	}
	version, width := start[len(magic)], 4
	if version == 1 {
		width = 2
	}
	if version == 0 || version > 3 || start[len(magic)+1] != 0 {
		return nil, unsupported("got version %d.%d of the format, want 1.0, 2.0 or 3.0", version, start[len(magic)+1])
	}
	length := start[len(magic)+2:]
	if _, err := io.ReadFull(r, length[:width]); err != nil {
		return nil, cut(err, "length of the header")
	}
	n := binary.LittleEndian.Uint32(length)
	if n > maxHeader {
		return nil, unsupported("got a header of %d bytes, want at most %d", n, maxHeader)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, cut(err, "header")
	}
	if h := known[string(text)]; h != nil && version == 1 {
		return h, nil
	}
	h, err := parseHeader(decoded(text, version))
	if err != nil {
		return nil, err
	}
	h.length = len(magic) + 2 + width + len(text)
	if known != nil && version == 1 && len(known) < maxKnown && len(text) < maxKnownText {
		known[string(text)] = h
	}
	return h, nil
}

// cut returns ErrCorrupt if err says that a file ends within a part of it.
func cut(err error, part string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return corrupt("the %s is truncated: %w", part, err)
	}
	return err
}

// decoded returns the text of a header: UTF-8 from version 3 on, Latin-1 before.
func decoded(text []byte, version byte) string {
	if version >= 3 || !slices.ContainsFunc(text, func(c byte) bool { return c >= utf8.RuneSelf }) {
		return string(text)
	}
	var b strings.Builder
	for _, c := range text {
		b.WriteRune(rune(c))
	}
	return b.String()
}

// parseHeader parses the text of a header.
func parseHeader(text string) (*header, error) {
	if !utf8.ValidString(text) {
		return nil, corrupt("header: not UTF-8")
	}
	v, err := parseDict(text)
	if err != nil {
		return nil, err
	}
	h, ok := new(header), false
	if h.fortran, ok = v[1].(bool); !ok {
		return nil, corrupt("header: got fortran_order %s, want True or False", quoted(v[1]))
	}
	if h.shape, err = newShape(v[2]); err != nil {
		return nil, err
	}
	if h.dtype, err = newDType(v[0]); err != nil {
		return nil, err
	}
	if h.content, ok = product(h.shape, h.size); !ok {
		return nil, corrupt("header: got the shape %v for elements of %d bytes, want a size in bytes that fits an int", h.shape, h.size)
	}
	return h, nil
}

// checkContent returns an error unless the elements take n bytes.
func (h *header) checkContent(n int64) error {
	switch want := int64(h.content); {
	case n < want:
		return corrupt("got %d bytes after the header, want the %d of the elements", n, want)
	case n > want:
		return unsupported("got %d bytes after the array, want one array: to read several, call Read for each", n-want)
	}
	return nil
}

// newHeader returns the bytes that NumPy writes before elements of a dtype and shape.
func newHeader(d tensor.DType, s shapeops.Shape, fortran bool) ([]byte, error) {
	descr, err := descrOf(d)
	if err != nil {
		return nil, err
	}
	if len(s) > maxRank {
		return nil, unsupported("got %d dims, want at most %d, the limit of NumPy", len(s), maxRank)
	}
	order := "False"
	if fortran {
		order = "True"
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, order, shapeText(s))
	return wrap(text + growth(s, fortran)), nil
}

// descrOf returns the descr of a dtype.
func descrOf(d tensor.DType) (string, error) {
	for _, c := range codes {
		switch {
		case c.elem != d:
		case d.Size() == 1:
			return "|" + c.code, nil
		case cast.LittleEndian():
			return "<" + c.code, nil
		default:
			return ">" + c.code, nil
		}
	}
	return "", unsupported("got %v, which NumPy lacks: Cast to float32, or Reinterpret as uint16", d)
}

// shapeText returns the tuple of a shape.
func shapeText(s shapeops.Shape) string {
	if len(s) == 1 {
		return fmt.Sprintf("(%d,)", s[0])
	}
	return "(" + strings.Join(strings.Fields(strings.Trim(s.String(), "[]")), ", ") + ")"
}

// growth returns the spaces that NumPy adds so that the outermost dim can grow to 21 digits.
func growth(s shapeops.Shape, fortran bool) string {
	if len(s) == 0 {
		return ""
	}
	size := s[0]
	if fortran {
		size = s[len(s)-1]
	}
	return strings.Repeat(" ", 21-len(fmt.Sprint(size)))
}

// alignment divides the length of every header.
const alignment = 64

// wrap returns a header of version 1 with the given text, which fits for every shape.
func wrap(text string) []byte {
	b := []byte(magic + "\x01\x00\x00\x00")
	space := alignment - (len(b)+len(text)+1)%alignment
	n := len(text) + space + 1
	binary.LittleEndian.PutUint16(b[len(magic)+2:], uint16(n))
	return append(b, text+strings.Repeat(" ", space)+"\n"...)
}
