package csv

import (
	"bytes"
	"cmp"
	"fmt"
	"io"

	"github.com/go-tensordict/tensordict/interop/internal/source"
	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
)

// A scanner splits records into fields. An endReader has replaced each CR outside of quotes.
type scanner struct {
	comma, comment byte
	ends           [256]bool // bytes that end a field without quotes, or are invalid in it

	text       []byte
	at         int
	line       int // of text[at]
	lineStart  int
	fieldLine  int // line of the last field
	fieldStart int // column of the last field
	unquoted   []byte
}

func newScanner(f *Format) *scanner {
	s := &scanner{comma: f.Comma, comment: f.Comment}
	s.ends[f.Comma], s.ends['\n'], s.ends['"'] = true, true, true
	return s
}

// reset begins a text. line is the number of its first line.
func (s *scanner) reset(text []byte, line int) {
	s.text, s.at, s.line, s.lineStart = text, 0, line, 0
}

// skipped reports whether a line is empty or a comment.
func skipped(line []byte, comment byte) bool {
	return line[0] == '\n' || comment != 0 && line[0] == comment
}

// more moves to the next record.
func (s *scanner) more() {
	for s.at < len(s.text) && skipped(s.text[s.at:], s.comment) {
		n := bytes.IndexByte(s.text[s.at:], '\n')
		if n < 0 {
			s.at = len(s.text)
			return
		}
		s.at += n + 1
		s.newLine()
	}
}

// newLine counts a line that ended before s.at.
func (s *scanner) newLine() { s.line, s.lineStart = s.line+1, s.at }

// field returns the next field of a record, which is valid until the next call. It reports whether
// the field is quoted, and whether it is the last one.
func (s *scanner) field() (field []byte, quoted, last bool, err error) {
	s.fieldLine, s.fieldStart = s.line, s.at-s.lineStart+1
	if s.at < len(s.text) && s.text[s.at] == '"' {
		field, last, err = s.quoted()
		return field, true, last, err
	}
	rest := s.text[s.at:]
	i := 0
	for i < len(rest) && !s.ends[rest[i]] {
		i++
	}
	s.at += i
	if i == len(rest) {
		return rest, false, true, nil
	}
	s.at++
	field = rest[:i]
	switch rest[i] {
	case s.comma:
		return field, false, false, nil
	case '"':
		return nil, false, false, fmt.Errorf("%w: got one in a field without quotes, want the field quoted and its quotes doubled", ErrSyntax)
	}
	s.newLine()
	return field, false, true, nil
}

// quoted is field for a field that begins with a quote.
func (s *scanner) quoted() (field []byte, last bool, err error) {
	s.unquoted = s.unquoted[:0]
	for s.at++; ; s.at++ {
		n := bytes.IndexByte(s.text[s.at:], '"')
		if n < 0 {
			return nil, false, fmt.Errorf("%w: got the end of the record, want a closing quote", ErrSyntax)
		}
		part := s.text[s.at : s.at+n]
		s.countLines(part)
		s.at += n + 1
		rest := s.text[s.at:]
		if len(rest) == 0 || rest[0] != '"' {
			last, err = s.after(rest)
			if len(s.unquoted) == 0 {
				return part, last, err
			}
			s.unquoted = append(s.unquoted, part...)
			return s.unquoted, last, err
		}
		s.unquoted = append(append(s.unquoted, part...), '"')
	}
}

// countLines counts the line ends in part, which begins at s.at.
func (s *scanner) countLines(part []byte) {
	if n := bytes.Count(part, []byte{'\n'}); n > 0 {
		s.line, s.lineStart = s.line+n, s.at+bytes.LastIndexByte(part, '\n')+1
	}
}

// after moves past the text after a closing quote, and reports whether the record ends there.
func (s *scanner) after(rest []byte) (last bool, err error) {
	switch {
	case len(rest) == 0:
		return true, nil
	case rest[0] == s.comma:
		s.at++
		return false, nil
	case rest[0] == '\n':
		s.at++
		s.newLine()
		return true, nil
	}
	return false, fmt.Errorf("%w: got %q after a closing quote, want the end of the field", ErrSyntax, rest[0])
}

// wrongCount returns ErrFields for a record, after n of its fields were read. key is the key of the
// first column without a field, or "".
func (s *scanner) wrongCount(n, want int, last bool, line int, key nestedkey.Key) error {
	for !last {
		var err error
		if _, _, last, err = s.field(); err != nil {
			return s.fail("", err)
		}
		n++
	}
	err := fmt.Errorf("%w: got %d, want %d", ErrFields, n, want)
	if want == 1 {
		err = fmt.Errorf("%w: set Comma to what separates the fields, if it is another character", err)
	}
	return &ParseError{Line: line, Key: key, Err: err}
}

// splitter returns a splitter of r into records of at most most bytes; 0 or less means maxRecord.
func (f *Format) splitter(r io.Reader, most int) *table.Splitter {
	most = cmp.Or(max(0, most), maxRecord)
	return table.NewSplitter(&endReader{r: source.Open(r), comment: f.Comment}, &records{comment: f.Comment}, most)
}

// records finds the ends of records: a record ends with the first line end before which the number
// of quotes is even.
type records struct {
	comment byte
	quotes  int
	skipped bool // the record is a comment
}

// Ends reports whether the record ends after part, which is the first part of the record if first
// is set.
func (r *records) Ends(part []byte, first bool) bool {
	if first {
		r.quotes, r.skipped = 0, len(part) > 0 && r.comment != 0 && part[0] == r.comment
	}
	r.quotes += bytes.Count(part, []byte{'"'})
	return r.skipped || r.quotes%2 == 0
}

// Skips reports whether a text is not a record.
func (r *records) Skips(text []byte) bool { return skipped(text, r.comment) }
