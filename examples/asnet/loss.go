package main

import (
	"math"

	"github.com/go-tensordict/tensordict/tdict"
)

// A lesson is states and the actions that should be chosen in them.
type lesson struct {
	features *tdict.TensorDict // of B states
	choices  []int             // positions among the actions
}

// loss returns the mean negative log likelihood of the choices, and what the layers made.
func (n *network) loss(l lesson) (loss float64, trace []*tdict.TensorDict) {
	trace = n.forward(l.features)
	chosen := n.problem.policy(trace[len(layers)], l.features)
	actions := len(n.problem.actions())
	for b, i := range l.choices {
		loss -= math.Log(chosen[b*actions+i]) / float64(len(l.choices))
	}
	return loss, trace
}

// gradient returns the gradients of the loss, under the keys of the weights.
func (n *network) gradient(l lesson) *tdict.TensorDict {
	_, trace := n.loss(l)
	return n.backward(n.scoreGradient(l, trace[len(layers)]), trace)
}

// scoreGradient returns the gradients of the scores, which the last layer made.
//
//	scores [B]: act/stack [A 1], ... -> [B]: act/stack [A 1], ...
func (n *network) scoreGradient(l lesson, scores *tdict.TensorDict) *tdict.TensorDict {
	g := n.problem.policy(scores, l.features)
	for b, i := range l.choices {
		g[b*len(n.problem.actions())+i]--
	}
	for i := range g {
		g[i] /= float64(len(l.choices))
	}
	return n.problem.apart(g)
}
