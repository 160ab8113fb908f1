package tdc

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
)

// tail is the size of the length of the JSON, which follows it.
const tail = 8

// Cut returns the JSON, and the size of the data, of a form of size bytes. end is the last bytes of
// the form, or all of it. If end is shorter than the trailer, Cut returns the size of the trailer
// as short, and no text. It returns fileformat.ErrCorrupt.
func Cut(end []byte, size int64) (text []byte, data int, short int64, err error) {
	if len(end) < tail {
		return nil, 0, 0, fileformat.Corrupt("got %d bytes, want at least %d, which hold the length of the metadata", size, tail)
	}
	n := int64(binary.LittleEndian.Uint64(end[len(end)-tail:]))
	if n < 2 || n > size-tail {
		return nil, 0, 0, fileformat.Corrupt("the last bytes say that the metadata has %d bytes, want 2 to %d", n, size-tail)
	}
	if n > int64(len(end)-tail) {
		return nil, 0, n + tail, nil
	}
	text = end[len(end)-tail-int(n) : len(end)-tail]
	if text[0] != '{' || text[n-1] != '}' {
		return nil, 0, 0, fileformat.Corrupt("got metadata that begins with %q and ends with %q, want a JSON object", text[:1], text[n-1:])
	}
	return text, int(size - tail - n), 0, nil
}

// Ends reports whether a file of size bytes ends like a form: with JSON and its length.
func Ends(r io.ReaderAt, size int64) bool {
	var end [tail]byte
	if size < tail || fileformat.ReadAt(r, end[:], size-tail) != nil {
		return false
	}
	n := binary.LittleEndian.Uint64(end[:])
	if n < 2 || n > uint64(size-tail) {
		return false
	}
	text := make([]byte, min(n, 16))
	if fileformat.ReadAt(r, text, size-tail-int64(n)) != nil || text[0] != '{' {
		return false
	}
	next := bytes.TrimLeft(text[1:], " \n")
	return len(next) > 0 && (next[0] == '"' || next[0] == '}')
}

// FindTrailer returns the end of a trailer that lies within data and describes all bytes before it,
// or -1 if there is none. It reads each byte at most twice, whatever data holds.
func FindTrailer(data []byte) int {
	begin := []byte(`{"cls":`)
	for from := 0; ; {
		i := bytes.Index(data[from:], begin)
		if i < 0 {
			return -1
		}
		from += i
		s := jsonscan.New(data[from:])
		err := s.Skip()
		end := from + max(s.Pos(), len(begin))
		if err == nil && len(data)-end >= tail && binary.LittleEndian.Uint64(data[end:]) == uint64(end-from) {
			if _, err := Parse(data[from:end], from, Limits{}); err == nil {
				return end + tail
			}
		}
		from = end
	}
}
