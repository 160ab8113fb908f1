package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A layer has weights for each of its modules, and makes vectors of some channels.
type layer struct {
	name     nestedkey.Key
	kind     string // act or prop
	channels int
	elu      bool
}

// layers are an action layer, a proposition layer, and an action layer that makes scores.
var layers = []layer{{"1", "act", 4, true}, {"2", "prop", 4, true}, {"3", "act", 1, false}}

// A network is weights for all layers, and a problem whose plans they are used with. The weights
// belong to schemas and predicates, and so fit any problem.
type network struct {
	problem *problem
	weights *tdict.TensorDict // 1/act/stack/weight [I O], 1/act/stack/bias [O], ...
}

// newNetwork returns a network with random weights. What it uses of the features are their shapes.
func newNetwork(p *problem, features *tdict.TensorDict, rng *rand.Rand) *network {
	n, td := &network{p, tdict.New()}, features
	for _, l := range layers {
		for _, m := range p.modules[l.kind] {
			n.draw(l, m, td, rng)
		}
		td = n.run(l, td)
	}
	return n
}

// draw sets the weights of a module.
func (n *network) draw(l layer, m module, td *tdict.TensorDict, rng *rand.Rand) {
	inputs := 0
	for _, key := range m.inputs {
		inputs += at(td, key).Shape()[2]
	}
	weight, bias := l.keys(m)
	check(n.weights.Set(weight, random(rng, inputs, inputs, l.channels)))
	check(n.weights.Set(bias, random(rng, inputs, l.channels)))
}

// random returns a tensor of numbers that suit so many inputs.
func random(rng *rand.Rand, inputs int, shape ...int) *tensor.Tensor {
	t := zeros(shape...)
	s := values(t)
	for i := range s {
		s[i] = rng.NormFloat64() / math.Sqrt(float64(inputs))
	}
	return t
}

// keys returns those of the weights of a module.
func (l layer) keys(m module) (weight, bias nestedkey.Key) {
	return nestedkey.Join(l.name, m.key, "weight"), nestedkey.Join(l.name, m.key, "bias")
}

// forward returns the features, and what each layer makes of what was there before it.
func (n *network) forward(features *tdict.TensorDict) []*tdict.TensorDict {
	trace := []*tdict.TensorDict{features}
	for i, l := range layers {
		trace = append(trace, n.run(l, trace[i]))
	}
	return trace
}

// run returns a copy of td in which the vectors of a layer's modules are replaced. No module reads
// what another one of the same layer makes.
func (n *network) run(l layer, td *tdict.TensorDict) *tdict.TensorDict {
	out := td.Copy()
	for _, m := range n.problem.modules[l.kind] {
		check(m.plan.Apply(out, m.stacked(), m.inputs...))
		weight, bias := l.keys(m)
		y := linear(at(out, m.stacked()), at(n.weights, weight), at(n.weights, bias))
		if l.elu {
			y = tensor.Must(tensor.Map(y, elu))
		}
		check(out.Set(m.key, y))
	}
	return out
}

// backward goes back over forward. It starts with the gradients of what the last layer made, in
// grads, and returns those of the weights.
func (n *network) backward(grads *tdict.TensorDict, trace []*tdict.TensorDict) *tdict.TensorDict {
	weights := tdict.New()
	for i, l := range slices.Backward(layers) {
		n.runBack(l, grads, weights, trace[i], trace[i+1])
	}
	return weights
}

// runBack goes back over run, which made after of before: in grads it takes away the gradients of
// what the modules made, and adds to those of what they read. Gradients of what the layer does not
// make stay, for the layer that made it.
func (n *network) runBack(l layer, grads, weights, before, after *tdict.TensorDict) {
	for _, m := range n.problem.modules[l.kind] {
		g := at(grads, m.key)
		check(grads.Delete(m.key))
		if l.elu {
			g = tensor.Must(arith.Mul(g, tensor.Must(tensor.Map(at(after, m.key), eluSlope))))
		}
		weight, bias := l.keys(m)
		dx, dw, db := linearGradient(g, at(after, m.stacked()), at(n.weights, weight))
		check(weights.Set(weight, dw))
		check(weights.Set(bias, db))
		check(grads.Set(m.stacked(), dx))
		check(m.plan.ApplyGradient(grads, before, m.stacked(), m.inputs...))
	}
}

// at returns the tensor under a key.
func at(td *tdict.TensorDict, key nestedkey.Key) *tensor.Tensor { return tensor.Must(td.Tensor(key)) }
