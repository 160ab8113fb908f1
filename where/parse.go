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

// ErrSyntax says that a text is not a condition.
var ErrSyntax = errors.New("where syntax")

const (
	maxBytes = 1 << 16
	maxDepth = 100
)

// The tokens of the grammar. The exponent of a number is bounded, so that its exact value is small.
var (
	token      = regexp.MustCompile(`^([A-Za-z0-9_/.]+|.)`)
	comparison = regexp.MustCompile(`^([=!<>]=|[<>]|in\b)`)
	keyToken   = regexp.MustCompile("^([A-Za-z0-9_/.]+|`([^`]|``)*`)")
	textToken  = regexp.MustCompile(`^('([^']|'')*'|"([^"\\]|\\.)*")`)
	letter     = regexp.MustCompile("^[A-Za-z_`]")
	boolToken  = regexp.MustCompile(`^(true|false)`)
	number     = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?`)
)

// Parse reads a condition. If text is not one, it returns [ErrSyntax] with the offset in bytes and
// the text there.
func Parse(text string) (*Condition, error) {
	if len(text) > maxBytes || !utf8.ValidString(text) {
		return nil, fmt.Errorf(`%w: got %d bytes, want at most %d of UTF-8: write other bytes as "\xff"`,
			ErrSyntax, len(text), maxBytes)
	}
	p := &parser{text: text}
	root := p.or()
	if p.rest() != "" {
		p.fail("want one of == != < <= > >= in after a key, and, or, or the end")
	}
	if p.err != nil {
		return nil, p.err
	}
	return &Condition{root}, nil
}

// A parser has an offset in a text. After the first error, which it keeps, the offset is the end.
type parser struct {
	text  string
	at    int
	depth int
	err   error
}

func (p *parser) fail(want string) {
	got := "the end"
	if p.at < len(p.text) {
		got = errtext.Quote(p.text[p.at:])
	}
	if p.err == nil {
		p.err = fmt.Errorf("%w: byte %d, at %s: %s%s", ErrSyntax, p.at, got, want, p.advice())
	}
	p.at = len(p.text)
}

// advices have the operators of other languages, and the text to write instead.
var advices = []struct {
	before, at *regexp.Regexp // matches the text before the offset, or from it on
	write      string
}{
	{regexp.MustCompile(`\b(AND|And)\s*$`), regexp.MustCompile(`^(&|(AND|And)\b)`), "and"},
	{regexp.MustCompile(`\b(OR|Or)\s*$`), regexp.MustCompile(`^(\||(OR|Or)\b)`), "or"},
	{regexp.MustCompile(`\b(NOT|Not)\s*$`), regexp.MustCompile(`^(!|(NOT|Not)\b)`), "not"},
	{nil, regexp.MustCompile(`^=`), "=="},
	{nil, regexp.MustCompile(`^(?i)(is|null|none|na|missing)\b`), "missing(KEY)"},
	{nil, regexp.MustCompile(`^(?i)nan\b`), "nan(KEY)"},
}

// advice returns the advice for the text at the offset, or "".
func (p *parser) advice() string {
	for _, a := range advices {
		if a.at.MatchString(p.text[p.at:]) || a.before != nil && a.before.MatchString(p.text[:p.at]) {
			return ": write " + a.write
		}
	}
	return ""
}

// rest skips spaces, and returns the rest of the text.
func (p *parser) rest() string {
	rest := strings.TrimLeft(p.text[p.at:], " \t\r\n")
	p.at = len(p.text) - len(rest)
	return rest
}

// take returns the next token if it matches, and otherwise "".
func (p *parser) take(token *regexp.Regexp) string {
	got := token.FindString(p.rest())
	p.at += len(got)
	return got
}

// accept skips a word or sign, and reports whether it came next.
func (p *parser) accept(want string) bool {
	got := p.take(token)
	if got != want {
		p.at -= len(got)
	}
	return got == want
}

func (p *parser) expect(want string) {
	if !p.accept(want) {
		p.fail("want " + want)
	}
}

func (p *parser) or() *node  { return p.list("or", "or", p.and) }
func (p *parser) and() *node { return p.list("and", "and", p.unary) }

// list reads the arguments of an operation, separated by a word or sign.
func (p *parser) list(between, op string, arg func() *node) *node {
	args := []*node{arg()}
	for p.accept(between) {
		args = append(args, arg())
	}
	if len(args) == 1 {
		return args[0]
	}
	return &node{op: op, args: args}
}

// unary reads a negation, a condition in parentheses, or a test.
func (p *parser) unary() *node {
	if p.depth++; p.depth > maxDepth {
		p.fail(fmt.Sprintf("nested more than %d deep", maxDepth))
	}
	defer func() { p.depth-- }()
	switch {
	case p.accept("not"):
		return &node{op: "not", args: []*node{p.unary()}}
	case p.accept("("):
		defer p.expect(")")
		return p.or()
	case p.accept("missing"):
		return p.call(&node{op: "missing"})
	case p.accept("nan"):
		return p.call(&node{op: "nan", literal: literal{aNumber, "nan"}})
	}
	return p.test()
}

func (p *parser) call(n *node) *node {
	p.expect("(")
	n.key = p.key()
	p.expect(")")
	return n
}

// test reads a comparison of a key, or a key alone.
func (p *parser) test() *node {
	n := &node{key: p.key(), op: p.take(comparison)}
	switch n.op {
	case "":
		return &node{op: "==", key: n.key, literal: literal{aBool, "true"}}
	case "in":
		p.expect("(")
		defer p.expect(")")
		return p.list(",", "or", func() *node { return &node{op: "==", key: n.key, literal: p.literal()} })
	}
	if n.literal = p.literal(); n.literal.kind == aBool && n.op != "==" && n.op != "!=" {
		p.fail("want == or != before true and false, got " + n.op)
	}
	return n
}

func (p *parser) key() nestedkey.Key {
	quoted := p.take(keyToken)
	text := quoted
	if text == "" || slices.Contains(reserved, text) {
		p.at -= len(text)
		p.fail("want a key, between backquotes if it has other characters or is a word of the grammar")
	}
	if strings.HasPrefix(text, "`") {
		text = strings.ReplaceAll(text[1:len(text)-1], "``", "`")
	}
	key, err := nestedkey.Parse(text)
	if err != nil {
		p.at -= len(quoted)
		p.fail(err.Error())
	}
	return key
}

func (p *parser) literal() literal {
	if text := p.take(textToken); text != "" {
		return literal{aText, p.unquoted(text)}
	}
	if text := p.take(boolToken); text != "" {
		return literal{aBool, text}
	}
	text := p.take(number)
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		p.at -= len(text)
		want := "want a number that a float64 can hold, a text between quotes, true or false"
		if letter.MatchString(p.text[p.at:]) {
			want += ", and the key on the left"
		}
		p.fail(want)
	}
	return literal{aNumber, text}
}

// unquoted returns the content of a quoted text that was just taken.
func (p *parser) unquoted(quoted string) string {
	if quoted[0] == '\'' {
		return strings.ReplaceAll(quoted[1:len(quoted)-1], "''", "'")
	}
	text, err := strconv.Unquote(quoted)
	if err != nil {
		p.at -= len(quoted)
		p.fail("want a text on one line, with escapes as in Go")
	}
	return text
}
