package csv

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// maxRecord bounds a record, unless ReadOptions say otherwise.
const maxRecord = 1 << 20

// maxText bounds the text of a chunk, which then ends before it has all its rows.
const maxText = 16 << 20

// A splitter cuts a file into the texts of chunks, at ends of records: where the number of quotes
// is even.
type splitter struct {
	r       *bufio.Reader
	comment byte
	most    int // bytes of a record
	line    int // that comes next
	err     error
}

func newSplitter(r io.Reader, f *Format, most int) *splitter {
	s := &splitter{r: bufio.NewReaderSize(r, 1<<16), comment: f.Comment, most: most, line: 1}
	if b, _ := s.r.Peek(len(bom)); string(b) == bom {
		_, _ = s.r.Discard(len(bom))
	}
	return s
}

// next appends to text so many records, fewer at the end of the file or if they are long, and
// returns how many they are. What came before an error is returned with it; at the end that is
// io.EOF, and stays so.
func (s *splitter) next(text []byte, rows int) ([]byte, int, error) {
	n := 0
	for n < rows && len(text) < maxText && s.err == nil {
		from := len(text)
		text = s.record(text)
		if len(text) > from && !skipped(text[from:], s.comment) {
			n++
		}
	}
	return text, n, s.err
}

// record appends a record, or a line that is skipped.
func (s *splitter) record(text []byte) []byte {
	from, first, quotes := len(text), s.line, 0
	for {
		line, err := s.r.ReadSlice('\n')
		text = append(text, line...)
		if len(text)-from > s.most {
			s.err = &ParseError{Line: first, Err: fmt.Errorf("%w: got more than %d bytes, want at most that: is a quote not closed?", ErrTooLong, s.most)}
			return text[:from]
		}
		quotes += bytes.Count(line, []byte{'"'})
		switch err {
		case nil:
			s.line++
			if quotes%2 == 0 || s.comment != 0 && text[from] == s.comment {
				return text
			}
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
