package jsonscan

import (
	"math"
	"strconv"
	"unicode/utf8"
)

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
