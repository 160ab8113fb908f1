package jsonscan

import (
	"errors"
	"fmt"
	"strings"
)

// ErrSyntax says that a text is not JSON, or not the expected JSON.
var ErrSyntax = errors.New("unexpected JSON")

// MaxDepth is the largest nesting depth of lists and objects, unless Reset sets another one.
const MaxDepth = 1000

// A Scanner is a position in a JSON text. Each of its methods except [Scanner.Next] and
// [Scanner.End] reads one whole value, or returns an error, after which the Scanner must not be
// used. Not safe for concurrent use.
type Scanner struct {
	data  []byte
	pos   int
	depth int
	most  int // largest allowed depth

	reuse bool   // strings are unescaped in the memory of buf
	buf   []byte // the last unescaped string, if reuse
}

// New returns a Scanner at the start of data, which must not change while the Scanner is used.
func New(data []byte) *Scanner { return &Scanner{data: data, most: MaxDepth} }

// Reset moves s to the start of other data. Lists and objects in it may be nested at most depth
// deep, or 100,000 if that is less: each takes some of the stack. After a Reset, a string that s
// returns is valid until s reads the next one, and s allocates nothing.
func (s *Scanner) Reset(data []byte, depth int) {
	*s = Scanner{data: data, most: min(depth, 100_000), reuse: true, buf: s.buf}
}

// Pos returns the number of bytes read so far.
func (s *Scanner) Pos() int { return s.pos }

// fail returns an error at the current position.
func (s *Scanner) fail(format string, args ...any) error {
	return fmt.Errorf("%w: byte %d: "+format, append([]any{ErrSyntax, s.pos}, args...)...)
}

// Next returns the first byte of the next value, or 0 at the end: '{', '[', '"', 't', 'f', 'n',
// '-', a digit, 'N' for NaN or 'I' for Infinity. No value begins with another byte.
func (s *Scanner) Next() byte {
	if s.pos < len(s.data) && s.data[s.pos] > ' ' {
		return s.data[s.pos]
	}
	s.space()
	if s.pos == len(s.data) {
		return 0
	}
	return s.data[s.pos]
}

func (s *Scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// take reads the byte c, after white space, if it is next.
func (s *Scanner) take(c byte) bool {
	if s.Next() != c {
		return false
	}
	s.pos++
	return true
}

// enter reads the byte that opens a list or an object.
func (s *Scanner) enter(open byte, what string) error {
	if !s.take(open) {
		return s.fail("want %s", what)
	}
	if s.depth++; s.depth > s.most {
		return s.fail("nested more than %d deep", s.most)
	}
	return nil
}

// Open reads the byte that opens a list, for loops over its elements that do not use
// [Scanner.Array]:
//
//	err := s.Open()
//	for i, ok := 0, true; err == nil; i++ {
//		if ok, err = s.More(i, ']'); !ok {
//			break
//		}
//		err = element(i)
//	}
func (s *Scanner) Open() error { return s.enter('[', "a list") }

// OpenObject is [Scanner.Open] for an object. Before each value, [Scanner.Name] reads its name.
func (s *Scanner) OpenObject() error { return s.enter('{', "an object") }

// More reads the comma before element i of a list or field i of an object, and reports whether
// there is one. If there is none, More has read the closing byte, ']' or '}'.
func (s *Scanner) More(i int, shut byte) (bool, error) { return s.more(i == 0, shut) }

// more is More; first is set for the first element.
func (s *Scanner) more(first bool, shut byte) (bool, error) {
	if s.take(shut) {
		s.depth--
		return false, nil
	}
	if !first && !s.take(',') {
		return false, s.fail("want ',' or '%c'", shut)
	}
	return true, nil
}

// Object reads an object and calls field with the name of each of its fields; field must read the
// value. name is valid until then. Object allows duplicate names; field may refuse them.
func (s *Scanner) Object(field func(name []byte) error) error {
	if err := s.enter('{', "an object"); err != nil {
		return err
	}
	for first := true; ; first = false {
		if ok, err := s.more(first, '}'); !ok {
			return err
		}
		name, err := s.Name()
		if err != nil {
			return err
		}
		if err := field(name); err != nil {
			return err
		}
	}
}

// Name reads the name of a field and the colon. The bytes are as in [Scanner.Text].
func (s *Scanner) Name() ([]byte, error) {
	name, err := s.Text()
	if err == nil && !s.take(':') {
		err = s.fail("want ':'")
	}
	return name, err
}

// Array reads a list and calls element with the index of each element; element must read the value.
func (s *Scanner) Array(element func(i int) error) error {
	if err := s.enter('[', "a list"); err != nil {
		return err
	}
	for i := 0; ; i++ {
		if ok, err := s.more(i == 0, ']'); !ok {
			return err
		}
		if err := element(i); err != nil {
			return err
		}
	}
}

// Skip reads a value of any kind and discards it. It accepts numbers of any size, and strings that
// a Go string cannot hold.
func (s *Scanner) Skip() error {
	switch c := s.Next(); c {
	case '{':
		return s.skipObject()
	case '[':
		return s.Array(s.skipElement)
	case '"':
		return s.skipText()
	case 't', 'f':
		_, err := s.Bool()
		return err
	case 'n':
		return s.Null()
	}
	if s.word("NaN") || s.word("Infinity") || s.word("-Infinity") {
		return nil
	}
	if text, _ := s.digits(); text == nil {
		return s.fail("want a value")
	}
	return nil
}

func (s *Scanner) skipElement(int) error { return s.Skip() }

func (s *Scanner) skipObject() error {
	if err := s.enter('{', "an object"); err != nil {
		return err
	}
	for first := true; ; first = false {
		if ok, err := s.more(first, '}'); !ok {
			return err
		}
		if s.Next() != '"' {
			return s.fail("want a string")
		}
		if err := s.skipText(); err != nil {
			return err
		}
		if !s.take(':') {
			return s.fail("want ':'")
		}
		if err := s.Skip(); err != nil {
			return err
		}
	}
}

// skipText reads a string without checking the meaning of its escapes.
func (s *Scanner) skipText() error {
	for s.pos++; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			return nil
		case c < 0x20:
			return s.fail("control character in a string")
		case c == '\\':
			if s.pos++; s.pos == len(s.data) || strings.IndexByte(`"\/bfnrtu`, s.data[s.pos]) < 0 {
				return s.fail("invalid escape")
			}
			if s.data[s.pos] == 'u' {
				s.pos--
				if _, err := s.hex(); err != nil {
					return err
				}
				s.pos--
			}
		}
	}
	return s.fail("unterminated string")
}

// Raw reads a value of any kind and returns its text, which the caller must not change.
func (s *Scanner) Raw() ([]byte, error) {
	s.space()
	from := s.pos
	err := s.Skip()
	return s.data[from:s.pos:s.pos], err
}

// Later skips a value of any kind and returns a Scanner that reads it. Errors have positions in the
// whole text.
func (s *Scanner) Later() (*Scanner, error) {
	s.space()
	from := s.pos
	err := s.Skip()
	return &Scanner{data: s.data[:s.pos:s.pos], pos: from, depth: s.depth, most: s.most}, err
}

// End returns an error unless only white space is left.
func (s *Scanner) End() error {
	if s.Next() != 0 || s.pos < len(s.data) {
		return s.fail("trailing data")
	}
	return nil
}
