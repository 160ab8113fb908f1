package source

import (
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// A utf16Reader reads UTF-16 as UTF-8. The byte order mark becomes one of UTF-8.
type utf16Reader struct {
	r    io.Reader
	big  bool // the high byte of a unit comes first
	raw  [1 << 13]byte
	n    int    // bytes in raw
	at   int64  // bytes before raw
	text []byte // decoded and not yet read
	buf  []byte // the memory of text
	err  error
}

// Read reads UTF-8.
func (x *utf16Reader) Read(p []byte) (int, error) {
	for len(x.text) == 0 && x.err == nil {
		x.fill()
	}
	if len(x.text) == 0 {
		return 0, x.err
	}
	n := copy(p, x.text)
	x.text = x.text[n:]
	return n, nil
}

// fill reads and decodes more.
func (x *utf16Reader) fill() {
	var n int
	n, x.err = x.r.Read(x.raw[x.n:])
	x.n += n
	text, used := x.buf[:0], 0
	for used+2 <= x.n {
		c, size := rune(x.unit(used)), 2
		if utf16.IsSurrogate(c) {
			if used+4 > x.n {
				break
			}
			if c, size = utf16.DecodeRune(c, rune(x.unit(used+2))), 4; c == utf8.RuneError {
				x.err = fmt.Errorf("%w: got half of a surrogate pair in UTF-16 at byte %d", ErrText, x.at+int64(used))
				break
			}
		}
		text = utf8.AppendRune(text, c)
		used += size
	}
	copy(x.raw[:], x.raw[used:x.n])
	x.n, x.at, x.text, x.buf = x.n-used, x.at+int64(used), text, text
	if x.err == io.EOF && x.n > 0 {
		x.err = fmt.Errorf("%w: UTF-16 ends in the middle of a character at byte %d: the file is cut, get it again: %w", ErrText, x.at, io.ErrUnexpectedEOF)
	}
}

// unit returns the unit at byte i of raw.
func (x *utf16Reader) unit(i int) uint16 {
	low, high := x.raw[i], x.raw[i+1]
	if x.big {
		low, high = high, low
	}
	return uint16(high)<<8 | uint16(low)
}
