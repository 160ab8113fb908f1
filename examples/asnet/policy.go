package main

import (
	"maps"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/tdict"
)

// policy returns the probability of each of N actions in each of B states, from their scores: a
// softmax over those that are applicable.
//
//	scores, features [B]: act/stack [A 1], ... -> [B N]
func (p *problem) policy(scores, features *tdict.TensorDict) []float64 {
	probabilities := p.all(features) // 1 or 0
	for i, v := range p.all(scores) {
		probabilities[i] *= math.Exp(v)
	}
	for row := range slices.Chunk(probabilities, len(p.actions())) {
		sum := 0.
		for _, v := range row {
			sum += v
		}
		for i := range row {
			row[i] /= sum
		}
	}
	return probabilities
}

// solve returns the actions that the network takes to a goal, at most ten.
func (n *network) solve(s, goal state) (plan []string) {
	for len(plan) < 10 && !s.has(slices.Collect(maps.Keys(goal))) {
		p := n.problem
		features := p.features(goal, s)
		policy := p.policy(n.forward(features)[len(layers)], features)
		a := p.actions()[slices.Index(policy, slices.Max(policy))]
		plan, s = append(plan, a.name), s.after(a)
	}
	return plan
}
