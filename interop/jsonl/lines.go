package jsonl

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// maxText bounds the text of a chunk, which then ends before it has all its rows.
const maxText = 16 << 20

const bom = "\ufeff"

// A splitter cuts a file into the texts of chunks, at ends of lines.
type splitter struct {
	r    *bufio.Reader
	most int // bytes of a line
	line int // that comes next
	err  error
}

func newSplitter(r io.Reader, most int) *splitter {
	s := &splitter{r: bufio.NewReaderSize(r, 1<<16), most: most, line: 1}
	if b, _ := s.r.Peek(len(bom)); string(b) == bom {
		_, _ = s.r.Discard(len(bom))
	}
	return s
}

// next appends lines to text until a number of rows, fewer at the end of the file or if they are
// long, and returns their number. Rows before an error are returned with it; at the end that is
// io.EOF, and stays so.
func (s *splitter) next(text []byte, rows int) ([]byte, int, error) {
	n := 0
	for n < rows && len(text) < maxText && s.err == nil {
		from := len(text)
		if text = s.appendLine(text); !blank(text[from:]) {
			n++
		}
	}
	return text, n, s.err
}

// appendLine appends a line, with its end.
func (s *splitter) appendLine(text []byte) []byte {
	for from := len(text); ; {
		part, err := s.r.ReadSlice('\n')
		if n := len(text) - from + len(part); n > s.most {
			s.err = &ParseError{Line: s.line, Err: fmt.Errorf("%w: got %d bytes or more, want at most %d", ErrTooLong, n, s.most)}
			return text[:from]
		}
		text = append(text, part...)
		switch err {
		case nil:
			s.line++
			return text
		case bufio.ErrBufferFull:
		case io.EOF:
			s.err = err
			return text
		default:
			s.err = &ParseError{Line: s.line, Err: err}
			return text[:from]
		}
	}
}

// blank reports whether a line has nothing but white space.
func blank(line []byte) bool {
	if len(line) > 0 && line[0] > ' ' {
		return false
	}
	return len(bytes.TrimLeft(line, " \t\r\n")) == 0
}
