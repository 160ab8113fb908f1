package table

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-tensordict/tensordict/interop/internal/source"
	"github.com/go-tensordict/tensordict/nestedkey"
)

// ErrTooLong says that a row has too many bytes.
var ErrTooLong = errors.New("row is too long")

// A ParseError says where in a file an error is.
type ParseError struct {
	Line   int           // of the beginning of the field or row, from 1
	Column int           // of the first byte of the field in its line, from 1; 0 if unknown
	Key    nestedkey.Key // of the entry, or ""
	Err    error         // the cause
}

// Error returns the line, column, key and cause.
func (e *ParseError) Error() string {
	text := fmt.Sprintf("line %d", e.Line)
	if e.Column > 0 {
		text += fmt.Sprintf(", column %d", e.Column)
	}
	if e.Key != "" {
		text += fmt.Sprintf(", %q", string(e.Key))
	}
	return text + ": " + e.Err.Error()
}

// Unwrap returns e.Err.
func (e *ParseError) Unwrap() error { return e.Err }

// Rows finds the ends of rows in a file. Its methods are called in the order of the file.
type Rows interface {
	// Ends reports whether a row ends after part. A row is passed part by part; first is set for
	// its first part.
	Ends(part []byte, first bool) bool
	// Skips reports whether a text is not a row, such as an empty line.
	Skips(text []byte) bool
}

// A LineCounter is Rows whose text marks the ends of lines by other bytes than LF.
type LineCounter interface {
	// Lines returns the number of line ends in a part of the text.
	Lines(part []byte) int
}

// bom is a byte order mark.
var bom = []byte("\ufeff")

// ErrText says that a file is not a text in UTF-8 or another encoding that keeps ASCII.
var ErrText = source.ErrText

// maxText bounds the text of a chunk. A chunk that reaches it has fewer rows.
const maxText = 16 << 20

// A Splitter splits a file into the texts of chunks, at the ends of rows. Not safe for concurrent
// use.
type Splitter struct {
	r     *bufio.Reader
	begun bool // past the position of a byte order mark
	rows  Rows
	lines LineCounter // nil if LF ends lines
	most  int         // largest number of bytes in a row
	line  int         // number of the next line
	err   error
}

// NewSplitter returns a splitter of r, which skips a byte order mark. Rows have at most most bytes.
func NewSplitter(r io.Reader, rows Rows, most int) *Splitter {
	lines, _ := rows.(LineCounter)
	return &Splitter{r: bufio.NewReaderSize(r, 1<<16), rows: rows, lines: lines, most: most, line: 1}
}

// Line returns the number of the next line, from 1.
func (s *Splitter) Line() int { return s.line }

// Next appends the next n rows to text, or fewer at the end of the file or if they are long, and
// returns their number. Rows before an error are returned with it. At the end of the file the error
// is io.EOF, also in later calls. A row with too many bytes is [ErrTooLong]. Errors other than
// io.EOF are a [*ParseError].
func (s *Splitter) Next(text []byte, n int) ([]byte, int, error) {
	got := 0
	for got < n && len(text) < maxText && s.err == nil {
		from := len(text)
		text = s.row(text)
		if len(text) > from && !s.rows.Skips(text[from:]) {
			got++
		}
	}
	return text, got, s.err
}

// One replaces text by the next row, perhaps after lines to skip, and returns the number of its
// first line. Without a row it returns the error of [Splitter.Next].
func (s *Splitter) One(text []byte) (_ []byte, line int, err error) {
	for n := 0; n == 0 && err == nil; {
		line = s.line
		if text, n, err = s.Next(text[:0], 1); n > 0 {
			return text, line, nil
		}
	}
	return text, line, err
}

// row appends a row, or a line to skip.
func (s *Splitter) row(text []byte) []byte {
	for from, first := len(text), s.line; ; {
		part, err := s.r.ReadSlice('\n')
		if !s.begun {
			part, s.begun = bytes.TrimPrefix(part, bom), true
		}
		if len(text)-from+len(part) > s.most {
			s.err = &ParseError{Line: first, Err: s.tooLong(first)}
			return text[:from]
		}
		ends := s.rows.Ends(part, len(text) == from)
		if n := len(text); n > maxText && n+len(part) > cap(text) {
			text = slices.Grow(text, n) // append grows by a quarter, which leaves much garbage
		}
		text = append(text, part...)
		if s.lines != nil {
			s.line += s.lines.Lines(part)
		} else if err == nil {
			s.line++
		}
		switch err {
		case nil:
			if ends {
				return text
			}
		case bufio.ErrBufferFull:
		case io.EOF:
			s.err = err
			return text
		default:
			if s.err = err; !isParse(err) {
				s.err = &ParseError{Line: s.line, Err: err}
			}
			return text[:from]
		}
	}
}

// isParse reports whether an error has a line.
func isParse(err error) bool {
	_, ok := errors.AsType[*ParseError](err)
	return ok
}

// tooLong returns ErrTooLong for a row that begins in line first.
func (s *Splitter) tooLong(first int) error {
	if s.line == first {
		return fmt.Errorf("%w: got more than %d bytes: raise MaxRecord", ErrTooLong, s.most)
	}
	return fmt.Errorf("%w: got more than %d bytes up to line %d: close a quote, or raise MaxRecord", ErrTooLong, s.most, s.line)
}
