package main

import (
	"maps"
	"slices"
	"strings"
)

// A state is the propositions that hold.
type state map[string]bool

func newState(text string) state {
	s := state{}
	for _, proposition := range strings.Fields(text) {
		s[proposition] = true
	}
	return s
}

// has reports whether all propositions hold.
func (s state) has(propositions []string) bool {
	return !slices.ContainsFunc(propositions, func(q string) bool { return !s[q] })
}

// after returns the state that an action leads to.
func (s state) after(a action) state {
	next := maps.Clone(s)
	for _, q := range a.deletes {
		delete(next, q)
	}
	for _, q := range a.adds {
		next[q] = true
	}
	return next
}

// actions returns those of all schemas, one after the other.
func (p *problem) actions() (all []action) {
	for _, of := range p.acts {
		all = append(all, of.all...)
	}
	return all
}

// propositions returns how many there are, of all predicates.
func (p *problem) propositions() (n int) {
	for _, of := range p.props {
		n += len(of.all)
	}
	return n
}

// follow returns the states in which a plan takes its actions, from the first on, and the actions,
// as positions in p.actions().
func (p *problem) follow(s state, plan string) (states []state, choices []int) {
	actions := p.actions()
	for _, name := range strings.Fields(plan) {
		i := slices.IndexFunc(actions, func(a action) bool { return a.name == name })
		states, choices = append(states, s), append(choices, i)
		s = s.after(actions[i])
	}
	return states, choices
}
