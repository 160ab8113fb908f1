package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

const channels = 3 // channels of each vector

// pooling has the options of the proposition layer: ELU makes nothing less than -1.
var pooling = pickstack.PoolOptions{MinValue: new(-1.0)}

// A module says which vectors the actions of a schema, or the propositions of a predicate, read.
type module struct {
	in, out nestedkey.Key   // the input, its vectors joined, and the output
	from    []nestedkey.Key // the keys that are read
	plan    *pickstack.Plan
	inputs  int // channels of the input
}

// newModules returns an action layer and a proposition layer for n blocks. An action stack(x,y) is
// about three propositions: holding(x), clear(y), on(x,y).
func newModules(n int, opt pickstack.PoolOptions) []module {
	var x, y, on []int64 // the positions of the propositions of each action
	for i := range n {
		for j := range n {
			if i != j {
				x = append(x, int64(i))
				y = append(y, int64(j))
				on = append(on, int64(len(on)))
			}
		}
	}
	pick := tensor.Must(pickstack.NewPick([]*tensor.Tensor{tensor.Vector(x...), tensor.Vector(y...), tensor.Vector(on...)},
		[]int{n, n, len(on)}, pickstack.PickOptions{}))
	return []module{
		{"in/stack", "act/stack", []nestedkey.Key{"prop/holding", "prop/clear", "prop/on"}, pick, 3 * channels},
		pool("holding", n, x, opt), pool("clear", n, y, opt), pool("on", len(on), on, opt),
	}
}

// pool returns a module in which each of n propositions reads its own vector, by a skip connection,
// and pools the vectors of the actions about it.
func pool(predicate string, n int, about []int64, opt pickstack.PoolOptions) module {
	pools := make([][]int64, n)
	for action, proposition := range about {
		pools[proposition] = append(pools[proposition], int64(action))
	}
	plan := tensor.Must(pickstack.NewPool(
		[]*ragged.Tensor{nil, tensor.Must(ragged.From[int64](pools))}, []int{n, len(about)}, opt))
	return module{nestedkey.Of("in", predicate), nestedkey.Of("out", predicate),
		[]nestedkey.Key{nestedkey.Of("prop", predicate), "act/stack"}, plan, 2 * channels}
}

// A network has a tensor of weights [I O] for each module, under the key of its output.
type network struct {
	modules []module
	weights *tdict.TensorDict
}

// newNetwork returns a network with random weights.
func newNetwork(modules []module, rng *rand.Rand) *network {
	n := &network{modules, tdict.New()}
	for _, m := range modules {
		check(n.weights.Set(m.out, random(rng, math.Sqrt(1/float64(m.inputs)), m.inputs, channels)))
	}
	return n
}

// states returns random vectors for the propositions of n blocks in b states.
func states(b, n int, rng *rand.Rand) *tdict.TensorDict {
	td := tdict.New(b)
	check(td.Set("prop/holding", random(rng, 1, b, n, channels)))
	check(td.Set("prop/clear", random(rng, 1, b, n, channels)))
	check(td.Set("prop/on", random(rng, 1, b, n*(n-1), channels)))
	return td
}

// random returns random numbers with a normal distribution and a deviation.
func random(rng *rand.Rand, deviation float64, shape ...int) *tensor.Tensor {
	t := must(tensor.New(tensor.Float64, shape...))
	for i := range values(t) {
		values(t)[i] = deviation * rng.NormFloat64()
	}
	return t
}

// forward sets the input of each module, and as output the ELU of input times weights:
//
//	x [B N I], w [I O] -> [B N O]
func (n *network) forward(td *tdict.TensorDict) {
	elu := func(v float64) float64 { return max(v, math.Expm1(min(v, 0))) }
	for _, m := range n.modules {
		check(m.plan.Apply(td, m.in, m.from...))
		xw := must(arith.Mul(wide(at(td, m.in)), at(n.weights, m.out)))
		check(td.Set(m.out, must(tensor.Map(must(arith.Sum(xw, arith.Dims(2))), elu))))
	}
}

// wide repeats each number for every output channel: [B N I] -> [B N I O], a view.
func wide(x *tensor.Tensor) *tensor.Tensor {
	return must(must(x.Unsqueeze(3)).Expand(-1, -1, -1, channels))
}

// gradient runs the network and returns the gradients of the weights.
func (n *network) gradient(td *tdict.TensorDict) *tdict.TensorDict {
	n.forward(td)
	slope := func(v float64) float64 { return 1 + min(v, 0) } // slope of ELU where its value is v
	grads, weights := tdict.New(td.Shape()...), tdict.New()
	check(grads.Set("out", difference(td)))
	for _, m := range slices.Backward(n.modules) {
		g := must(arith.Mul(at(grads, m.out), must(tensor.Map(at(td, m.out), slope))))
		g = must(must(g.Unsqueeze(2)).Expand(-1, -1, m.inputs, -1)) // [B N I O]
		xg := must(arith.Mul(wide(at(td, m.in)), g))
		check(weights.Set(m.out, must(arith.Sum(xg, arith.Dims(0, 1)))))
		wg := must(arith.Mul(g, at(n.weights, m.out)))
		check(grads.Set(m.in, must(arith.Sum(wg, arith.Dims(3)))))
		check(m.plan.ApplyGradient(grads, td, m.in, m.from...))
	}
	return weights
}

// loss runs the network and returns half the sum of squared errors.
func (n *network) loss(td *tdict.TensorDict) (loss float64) {
	n.forward(td)
	for _, t := range difference(td).Tensors() {
		for _, v := range values(t) {
			loss += v * v / 2
		}
	}
	return loss
}

// difference returns the difference between propositions and the vectors that they began with.
func difference(td *tdict.TensorDict) *tdict.TensorDict {
	out := tensor.Must(tdict.Get[*tdict.TensorDict](td, "out"))
	return tensor.Must(arith.Sub(out, tensor.Must(tdict.Get[*tdict.TensorDict](td, "prop"))))
}

// at returns the tensor under a key.
func at(td *tdict.TensorDict, key nestedkey.Key) *tensor.Tensor { return must(td.Tensor(key)) }

// values returns the elements of a tensor. They may be written.
func values(t *tensor.Tensor) []float64 { return tensor.Must(tensor.Of[float64](t)) }

var must = tensor.Must[*tensor.Tensor]
