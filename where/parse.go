package where

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/nestedkey"
)

// ErrSyntax says that a text is no condition.
var ErrSyntax = errors.New("where syntax")

const (
	maxBytes = 1 << 16
	maxDepth = 100
)

// The tokens of the grammar. The exponent of a number is bounded, so that its exact value is small.
var (
	token      = regexp.MustCompile(`^([A-Za-z0-9_/.]+|[=!<>]=|.)`)
	comparison = regexp.MustCompile(`^([=!<>]=|[<>])`)
	plainKey   = regexp.MustCompile(`^[A-Za-z0-9_/.]+`)
	quotedKey  = regexp.MustCompile("^`([^`]|``)*`")
	quotedText = regexp.MustCompile(`^(?s:'([^'\\]|\\.)*'|"([^"\\]|\\.)*")`)
	boolean    = regexp.MustCompile(`^(true|false)`)
	number     = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?`)
)

// Parse reads a condition. It returns [ErrSyntax], with the offset in bytes and the text there, if
// the text is none.
func Parse(text string) (*Condition, error) {
	if len(text) > maxBytes {
		return nil, fmt.Errorf("%w: got %d bytes, want at most %d", ErrSyntax, len(text), maxBytes)
	}
	p := &parser{text: text}
	if !utf8.ValidString(text) {
		p.fail(`text is not UTF-8: write other bytes as \xff`)
		return nil, p.err
	}
	root := p.or()
	if p.rest() != "" {
		p.fail("want one of == != < <= > >= in after a key, and, or, or the end")
	}
	if p.err != nil {
		return nil, p.err
	}
	return &Condition{root}, nil
}

// A parser is at an offset of a text: at its end after the first error, which it keeps.
type parser struct {
	text  string
	at    int
	depth int
	err   error
}

// fail keeps the first error.
func (p *parser) fail(format string, args ...any) {
	if p.err != nil {
		return
	}
	got := "the end"
	if p.at < len(p.text) {
		got = errtext.Quote(p.text[p.at:])
	}
	p.err = fmt.Errorf("%w: byte %d, at %s: %w", ErrSyntax, p.at, got, fmt.Errorf(format, args...))
	p.at = len(p.text)
}

// rest skips spaces, and returns the text after them.
func (p *parser) rest() string {
	rest := strings.TrimLeft(p.text[p.at:], " \t\r\n")
	p.at = len(p.text) - len(rest)
	return rest
}

// take returns what comes next if it matches a token, and "" otherwise.
func (p *parser) take(token *regexp.Regexp) string {
	got := token.FindString(p.rest())
	p.at += len(got)
	return got
}

// accept skips a word or sign if it comes next.
func (p *parser) accept(want string) bool {
	ok := token.FindString(p.rest()) == want
	if ok {
		p.at += len(want)
	}
	return ok
}

func (p *parser) expect(want string) {
	if !p.accept(want) {
		p.fail("want %q", want)
	}
}

func (p *parser) or() *node  { return p.chain(opOr, p.and) }
func (p *parser) and() *node { return p.chain(opAnd, p.unary) }

// chain reads arguments with an operation between them.
func (p *parser) chain(o op, arg func() *node) *node {
	args := []*node{arg()}
	for p.accept(string(o)) {
		args = append(args, arg())
	}
	if len(args) == 1 {
		return args[0]
	}
	return &node{op: o, args: args}
}

// unary reads a negation, a condition in parentheses or a test of a key.
func (p *parser) unary() (n *node) {
	if p.depth++; p.depth > maxDepth {
		p.fail("nested more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	switch {
	case p.accept("not"):
		return &node{op: opNot, args: []*node{p.unary()}}
	case p.accept("("):
		n = p.or()
		p.expect(")")
		return n
	case p.accept("missing"):
		return p.call(opMissing, nil)
	case p.accept("nan"):
		return p.call(opNaN, []literal{{kindNumber, "nan"}})
	}
	return p.test()
}

func (p *parser) call(o op, literals []literal) *node {
	p.expect("(")
	n := &node{op: o, key: p.key(), literals: literals}
	p.expect(")")
	return n
}

// test reads a comparison of a key, or a bare one.
func (p *parser) test() *node {
	n := &node{key: p.key()}
	if p.accept("in") {
		n.op = opIn
		p.expect("(")
		for n.literals = p.literals(nil); p.accept(","); {
			n.literals = p.literals(n.literals)
		}
		p.expect(")")
		return n
	}
	if n.op = op(p.take(comparison)); n.op == opHolds {
		n.literals = []literal{{kindBool, "true"}}
		return n
	}
	n.literals = p.literals(nil)
	if n.literals[0].kind == kindBool && n.op != opEqual && n.op != opNotEqual {
		p.fail("want == or != before true and false, got %s", n.op)
	}
	return n
}

func (p *parser) key() nestedkey.Key {
	if quoted := p.take(quotedKey); quoted != "" {
		key, err := nestedkey.Parse(strings.ReplaceAll(quoted[1:len(quoted)-1], "``", "`"))
		if err != nil {
			p.at -= len(quoted)
			p.fail("%w", err)
		}
		return key
	}
	word := p.take(plainKey)
	if p.at -= len(word); word == "" {
		p.fail("want a key; one with other characters stands between backquotes")
	} else if slices.Contains(reserved, word) {
		p.fail("want a key: write `%s` if it is one", word)
	} else {
		p.at += len(word)
	}
	return nestedkey.Key(word)
}

// literals appends a literal to a list.
func (p *parser) literals(list []literal) []literal {
	if text := p.take(quotedText); text != "" {
		return append(list, literal{kindText, p.unquoted(text)})
	}
	if text := p.take(boolean); text != "" {
		return append(list, literal{kindBool, text})
	}
	text := p.take(number)
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		p.at -= len(text)
		p.fail("want a number that float64 holds, a text between quotes, true or false")
	}
	return append(list, literal{kindNumber, text})
}

// unquoted returns what stands between the quotes of the text just taken.
func (p *parser) unquoted(quoted string) string {
	var text []byte
	for rest := quoted[1 : len(quoted)-1]; rest != ""; {
		c, wide, tail, err := strconv.UnquoteChar(rest, quoted[0])
		if err != nil {
			p.at -= len(rest) + 1
			p.fail("invalid escape")
			return ""
		}
		if rest = tail; wide {
			text = utf8.AppendRune(text, c)
		} else {
			text = append(text, byte(c))
		}
	}
	return string(text)
}
