package jsonscan

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ErrSyntax says that a text is not JSON, or not the expected JSON.
var ErrSyntax = errors.New("unexpected JSON")

// MaxDepth is the largest nesting depth of lists and objects, unless Reset sets a smaller one.
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
// deep, or [MaxDepth] if that is less. After a Reset, a string that s returns is valid until s
// reads the next one, and s allocates nothing.
func (s *Scanner) Reset(data []byte, depth int) {
	*s = Scanner{data: data, most: min(depth, MaxDepth), reuse: true, buf: s.buf}
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

// word reads want, a word of letters, if it is next.
func (s *Scanner) word(want string) bool {
	s.space()
	if len(s.data)-s.pos < len(want) || string(s.data[s.pos:s.pos+len(want)]) != want {
		return false
	}
	s.pos += len(want)
	return true
}

// Null reads null.
func (s *Scanner) Null() error {
	if !s.word("null") {
		return s.fail("want null")
	}
	return nil
}

// Bool reads true or false.
func (s *Scanner) Bool() (bool, error) {
	if s.word("true") {
		return true, nil
	}
	if s.word("false") {
		return false, nil
	}
	return false, s.fail("want true or false")
}

// Digits reads a number and returns its text, which the caller must not change. It also accepts
// Python's NaN, Infinity and -Infinity.
func (s *Scanner) Digits() ([]byte, error) {
	if text, _ := s.digits(); text != nil {
		return text, nil
	}
	from := s.pos
	if s.word("NaN") || s.word("Infinity") || s.word("-Infinity") {
		return s.data[from:s.pos:s.pos], nil
	}
	return nil, s.fail("want a number")
}

// IsWord reports whether a string is a float that JSON has no notation for.
func IsWord(text []byte) bool {
	switch string(text) {
	case "NaN", "+Inf", "-Inf", "Infinity", "-Infinity":
		return true
	}
	return false
}

// Int reads a number without fraction or exponent that fits an int64.
func (s *Scanner) Int() (int64, error) {
	n, _, isInt, err := s.number()
	if err == nil && !isInt {
		err = s.fail("want a 64-bit integer")
	}
	return n, err
}

// Number reads a number: an int64 if it has neither fraction nor exponent, and otherwise a float64.
// It returns an error for an integer that does not fit an int64, since a float64 would change it.
func (s *Scanner) Number() (any, error) {
	n, f, isInt, err := s.number()
	if err != nil {
		return nil, err
	}
	if isInt {
		return n, nil
	}
	return f, nil
}

// number reads a number. Python's NaN, Infinity and -Infinity are floats.
func (s *Scanner) number() (n int64, f float64, isInt bool, err error) {
	switch {
	case s.word("NaN"):
		return 0, math.NaN(), false, nil
	case s.word("Infinity"):
		return 0, math.Inf(1), false, nil
	case s.word("-Infinity"):
		return 0, math.Inf(-1), false, nil
	}
	text, isInt := s.digits()
	if text == nil {
		return 0, 0, false, s.fail("want a value")
	}
	if isInt {
		if n, err = strconv.ParseInt(string(text), 10, 64); err != nil {
			err = s.fail("integer does not fit 64 bits")
		}
		return n, 0, true, err
	}
	f, err = strconv.ParseFloat(string(text), 64)
	if err != nil { // out of range: f is infinite, as in Python
		err = nil
	}
	return 0, f, false, err
}

// digits returns the text of a JSON number, or nil if there is none, and whether it has neither
// fraction nor exponent.
func (s *Scanner) digits() (text []byte, isInt bool) {
	s.space()
	rest := s.data[s.pos:]
	i := 0
	if has(rest, 0, '-') {
		i = 1
	}
	from := i
	if has(rest, i, '0') {
		i++
	} else if i = run(rest, i); i == from {
		return nil, false
	}
	isInt = true
	if has(rest, i, '.') {
		from, isInt = i+1, false
		if i = run(rest, from); i == from {
			return nil, false
		}
	}
	if has(rest, i, 'e') || has(rest, i, 'E') {
		from, isInt = i+1, false
		if has(rest, from, '+') || has(rest, from, '-') {
			from++
		}
		if i = run(rest, from); i == from {
			return nil, false
		}
	}
	s.pos += i
	return rest[:i:i], isInt
}

// has reports whether byte i of a text is c.
func has(text []byte, i int, c byte) bool { return i < len(text) && text[i] == c }

// run returns the end of the digits that begin at byte i.
func run(text []byte, i int) int {
	for i < len(text) && text[i]-'0' <= 9 {
		i++
	}
	return i
}

// Text reads a string. If it has no escapes, the bytes alias the text; the caller must not change
// them.
func (s *Scanner) Text() ([]byte, error) {
	if !s.take('"') {
		return nil, s.fail("want a string")
	}
	for i := s.pos; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '"':
			text := s.data[s.pos:i]
			if !utf8.Valid(text) {
				return nil, s.fail("string is not UTF-8")
			}
			s.pos = i + 1
			return text, nil
		case c == '\\':
			return s.escaped(i)
		case c < 0x20:
			s.pos = i
			return nil, s.fail("control character in a string")
		}
	}
	return nil, s.fail("unterminated string")
}

// escaped reads the rest of a string whose bytes up to i have no escapes.
func (s *Scanner) escaped(i int) ([]byte, error) {
	out := append(s.buf[:0], s.data[s.pos:i]...)
	for s.pos = i; s.pos < len(s.data); {
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			if s.reuse {
				s.buf = out
			}
			if !utf8.Valid(out) {
				return nil, s.fail("string is not UTF-8")
			}
			return out, nil
		case c < 0x20:
			return nil, s.fail("control character in a string")
		case c != '\\':
			out = append(out, c)
			s.pos++
		default:
			r, err := s.escape()
			if err != nil {
				return nil, err
			}
			out = utf8.AppendRune(out, r)
		}
	}
	return nil, s.fail("unterminated string")
}

// escape reads an escape.
func (s *Scanner) escape() (rune, error) {
	if s.pos++; s.pos == len(s.data) {
		return 0, s.fail("unterminated string")
	}
	c := s.data[s.pos]
	if c == 'u' {
		s.pos--
		return s.unicode()
	}
	const names, meanings = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	for i := range len(names) {
		if names[i] == c {
			s.pos++
			return rune(meanings[i]), nil
		}
	}
	return 0, s.fail("invalid escape")
}

// unicode reads \uXXXX, or two of them that form a surrogate pair.
func (s *Scanner) unicode() (rune, error) {
	r, err := s.hex()
	if err != nil || r < 0xd800 || r > 0xdfff {
		return r, err
	}
	low, err := s.hex()
	if err != nil {
		return 0, err
	}
	if r >= 0xdc00 || low < 0xdc00 || low > 0xdfff {
		return 0, s.fail("half of a surrogate pair")
	}
	return (r-0xd800)<<10 + (low - 0xdc00) + 0x10000, nil
}

func (s *Scanner) hex() (rune, error) {
	if len(s.data)-s.pos < 6 || s.data[s.pos] != '\\' || s.data[s.pos+1] != 'u' {
		return 0, s.fail("half of a surrogate pair")
	}
	n, err := strconv.ParseUint(string(s.data[s.pos+2:s.pos+6]), 16, 16)
	if err != nil {
		return 0, s.fail("invalid escape")
	}
	s.pos += 6
	return rune(n), nil
}
