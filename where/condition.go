package where

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/nestedkey"
)

// A Condition is a parsed condition: see [Parse]. It never changes. Safe for concurrent use.
type Condition struct{ root *node }

// A node is a part of a condition: "and", "or" or "not" of args, or a test of a key: "missing",
// "nan" or a comparison. A key alone is a comparison with true, and "in" becomes several
// comparisons.
type node struct {
	op      string
	args    []*node
	key     nestedkey.Key
	literal literal
}

// A literal is the text of a number, a text without quotes, or "true" or "false".
type literal struct{ kind, text string }

// The kinds of literals, as errors name them.
const (
	aNumber = "a number"
	aText   = "a text"
	aBool   = "true or false"
)

// Keys returns the keys in c, each once, in the order of c. A filter of [Condition.BindSchema] also
// reads their masks.
func (c *Condition) Keys() (keys []nestedkey.Key) {
	for _, n := range c.root.tests(nil) {
		if !slices.Contains(keys, n.key) {
			keys = append(keys, n.key)
		}
	}
	return keys
}

// tests appends the tests in n to all.
func (n *node) tests(all []*node) []*node {
	if n.args == nil {
		return append(all, n)
	}
	for _, arg := range n.args {
		all = arg.tests(all)
	}
	return all
}

// String returns c as text that [Parse] reads as the same condition.
func (c *Condition) String() string { return c.root.String() }

func (n *node) String() string {
	switch n.op {
	case "and", "or":
		texts := make([]string, len(n.args))
		for i, arg := range n.args {
			texts[i] = n.inner(arg)
		}
		return strings.Join(texts, " "+n.op+" ")
	case "not":
		return "not " + n.inner(n.args[0])
	case "missing", "nan":
		return n.op + "(" + keyText(n.key) + ")"
	}
	return keyText(n.key) + " " + n.op + " " + n.literal.String()
}

// inner returns the text of an argument of n, in parentheses if it needs them.
func (n *node) inner(arg *node) string {
	if arg.op == "or" || arg.op == "and" && n.op != "or" {
		return "(" + arg.String() + ")"
	}
	return arg.String()
}

func (l literal) String() string {
	if l.kind == aText {
		return strconv.Quote(l.text)
	}
	return l.text
}

// plain matches the keys that need no backquotes, except the words in reserved, which do.
var (
	plain    = regexp.MustCompile(`^[A-Za-z0-9_/.]+$`)
	reserved = []string{"and", "or", "not", "in", "true", "false", "missing", "nan"}
)

func keyText(key nestedkey.Key) string {
	if text := string(key); !plain.MatchString(text) || slices.Contains(reserved, text) {
		return "`" + strings.ReplaceAll(text, "`", "``") + "`"
	}
	return string(key)
}
