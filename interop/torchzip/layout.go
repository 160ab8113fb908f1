package torchzip

import (
	"archive/zip"
	"bytes"
	"hash/crc32"
	"io"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Write writes the file of a tensor to w. It copies the elements only if they are not contiguous.
// After an error a part of the file may have been written.
//
// Write returns a [FileError]: shapeops.ErrKind if x is nil, tensor.ErrMeta for a tensor without
// elements, [ErrUnsupported] for more than 64 dims, errors of elements in mapped files, and errors
// of w.
func Write(w io.Writer, x *tensor.Tensor) error {
	if x == nil {
		return fileformat.Failed("write", "", "", shapeops.ErrKind)
	}
	l, err := NewLayout(x.DType(), x.Shape()...)
	if err != nil {
		return err
	}
	if x.Device() == tensor.Meta {
		return fileformat.Failed("write", "", "", tensor.ErrMeta)
	}
	sum := crc32.NewIEEE()
	if _, err = w.Write(l.head); err == nil {
		_, err = x.WriteTo(io.MultiWriter(w, sum))
	}
	if err == nil {
		_, err = w.Write(l.Tail(sum.Sum32()))
	}
	return fileformat.Failed("write", "", "", err)
}

// A Layout has the bytes of a file before and after the elements of its tensor. Safe for concurrent
// use.
type Layout struct {
	head           []byte
	pickle         string
	elements, tail int // bytes
}

// NewLayout returns the layout of the file of a tensor of a dtype and a shape.
//
// It returns a [FileError]: [ErrUnsupported] for more than 64 dims, shapeops.ErrShape for a shape
// that is invalid or too large, and tensor.ErrDType for an invalid dtype.
func NewLayout(d tensor.DType, shape ...int) (*Layout, error) {
	meta, err := tensor.NewMeta(d, shape...)
	if err == nil && len(shape) > maxDims {
		err = unsupported("got %d dims, want at most %d", len(shape), maxDims)
	}
	if err != nil {
		return nil, fileformat.Failed("write", "", "", err)
	}
	l := &Layout{pickle: pickled(d, shape), elements: meta.ByteSize()}
	var tail []byte
	l.head, tail = l.build(0)
	l.tail = len(tail)
	return l, nil
}

// Size returns the length of the file in bytes.
func (l *Layout) Size() int { return len(l.head) + l.elements + l.tail }

// Head returns the bytes before the elements. They belong to the layout and must not
// be changed.
func (l *Layout) Head() []byte { return l.head }

// Tail returns the bytes after the elements, whose CRC-32 (IEEE) is sum. Elements are row-major, in
// the machine's byte order. The length of the tail does not depend on sum.
func (l *Layout) Tail(sum uint32) []byte {
	_, tail := l.build(sum)
	return tail
}

// build returns the bytes before and after the elements. Errors cannot occur: a sink returns none,
// and names and sizes are in range.
func (l *Layout) build(sum uint32) (head, tail []byte) {
	to := &sink{}
	w := zip.NewWriter(to)
	for _, e := range [][2]string{{"data.pkl", l.pickle}, {"byteorder", byteOrder()}, {"version", "3\n"}} {
		f, _ := w.CreateHeader(&zip.FileHeader{Name: root + e[0], Method: zip.Store})
		_, _ = f.Write([]byte(e[1]))
	}
	_ = w.Flush()
	storage := &zip.FileHeader{Name: root + "data/0", Flags: followed, CRC32: sum}
	storage.CompressedSize64, storage.UncompressedSize64 = uint64(l.elements), uint64(l.elements)
	storage.Extra = padding(to.Len() + descriptor + header + len(storage.Name))
	f, _ := w.CreateRaw(storage)
	_ = w.Flush()
	n := to.Len()
	to.skips = true
	for left := l.elements; left > 0; left -= len(zeros) {
		_, _ = f.Write(zeros[:min(left, len(zeros))])
	}
	_ = w.Flush()
	to.skips = false
	_ = w.Close()
	return to.Bytes()[:n:n], to.Bytes()[n:]
}

const (
	root       = "archive/" // the folder that torch uses for a file without a name
	followed   = 1 << 3     // flag: the sum follows the payload
	header     = 30         // bytes of a local header before the name
	descriptor = 16         // bytes after the payload of the entry before
	alignment  = 64         // of the elements
)

// padding returns the extra field with which torch pads a header that would end at at.
func padding(at int) []byte {
	n := -(at + 4) & (alignment - 1)
	return append([]byte{'F', 'B', byte(n), 0}, bytes.Repeat([]byte{'Z'}, n)...)
}

// byteOrder returns the name of the machine's byte order.
func byteOrder() string {
	if cast.LittleEndian() {
		return "little"
	}
	return "big"
}

// zeros are written in place of elements, which a sink skips.
var zeros = make([]byte, 1<<20)

// A sink keeps what is written, or skips it.
type sink struct {
	bytes.Buffer
	skips bool
}

// Write implements [io.Writer].
func (s *sink) Write(b []byte) (int, error) {
	if s.skips {
		return len(b), nil
	}
	return s.Buffer.Write(b)
}
