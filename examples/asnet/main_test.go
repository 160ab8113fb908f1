package main

import (
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestRun compares what is printed, but for the difference, which is mostly rounding, and the last
// digits of losses, which may depend on the machine.
func TestRun(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out))
	printed := regexp.MustCompile(`\d\.\de-\d+,`).ReplaceAllString(out.String(), "D,")
	printed = regexp.MustCompile(`(\d\.\d\d)\d\d`).ReplaceAllString(printed, "${1}..")
	require.Equal(t, `blocksworld: 16 propositions, 18 actions; a batch of 6 states; 616 weights
act/stack reads [6 6 11]: [act/stack prop/holding prop/clear prop/on prop/clear prop/handempty]
prop/on reads [6 6 10]: [prop/on act/stack act/unstack]
gradient of 616 weights: largest relative difference to finite differences D, below 1e-06
loss 1.00.., after 60 steps 0.02..
its plan: [unstack(c,a) put-down(c) pick-up(b) stack(b,c) pick-up(a) stack(a,b)]
the same weights with four blocks: [unstack(d,a) put-down(d) pick-up(b) stack(b,c) pick-up(a) stack(a,b)]
`, printed)
}

// TestGradients compares the gradient with finite differences for every way to pool. Propositions
// pool actions that tie, so that one that shares the gradient wrongly must be found out.
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
			n, l := untaught(2)
			n.problem.modules["prop"] = n.problem.propositionModules(test.opt)
			worst := n.worstDifference(l)
			require.Equal(t, test.right, worst < tolerance, "%g", worst)
		})
	}
}

// TestNaNIsFoundOut has weights that make every number NaN.
func TestNaNIsFoundOut(t *testing.T) {
	n, l := untaught(1)
	n.weights = tensor.Must(tdict.MapElems(n.weights, func(float64) float64 { return math.NaN() }))
	require.ErrorContains(t, n.checkGradient(io.Discard, l), "wrong gradient: got a relative difference of NaN")
}

// TestLearns teaches the plan with other weights to begin with.
func TestLearns(t *testing.T) {
	for seed := range uint64(5) {
		n, l := untaught(seed)
		descend(n, l)
		require.Equal(t, expert, strings.Join(n.solve(newState(start), newState(goal)), " "))
	}
}

// TestExpert follows the plan: every action is applicable, and the last one reaches the goal.
func TestExpert(t *testing.T) {
	p := ground("a", "b", "c")
	states, choices := p.follow(newState(start), expert)
	for i, s := range states {
		require.True(t, s.has(p.actions()[choices[i]].needs))
	}
	last := states[5].after(p.actions()[choices[5]])
	require.True(t, last.has(strings.Fields(goal)))
}

// TestStates counts the states that can be reached: 13 and 73 with an empty hand, and for each
// block in it 3 and 13 of the others.
func TestStates(t *testing.T) {
	require.Equal(t, 13+3*3, reachable(ground("a", "b", "c"), newState(start)))
	require.Equal(t, 73+4*13, reachable(ground("a", "b", "c", "d"), newState(larger)))
}

func reachable(p *problem, first state) int {
	text := func(s state) string { return strings.Join(slices.Sorted(maps.Keys(s)), " ") }
	seen := map[string]bool{text(first): true}
	for left := []state{first}; len(left) > 0; left = left[1:] {
		for _, a := range p.actions() {
			if next := left[0].after(a); left[0].has(a.needs) && !seen[text(next)] {
				seen[text(next)] = true
				left = append(left, next)
			}
		}
	}
	return len(seen)
}

// TestModules gives each proposition and action a number of its own, and looks up by name what the
// modules should read.
func TestModules(t *testing.T) {
	p := ground("a", "b", "c", "d")
	td, number := numbered(p)
	for i, of := range p.acts {
		var want []float64
		for _, a := range of.all {
			want = append(want, number[a.name])
			for _, q := range a.slots {
				want = append(want, number[q])
			}
		}
		require.Equal(t, want, reads(td, p.modules["act"][i]), of.key)
	}
	for i, of := range p.props {
		var want []float64
		for _, q := range of.all {
			want = append(append(want, number[q]), pooled(p, q, number)...)
		}
		require.Equal(t, want, reads(td, p.modules["prop"][i]), of.key)
	}
}

// numbered returns vectors of one channel, and the same numbers by name.
func numbered(p *problem) (*tdict.TensorDict, map[string]float64) {
	td, number, rng := tdict.New(1), map[string]float64{}, rand.New(rand.NewPCG(1, 2))
	add := func(key nestedkey.Key, names []string) {
		var x []float64
		for _, name := range names {
			number[name] = rng.Float64()
			x = append(x, number[name])
		}
		check(td.Set(key, tensor.Must(tensor.From(x, 1, len(x), 1))))
	}
	for _, of := range p.props {
		add(of.key, of.all)
	}
	for _, of := range p.acts {
		var names []string
		for _, a := range of.all {
			names = append(names, a.name)
		}
		add(of.key, names)
	}
	return td, number
}

// reads returns the numbers that a module reads, one row after the other.
func reads(td *tdict.TensorDict, m module) []float64 {
	check(m.plan.Apply(td, m.stacked(), m.inputs...))
	return values(at(td, m.stacked()))
}

// pooled returns, for each slot that has the predicate of a proposition, the greatest number of an
// action that has the proposition there.
func pooled(p *problem, proposition string, number map[string]float64) (all []float64) {
	for _, of := range p.acts {
		for slot, text := range of.slots {
			if name(text) != name(proposition) {
				continue
			}
			greatest := *pooling.MinValue
			for _, a := range of.all {
				if a.slots[slot] == proposition {
					greatest = max(greatest, number[a.name])
				}
			}
			all = append(all, greatest)
		}
	}
	return all
}
