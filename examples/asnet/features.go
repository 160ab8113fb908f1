package main

import (
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// features returns what a network is told of B states: whether each proposition holds and is a
// goal, and whether each action is applicable.
//
//	[B]: prop/on [P 2], act/stack [A 1], ...
func (p *problem) features(goal state, states ...state) *tdict.TensorDict {
	td := tdict.New(len(states))
	for _, of := range p.props {
		x := of.features(goal, states)
		check(td.Set(of.key, tensor.Must(tensor.From(x, len(states), len(of.all), 2))))
	}
	for _, of := range p.acts {
		x := of.features(states)
		check(td.Set(of.key, tensor.Must(tensor.From(x, len(states), len(of.all), 1))))
	}
	return td
}

func (of propositions) features(goal state, states []state) (x []float64) {
	for _, s := range states {
		for _, q := range of.all {
			x = append(x, number(s[q]), number(goal[q]))
		}
	}
	return x
}

func (of actions) features(states []state) (x []float64) {
	for _, s := range states {
		for _, a := range of.all {
			x = append(x, number(s.has(a.needs)))
		}
	}
	return x
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// all returns one number for each action, in the order of p.actions(), for each state.
//
//	td [B]: act/stack [A 1], ... -> [B N]
func (p *problem) all(td *tdict.TensorDict) []float64 {
	var parts []*tensor.Tensor
	for _, of := range p.acts {
		parts = append(parts, at(td, of.key))
	}
	return values(tensor.Must(shapeops.Cat(parts, 1)))
}

// apart returns what all would make numbers of.
//
//	[B N] -> [B]: act/stack [A 1], ...
func (p *problem) apart(numbers []float64) *tdict.TensorDict {
	var sizes []int
	for _, of := range p.acts {
		sizes = append(sizes, len(of.all))
	}
	n := len(p.actions())
	td, whole := tdict.New(len(numbers)/n), tensor.Must(tensor.From(numbers, len(numbers)/n, n, 1))
	for i, part := range tensor.Must(shapeops.Split(whole, 1, sizes...)) {
		check(td.Set(p.acts[i].key, tensor.Must(part.Contiguous())))
	}
	return td
}
