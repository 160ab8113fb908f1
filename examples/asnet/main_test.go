package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func Example() {
	main()
	// Output:
	// 3 blocks, 16 states:
	//   act/stack    [16 6 3]    reads [16 6 9]    [prop/holding prop/clear prop/on]
	//   out/holding  [16 3 3]    reads [16 3 6]    [prop/holding act/stack]
	//   out/clear    [16 3 3]    reads [16 3 6]    [prop/clear act/stack]
	//   out/on       [16 6 3]    reads [16 6 6]    [prop/on act/stack]
	// loss 468, after 100 steps 30
	// 20 blocks, the same weights:
	//   act/stack    [16 380 3]  reads [16 380 9]  [prop/holding prop/clear prop/on]
	//   out/holding  [16 20 3]   reads [16 20 6]   [prop/holding act/stack]
	//   out/clear    [16 20 3]   reads [16 20 6]   [prop/clear act/stack]
	//   out/on       [16 380 3]  reads [16 380 6]  [prop/on act/stack]
}

// TestGradients compares the gradient with finite differences for every way to pool. Actions tie,
// so that one that shares the gradient wrongly must be found out.
func TestGradients(t *testing.T) {
	tests := []struct {
		name  string
		opt   pickstack.PoolOptions
		right bool
	}{
		{"ties share evenly", pooling, true},
		{"the first of ties has all", pickstack.PoolOptions{Ties: pickstack.TieFirst, MinValue: new(-1.0)}, true},
		{"each of ties has all", pickstack.PoolOptions{Ties: pickstack.TieAll, MinValue: new(-1.0)}, false},
		{"no least value", pickstack.PoolOptions{}, true},
		{"a least value that cuts off", pickstack.PoolOptions{MinValue: new(0.1)}, true},
		{"min", pickstack.PoolOptions{Reduction: pickstack.Min}, true},
		{"mean", pickstack.PoolOptions{Reduction: pickstack.Mean}, true},
		{"sum", pickstack.PoolOptions{Reduction: pickstack.Sum}, true},
		{"logsumexp", pickstack.PoolOptions{Reduction: pickstack.LogSumExp}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			td := states(4, 3, rng)
			clear(values(at(td, "prop/clear"))) // so that stack(x,y) is the same for all y
			clear(values(at(td, "prop/on")))
			n := newNetwork(newModules(3, test.opt), rng)
			worst := n.worstDifference(td)
			require.Equal(t, test.right, worst < 1e-6, "%g", worst)
		})
	}
}

// worstDifference returns the largest difference between the gradient of a weight and the central
// difference of the loss, relative to the greater one.
func (n *network) worstDifference(td *tdict.TensorDict) (worst float64) {
	const nudge = 1e-5
	grads := n.gradient(td)
	for key, t := range n.weights.Tensors() {
		weights, analytic := values(t), values(at(grads, key))
		for i, was := range weights {
			weights[i] = was + nudge
			above := n.loss(td)
			weights[i] = was - nudge
			numeric := (above - n.loss(td)) / (2 * nudge)
			weights[i] = was
			greater := max(math.Abs(analytic[i]), math.Abs(numeric), 1e-2) // what is smaller, rounding hides
			worst = max(worst, math.Abs(analytic[i]-numeric)/greater)
		}
	}
	return worst
}

// TestModules gives each vector a number of its own, and looks at what the modules read.
func TestModules(t *testing.T) {
	td := tdict.New(1)
	for key, n := range map[nestedkey.Key]int{"prop/holding": 3, "prop/clear": 3, "prop/on": 6, "act/stack": 6} {
		check(td.Set(key, must(tensor.New(tensor.Float64, 1, n, 1))))
		for i := range values(at(td, key)) {
			values(at(td, key))[i] = float64(i)
		}
	}
	read := func(m module, row int) []float64 {
		check(m.plan.Apply(td, m.in, m.from...))
		return values(must(at(td, m.in).Index(ix.At(0), ix.At(row))))
	}
	m := newModules(3, pooling)
	require.Equal(t, []float64{0, 2, 1}, read(m[0], 1), "stack(0,2) is action 1")
	require.Equal(t, []float64{2, 1, 5}, read(m[0], 5), "stack(2,1) is action 5")
	require.Equal(t, []float64{1, 3}, read(m[1], 1), "block 1 is held in actions 2 and 3")
	require.Equal(t, []float64{1, 5}, read(m[2], 1), "block 1 is below in actions 0 and 5")
	require.Equal(t, []float64{3, 3}, read(m[3], 3), "block 1 is put on 2 by action 3")
}
