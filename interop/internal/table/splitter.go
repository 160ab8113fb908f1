package table

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

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

// bom is a byte order mark.
var bom = []byte("\ufeff")

// ErrText says that a file is not a text in UTF-8 or another encoding that keeps ASCII.
var ErrText = errors.New("not a text")

// notTexts has the first bytes of files that are not texts, and what to do with them.
var notTexts = []struct{ begin, what string }{
	{"\x1f\x8b", "got gzip, want the file decompressed: run gunzip first"},
	{"\x28\xb5\x2f\xfd", "got zstd, want the file decompressed: run unzstd first"},
	{"\xff\xfe", "got UTF-16, want UTF-8: convert it, such as by iconv -f UTF-16 -t UTF-8"},
	{"\xfe\xff", "got UTF-16, want UTF-8: convert it, such as by iconv -f UTF-16 -t UTF-8"},
}

// CheckText returns [ErrText] for a file whose first bytes say that it is not a text.
func CheckText(begin []byte) error {
	for _, x := range notTexts {
		if bytes.HasPrefix(begin, []byte(x.begin)) {
			return fmt.Errorf("%w: %s", ErrText, x.what)
		}
	}
	return nil
}

// maxText bounds the text of a chunk. A chunk that reaches it has fewer rows.
const maxText = 16 << 20

// A Splitter splits a file into the texts of chunks, at the ends of rows. Not safe for concurrent
// use.
type Splitter struct {
	r     *bufio.Reader
	begun bool // past the position of a byte order mark
	rows  Rows
	most  int // largest number of bytes in a row
	line  int // number of the next line
	err   error
}

// NewSplitter returns a splitter of r, which skips a byte order mark. Rows have at most most bytes.
func NewSplitter(r io.Reader, rows Rows, most int) *Splitter {
	return &Splitter{r: bufio.NewReaderSize(r, 1<<16), rows: rows, most: most, line: 1}
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
			if err := CheckText(part); err != nil {
				s.err = &ParseError{Line: 1, Err: err}
				return text
			}
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
		switch err {
		case nil:
			if s.line++; ends {
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

// tooLong returns ErrTooLong for a row that begins in line first.
func (s *Splitter) tooLong(first int) error {
	if s.line == first {
		return fmt.Errorf("%w: got more than %d bytes: raise MaxRecord", ErrTooLong, s.most)
	}
	return fmt.Errorf("%w: got more than %d bytes up to line %d: close a quote, or raise MaxRecord", ErrTooLong, s.most, s.line)
}
