package safetensors

import (
	"cmp"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/fileformat"
)

const (
	lengthBytes  = 8           // bytes of the length before the header
	maxHeader    = 100_000_000 // bytes; the original reads no more
	maxDims      = 64
	metadataName = "__metadata__" // the field that is not a tensor
)

// The fields of an entry.
const (
	fieldDType   = "dtype"
	fieldShape   = "shape"
	fieldOffsets = "data_offsets"
)

// A Header says which tensors a file has, and where. Safe for concurrent readers; a writer needs
// exclusive access, as with a map.
type Header struct {
	Entries   []Entry           // in the order of their bytes; tensors without bytes by name
	Metadata  map[string]string // nil if there is none
	DataStart int64             // offset of the data in the file, in bytes
}

// An Entry is a tensor in a file.
type Entry struct {
	Name  string
	DType string // its name in the format, such as "F32"; see [Size]
	Shape []int
	// Begin and End are the offsets of the bytes from [Header.DataStart]. [Plan] sets them.
	Begin, End int64
}

// Read reads the header of a file of size bytes. It reads no data, and allocates at most a small
// multiple of the header.
//
// Read returns [ErrCorrupt] for a header that the format does not allow; [ErrUnsupported] for a
// dtype that [Size] does not support, for more than 64 dims, and for a header of more than 100 MB;
// and errors of r.
func Read(r io.ReaderAt, size int64) (*Header, error) {
	h, err := read(r, size)
	if err != nil {
		return nil, within("header", err)
	}
	return h, nil
}

func read(r io.ReaderAt, size int64) (*Header, error) {
	text, err := readText(r, size)
	if err != nil {
		return nil, err
	}
	h, err := decode(text)
	if err != nil {
		return nil, err
	}
	h.DataStart = lengthBytes + int64(len(text))
	return h, h.arrange(size - h.DataStart)
}

// readText reads the JSON text of a file of size bytes.
func readText(r io.ReaderAt, size int64) ([]byte, error) {
	if size < lengthBytes {
		return nil, corrupt("got a file of %d bytes, want at least %d", size, lengthBytes)
	}
	var length [lengthBytes]byte
	if err := fileformat.ReadAt(r, length[:], 0); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(length[:])
	if most := uint64(size - lengthBytes); n > most {
		return nil, corrupt("got a length of %d bytes, want at most %d, which the file has", n, most)
	}
	if n > maxHeader {
		return nil, unsupported("got a length of %d bytes, want at most %d", n, maxHeader)
	}
	text := make([]byte, n)
	return text, fileformat.ReadAt(r, text, lengthBytes)
}

// arrange sorts the entries by their bytes, and checks that they fill the data, of data bytes.
func (h *Header) arrange(data int64) error {
	slices.SortFunc(h.Entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.End, b.End), strings.Compare(a.Name, b.Name))
	})
	end := int64(0)
	for _, e := range h.Entries {
		if err := e.follows(end, data); err != nil {
			return inTensor(e.Name, within(fieldOffsets, err))
		}
		end = e.End
	}
	if end != data {
		return corrupt("got %d bytes of data, want %d, where the last tensor ends", data, end)
	}
	return nil
}

// follows checks that e begins at end, where the entry before it ends, and ends within data bytes.
func (e *Entry) follows(end, data int64) error {
	if e.Begin != end {
		return corrupt("got begin %d, want %d, the end of the data before it", e.Begin, end)
	}
	if e.End > data {
		return corrupt("got end %d, want at most %d, which the file has", e.End, data)
	}
	return nil
}

// bytes returns the number of bytes of e's elements, or false if it overflows or the dtype is not
// supported. It multiplies the dims in order, as the original does: dims before a 0 must not
// overflow, and dims after it may have any size.
func (e *Entry) bytes() (int64, bool) {
	size, ok := Size(e.DType)
	n := int64(1)
	for _, d := range e.Shape {
		if d < 0 || d > 0 && n > math.MaxInt64/int64(d) {
			return 0, false
		}
		n *= int64(d)
	}
	if !ok || n > math.MaxInt64/int64(size) {
		return 0, false
	}
	return n * int64(size), true
}
