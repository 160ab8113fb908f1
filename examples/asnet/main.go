// Asnet builds an action layer and a proposition layer of an action schema network (Toyer and
// others, 2018) for blocksworld, and an action layer above them that says which action to take.
// Plans of package pickstack say which vectors a layer reads, forward and backward. The gradient is
// compared with finite differences, and descent teaches the network a plan.
//
//	go run ./examples/asnet
package main

import (
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/tensor"
)

const (
	start  = "clear(c) on(c,a) ontable(a) clear(b) ontable(b) handempty"
	goal   = "on(a,b) on(b,c)"
	expert = "unstack(c,a) put-down(c) pick-up(b) stack(b,c) pick-up(a) stack(a,b)"
	larger = "clear(d) on(d,a) ontable(a) clear(b) ontable(b) clear(c) ontable(c) handempty"

	steps = 60
	rate  = 0.5
)

func main() {
	log.SetFlags(0)
	if err := run(os.Stdout); err != nil {
		log.Fatal("asnet: ", err)
	}
}

// run prints what comes of it. It returns an error if the gradient is wrong; any other error
// panics, see Must.
func run(w io.Writer) error {
	n, l := untaught(1)
	show(w, n, l)
	if err := n.checkGradient(w, l); err != nil {
		return err
	}
	before, _ := n.loss(l)
	descend(n, l)
	after, _ := n.loss(l)
	fmt.Fprintf(w, "loss %.4f, after %d steps %.4f\n", before, steps, after)
	fmt.Fprintln(w, "its plan:", n.solve(newState(start), newState(goal)))
	other := &network{ground("a", "b", "c", "d"), n.weights}
	fmt.Fprintln(w, "the same weights with four blocks:", other.solve(newState(larger), newState(goal)))
	return nil
}

// untaught returns a network with random weights for a problem of three blocks, and what the expert
// does there.
func untaught(seed uint64) (*network, lesson) {
	p := ground("a", "b", "c")
	states, choices := p.follow(newState(start), expert)
	l := lesson{p.features(newState(goal), states...), choices}
	return newNetwork(p, l.features, rand.New(rand.NewPCG(seed, 2))), l
}

// show prints how large the problem and the network are, and what two modules read.
func show(w io.Writer, n *network, l lesson) {
	fmt.Fprintf(w, "blocksworld: %d propositions, %d actions; a batch of %d states; %d weights\n",
		n.problem.propositions(), len(n.problem.actions()), len(l.choices), count(n.weights))
	trace := n.forward(l.features)
	for i, m := range []module{n.problem.modules["act"][2], n.problem.modules["prop"][1]} {
		fmt.Fprintf(w, "%s reads %v: %v\n", m.key, at(trace[i+1], m.stacked()).Shape(), m.inputs)
	}
}

// descend takes steps against the gradient.
func descend(n *network, l lesson) {
	for range steps {
		grads := n.gradient(l)
		check(arith.SubInPlace(n.weights, tensor.Must(arith.Mul(grads, rate))))
	}
}

// check panics if there is an error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
