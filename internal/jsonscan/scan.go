package jsonscan

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ErrSyntax says that a text is not JSON, or not the JSON that was asked for.
var ErrSyntax = errors.New("not the JSON that is wanted")

// MaxDepth is how deep lists and objects may be nested, unless Reset says less.
const MaxDepth = 1000

// A Scanner is a place in a JSON text. Each of its methods but [Scanner.Next] and [Scanner.End]
// reads one value whole, or returns an error, after which the Scanner must not be used. Not safe
// for concurrent use.
type Scanner struct {
	data  []byte
	pos   int
	depth int
	most  int // the deepest depth

	reuse bool   // whether strings are unescaped in the memory of buf
	buf   []byte // the last string that was, if reuse
}

// New returns a Scanner at the start of data, which must not change while it is used.
func New(data []byte) *Scanner { return &Scanner{data: data, most: MaxDepth} }

// Reset has s be at the start of other data, in which lists and objects may be nested at most
// depth deep, or [MaxDepth] if that is less. From then on a string that s returns is valid until it
// reads the next, and s allocates nothing.
func (s *Scanner) Reset(data []byte, depth int) {
	*s = Scanner{data: data, most: min(depth, MaxDepth), reuse: true, buf: s.buf}
}

// Pos returns the number of bytes that have been read.
func (s *Scanner) Pos() int { return s.pos }

// fail returns an error at the place where s is.
func (s *Scanner) fail(format string, args ...any) error {
	return fmt.Errorf("%w: byte %d: "+format, append([]any{ErrSyntax, s.pos}, args...)...)
}

// Next returns the first byte of the next value, or 0 at the end: '{', '[', '"', 't', 'f', 'n',
// '-', a digit, 'N' of NaN or 'I' of Infinity. Other bytes begin no value.
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

// take reads the byte c, after white space, if it comes next.
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

// Open reads the byte that opens a list, for a loop over its elements that is not a call of
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

// OpenObject is [Scanner.Open] of an object. Before each value [Scanner.Name] reads its name.
func (s *Scanner) OpenObject() error { return s.enter('{', "an object") }

// More reads the comma before element i of a list or field i of an object, and reports whether it
// is there; if not, More has read the byte that closes: ']' or '}'.
func (s *Scanner) More(i int, shut byte) (bool, error) { return s.more(i == 0, shut) }

// more reads what stands between two elements and reports whether there is a further one, or reads
// the byte that closes.
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
// value. name is valid until then. A name may come twice: that is for field to refuse.
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

// Name reads the name of a field and the colon. It returns the bytes as [Scanner.Text] does.
func (s *Scanner) Name() ([]byte, error) {
	name, err := s.Text()
	if err == nil && !s.take(':') {
		err = s.fail("want ':'")
	}
	return name, err
}

// Array reads a list and calls element with the number of each of its elements; element must read
// the value.
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

// Skip reads a value of any kind and keeps nothing of it. It accepts numbers of any size and
// strings that have no meaning in Go.
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

// skipText reads a string whatever its escapes mean.
func (s *Scanner) skipText() error {
	for s.pos++; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			return nil
		case c < 0x20:
			return s.fail("a control character in a string")
		case c == '\\':
			if s.pos++; s.pos == len(s.data) || strings.IndexByte(`"\/bfnrtu`, s.data[s.pos]) < 0 {
				return s.fail("an escape that is none")
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
	return s.fail("a string without end")
}

// Raw reads a value of any kind and returns its text, which the caller must not change.
func (s *Scanner) Raw() ([]byte, error) {
	s.space()
	from := s.pos
	err := s.Skip()
	return s.data[from:s.pos:s.pos], err
}

// Later passes over a value of any kind and returns a Scanner that reads it, with errors that say
// the byte of the whole text.
func (s *Scanner) Later() (*Scanner, error) {
	s.space()
	from := s.pos
	err := s.Skip()
	return &Scanner{data: s.data[:s.pos:s.pos], pos: from, depth: s.depth, most: s.most}, err
}

// End returns an error unless nothing but white space is left.
func (s *Scanner) End() error {
	if s.Next() != 0 || s.pos < len(s.data) {
		return s.fail("trailing data")
	}
	return nil
}

// word reads a word of letters.
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

// Digits reads a number and returns its text as it is spelled, which the caller must not change.
// It also takes NaN, Infinity and -Infinity, as Python writes them.
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

// Int reads a number without fraction or exponent that an int64 holds.
func (s *Scanner) Int() (int64, error) {
	n, _, isInt, err := s.number()
	if err == nil && !isInt {
		err = s.fail("want an integer of 64 bits")
	}
	return n, err
}

// Number reads a number: an int64 if it has neither fraction nor exponent, and else a float64. It
// returns an error for an integer beyond an int64, which a float64 would change.
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

// number reads a number. One that is none, as Python writes it, is a float.
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
			err = s.fail("an integer beyond 64 bits")
		}
		return n, 0, true, err
	}
	f, err = strconv.ParseFloat(string(text), 64)
	if err != nil { // beyond a float64: Python reads infinity
		err = nil
	}
	return 0, f, false, err
}

// digits returns the text of a number as JSON spells it, nil if there is none, and whether it has
// neither fraction nor exponent.
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

// run returns where the digits end that begin at byte i.
func run(text []byte, i int) int {
	for i < len(text) && text[i]-'0' <= 9 {
		i++
	}
	return i
}

// Text reads a string. The bytes it returns are those of the text itself where there is nothing to
// unescape; the caller must not change them.
func (s *Scanner) Text() ([]byte, error) {
	if !s.take('"') {
		return nil, s.fail("want a string")
	}
	for i := s.pos; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '"':
			text := s.data[s.pos:i]
			if !utf8.Valid(text) {
				return nil, s.fail("a string that is not UTF-8")
			}
			s.pos = i + 1
			return text, nil
		case c == '\\':
			return s.escaped(i)
		case c < 0x20:
			s.pos = i
			return nil, s.fail("a control character in a string")
		}
	}
	return nil, s.fail("a string without end")
}

// escaped reads the rest of a string of which the bytes up to i have nothing to unescape.
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
				return nil, s.fail("a string that is not UTF-8")
			}
			return out, nil
		case c < 0x20:
			return nil, s.fail("a control character in a string")
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
	return nil, s.fail("a string without end")
}

// escape reads a backslash and what it escapes.
func (s *Scanner) escape() (rune, error) {
	if s.pos++; s.pos == len(s.data) {
		return 0, s.fail("a string without end")
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
	return 0, s.fail("an escape that is none")
}

// unicode reads \uXXXX, or two of them that are one character.
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
		return 0, s.fail("half of a character")
	}
	return (r-0xd800)<<10 + (low - 0xdc00) + 0x10000, nil
}

func (s *Scanner) hex() (rune, error) {
	if len(s.data)-s.pos < 6 || s.data[s.pos] != '\\' || s.data[s.pos+1] != 'u' {
		return 0, s.fail("half of a character")
	}
	n, err := strconv.ParseUint(string(s.data[s.pos+2:s.pos+6]), 16, 16)
	if err != nil {
		return 0, s.fail("an escape that is none")
	}
	s.pos += 6
	return rune(n), nil
}
