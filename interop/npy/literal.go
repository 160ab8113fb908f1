package npy

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/errtext"
)

// A literal is a value in Python's notation: a string, an int, a bool, a tuple or a list.
//
//	header = "{" [ pair { "," pair } [ "," ] ] "}"
//	pair   = string ":" value
//	value  = string | int | "True" | "False" | "(" items ")" | "[" items "]"
//	items  = [ value { "," value } [ "," ] ]
type literal any

type (
	tuple []literal
	list  []literal
)

// maxDepth is the largest nesting depth of brackets.
const maxDepth = 32

// keys are the keys of a header. It has no others.
var keys = [...]string{"descr", "fortran_order", "shape"}

// parseDict returns the values of keys in the text of a header.
func parseDict(text string) (values [len(keys)]literal, err error) {
	p := &parser{text: text}
	if p.peek() != '{' {
		return values, p.unexpected("a dict")
	}
	_, err = p.brackets('}', func() error { return p.pair(values[:]) })
	switch {
	case err != nil:
		return values, err
	case p.peek() != 0 || p.at < len(text):
		return values, p.unexpected("nothing more")
	}
	if i := slices.Index(values[:], nil); i >= 0 {
		return values, corrupt("header: got no key %q", keys[i])
	}
	return values, nil
}

// pair parses a key and its value.
func (p *parser) pair(values []literal) error {
	if c := p.peek(); c != '\'' && c != '"' {
		return p.unexpected("a string")
	}
	key, err := p.string()
	if err != nil {
		return err
	}
	i := slices.Index(keys[:], key)
	switch {
	case i < 0 || values[i] != nil:
		return corrupt("header: got key %s, want each of %q once", errtext.Quote(key), keys)
	case p.peek() != ':':
		return p.unexpected(`":"`)
	}
	p.at++
	values[i], err = p.value()
	return err
}

// A parser parses text from a byte on.
type parser struct {
	text  string
	at    int
	depth int // of brackets
}

// peek skips white space and returns the next byte, or 0 at the end. A zero byte in the text is
// returned as 0 too.
func (p *parser) peek() byte {
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case ' ', '\t', '\r', '\n', '\f':
		default:
			return c
		}
	}
	return 0
}

// unexpected returns the error for text other than want.
func (p *parser) unexpected(want string) error {
	return corrupt("header: got %s at byte %d, want %s", errtext.Quote(p.text[p.at:]), p.at, want)
}

func (p *parser) value() (literal, error) {
	switch c := p.peek(); c {
	case '[':
		v, _, err := p.items(']')
		return list(v), err
	case '(':
		v, comma, err := p.items(')')
		if len(v) == 1 && !comma {
			return v[0], err
		}
		return tuple(v), err
	case '\'', '"':
		return p.string()
	}
	return p.word()
}

// brackets parses items, by item, separated by commas, up to a closing bracket. It reports whether
// there is a comma before the bracket.
func (p *parser) brackets(end byte, item func() error) (comma bool, err error) {
	if p.depth++; p.depth > maxDepth {
		return false, corrupt("header: brackets are nested more than %d deep", maxDepth)
	}
	p.at++
	for comma = true; p.peek() != end; {
		if !comma {
			return false, p.unexpected(strconv.Quote(",") + " or " + strconv.Quote(string(end)))
		}
		if err := item(); err != nil {
			return false, err
		}
		if comma = p.peek() == ','; comma {
			p.at++
		}
	}
	p.at++
	p.depth--
	return comma, nil
}

func (p *parser) items(end byte) (all []literal, comma bool, err error) {
	all = make([]literal, 0, 4) // most arrays have at most 4 dims
	comma, err = p.brackets(end, func() error {
		v, err := p.value()
		all = append(all, v)
		return err
	})
	return all, comma, err
}

// string parses a string, whose opening quote is next.
func (p *parser) string() (string, error) {
	quote, rest := p.text[p.at], p.text[p.at+1:]
	if n := strings.IndexByte(rest, quote); n >= 0 && !strings.Contains(rest[:n], `\`) {
		p.at += n + 2
		return rest[:n], nil
	}
	var b []byte
	for rest != "" && rest[0] != quote {
		r, _, tail, err := strconv.UnquoteChar(rest, quote)
		if err != nil {
			return "", corrupt("header: got %s, want an escape", errtext.Quote(rest))
		}
		b, rest = utf8.AppendRune(b, r), tail
	}
	if rest == "" {
		return "", p.unexpected("a string that ends")
	}
	p.at = len(p.text) - len(rest) + 1
	return string(b), nil
}

// word parses a number, a bool, or a string with the prefix "u". A number may end with "L", as
// Python 2 wrote it. Only 0 may begin with 0.
func (p *parser) word() (literal, error) {
	rest := p.text[p.at:]
	n := strings.IndexFunc(rest, func(r rune) bool { return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if n < 0 {
		n = len(rest)
	}
	word := rest[:n]
	switch {
	case word == "True" || word == "False":
		p.at += n
		return word == "True", nil
	case word == "u" && n < len(rest) && (rest[n] == '\'' || rest[n] == '"'):
		p.at += n
		return p.string()
	}
	digits := strings.TrimSuffix(word, "L")
	i, err := strconv.Atoi(digits)
	if err != nil || i != 0 && strings.HasPrefix(strings.TrimPrefix(digits, "-"), "0") {
		return nil, p.unexpected("a value")
	}
	p.at += n
	return i, nil
}
