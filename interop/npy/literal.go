package npy

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/go-tensordict/tensordict/internal/errtext"
)

// A literal is a value as Python writes it: a string, an int, a bool, a tuple, a list or a dict.
//
//	value = string | int | "True" | "False" | "(" items ")" | "[" items "]" | "{" pairs "}"
//	items = [ value { "," value } [ "," ] ]
//	pairs = [ string ":" value { "," string ":" value } [ "," ] ]
type literal any

type (
	tuple []literal
	list  []literal
	dict  map[string]literal
)

// maxDepth is how deep brackets may be nested.
const maxDepth = 32

// parseLiteral returns the literal that text holds, between white space.
func parseLiteral(text string) (literal, error) {
	p := &parser{text: text}
	v, err := p.value()
	if err == nil && p.peek() != 0 {
		err = p.unexpected("nothing more")
	}
	return v, err
}

// A parser parses text from a byte on.
type parser struct {
	text  string
	at    int
	depth int // of brackets
}

// peek skips white space, and returns the byte after it, or 0 at the end.
func (p *parser) peek() byte {
	for ; p.at < len(p.text); p.at++ {
		if c := p.text[p.at]; !strings.ContainsRune(" \t\r\n\f", rune(c)) {
			return c
		}
	}
	return 0
}

// unexpected says that something other than want is next.
func (p *parser) unexpected(want string) error {
	return corrupt("header: got %s at byte %d, want %s", errtext.Quote(p.text[p.at:]), p.at, want)
}

func (p *parser) value() (literal, error) {
	switch c := p.peek(); c {
	case '{':
		return p.dict()
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

// brackets parses what item parses, with commas between, up to a closing bracket. It reports
// whether a comma is before that.
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
	comma, err = p.brackets(end, func() error {
		v, err := p.value()
		all = append(all, v)
		return err
	})
	return all, comma, err
}

func (p *parser) dict() (dict, error) {
	d := dict{}
	_, err := p.brackets('}', func() error {
		key, err := p.key()
		if err != nil {
			return err
		}
		if _, twice := d[key]; twice {
			return corrupt("header: duplicate key %s", errtext.Quote(key))
		}
		if p.peek() != ':' {
			return p.unexpected(`":"`)
		}
		p.at++
		d[key], err = p.value()
		return err
	})
	return d, err
}

func (p *parser) key() (string, error) {
	v, err := p.value()
	key, ok := v.(string)
	if err == nil && !ok {
		err = corrupt("header: got the key %v, want a string", v)
	}
	return key, err
}

// string parses a string, whose quote is next.
func (p *parser) string() (string, error) {
	var b strings.Builder
	quote := p.text[p.at]
	for rest := p.text[p.at+1:]; rest != ""; {
		switch rest[0] {
		case quote:
			p.at = len(p.text) - len(rest) + 1
			return b.String(), nil
		case '\\':
			r, _, tail, err := strconv.UnquoteChar(rest, quote)
			if err != nil {
				return "", corrupt("header: got %s, want an escape", errtext.Quote(rest))
			}
			b.WriteRune(r)
			rest = tail
		default:
			b.WriteByte(rest[0])
			rest = rest[1:]
		}
	}
	return "", p.unexpected("a string that ends")
}

// word parses a number, a bool, or a string with a prefix. Python 2 wrote numbers with an "L".
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
	case (word == "u" || word == "b") && n < len(rest) && (rest[n] == '\'' || rest[n] == '"'):
		p.at += n
		return p.string()
	}
	i, err := strconv.Atoi(strings.TrimSuffix(word, "L"))
	if err != nil {
		return nil, p.unexpected("a value")
	}
	p.at += n
	return i, nil
}
