package main

import (
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/nestedkey"
)

// predicates are those of blocksworld; a proposition is one with blocks for its parameters.
var predicates = []string{"clear(?x)", "on(?x,?y)", "ontable(?x)", "holding(?x)", "handempty"}

// A schema is an operator with parameters: what it needs, adds and deletes are propositions.
type schema struct{ head, needs, adds, deletes string }

var schemas = []schema{
	{"pick-up(?x)", "clear(?x) ontable(?x) handempty", "holding(?x)", "clear(?x) ontable(?x) handempty"},
	{"put-down(?x)", "holding(?x)", "clear(?x) ontable(?x) handempty", "holding(?x)"},
	{"stack(?x,?y)", "holding(?x) clear(?y)", "on(?x,?y) clear(?x) handempty", "holding(?x) clear(?y)"},
	{"unstack(?x,?y)", "on(?x,?y) clear(?x) handempty", "holding(?x) clear(?y)",
		"on(?x,?y) clear(?x) handempty"},
}

// slots returns the propositions that actions of the schema are related to, each once. What is in
// slot i of an action is in slot i of all actions of the schema.
func (s schema) slots() []string {
	var all []string
	for _, text := range strings.Fields(s.needs + " " + s.adds + " " + s.deletes) {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// An action is a schema with blocks for its parameters.
type action struct {
	name                        string
	needs, adds, deletes, slots []string
}

// Propositions are those of one predicate.
type propositions struct {
	key nestedkey.Key // of their vectors: prop/on
	all []string
}

// Actions are those of one schema.
type actions struct {
	key   nestedkey.Key // of their vectors: act/stack
	slots []string      // of the schema
	all   []action
}

// A problem is what predicates and schemas become for some blocks.
type problem struct {
	props   []propositions      // of each predicate
	acts    []actions           // of each schema
	modules map[string][]module // act and prop: see plans.go
}

// ground returns the problem of two blocks or more.
func ground(blocks ...string) *problem {
	p := &problem{}
	for _, head := range predicates {
		of := propositions{key: propKey(head)}
		for _, r := range bindings(head, blocks) {
			of.all = append(of.all, r.Replace(head))
		}
		p.props = append(p.props, of)
	}
	for _, s := range schemas {
		p.acts = append(p.acts, s.ground(blocks))
	}
	p.modules = map[string][]module{"act": p.actionModules(), "prop": p.propositionModules(pooling)}
	return p
}

// ground returns all actions of the schema.
func (s schema) ground(blocks []string) actions {
	of := actions{key: nestedkey.Of("act", name(s.head)), slots: s.slots()}
	for _, r := range bindings(s.head, blocks) {
		of.all = append(of.all, s.bind(r))
	}
	return of
}

// bind returns an action of the schema.
func (s schema) bind(r *strings.Replacer) action {
	list := func(text string) []string { return strings.Fields(r.Replace(text)) }
	return action{
		name: r.Replace(s.head), needs: list(s.needs), adds: list(s.adds), deletes: list(s.deletes),
		slots: list(strings.Join(s.slots(), " ")),
	}
}

// bindings returns what puts blocks, all different, in the place of the parameters of a head.
func bindings(head string, blocks []string) (all []*strings.Replacer) {
	seen := map[string]bool{}
	for _, x := range blocks {
		for _, y := range blocks {
			r := strings.NewReplacer("?x", x, "?y", y)
			if made := r.Replace(head); x != y && !seen[made] {
				seen[made] = true
				all = append(all, r)
			}
		}
	}
	return all
}

// name returns a head, a proposition or an action without its arguments.
func name(text string) string {
	before, _, _ := strings.Cut(text, "(")
	return before
}

// propKey returns the key of the vectors of a proposition's predicate: prop/on.
func propKey(text string) nestedkey.Key { return nestedkey.Of("prop", name(text)) }
