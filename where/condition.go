package where

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/nestedkey"
)

// A Condition is what [Parse] reads. It never changes. Safe for concurrent use.
type Condition struct{ root *node }

// A node is a part of a condition: and, or, not of args, or a test of a key.
type node struct {
	op       op
	args     []*node
	key      nestedkey.Key
	literals []literal
}

// An op is an operation, as it is spelled.
type op string

const (
	opEqual        op = "=="
	opNotEqual     op = "!="
	opLess         op = "<"
	opLessEqual    op = "<="
	opGreater      op = ">"
	opGreaterEqual op = ">="
	opIn           op = "in"
	opHolds        op = "" // a bare key
	opMissing      op = "missing"
	opNaN          op = "nan"
	opAnd          op = "and"
	opOr           op = "or"
	opNot          op = "not"
	opNever        op = "never"  // of terms only
	opAlways       op = "always" // of terms only
)

// reserved are the words that are no keys.
var reserved = []string{"and", "or", "not", "in", "true", "false", "missing", "nan"}

// A literal is a number as it was written, a text without quotes, or "true" or "false".
type literal struct {
	kind kind
	text string
}

type kind uint8

const (
	kindNumber kind = iota
	kindText
	kindBool
	kindNone
)

// Keys returns the leaves that c may read, each once, in the order in which c names them. After
// each key comes that of its mask, which a dictionary may lack: pass Keys to SelectPresent.
func (c *Condition) Keys() (keys []nestedkey.Key) {
	for _, n := range c.root.tests(nil) {
		for _, key := range []nestedkey.Key{n.key, maskOf(n.key)} {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

func maskOf(key nestedkey.Key) nestedkey.Key { return key + "_mask" }

// tests appends the tests of keys in n.
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
	case opAnd, opOr:
		return texts(n.args, n.inner, " "+string(n.op)+" ")
	case opNot:
		return "not " + n.inner(n.args[0])
	case opHolds:
		return keyText(n.key)
	case opMissing, opNaN:
		return string(n.op) + "(" + keyText(n.key) + ")"
	}
	list := texts(n.literals, literal.String, ", ")
	if n.op == opIn {
		list = "(" + list + ")"
	}
	return keyText(n.key) + " " + string(n.op) + " " + list
}

// inner returns the text of an argument of n, in parentheses if it needs them.
func (n *node) inner(arg *node) string {
	if arg.op == opOr || arg.op == opAnd && n.op != opOr {
		return "(" + arg.String() + ")"
	}
	return arg.String()
}

func texts[T any](list []T, text func(T) string, between string) string {
	all := make([]string, len(list))
	for i, x := range list {
		all[i] = text(x)
	}
	return strings.Join(all, between)
}

func (l literal) String() string {
	if l.kind == kindText {
		return strconv.Quote(l.text)
	}
	return l.text
}

func keyText(key nestedkey.Key) string {
	text := string(key)
	if text == "" || plainKey.FindString(text) != text || slices.Contains(reserved, text) {
		return "`" + strings.ReplaceAll(text, "`", "``") + "`"
	}
	return text
}
