// Asnet runs an action layer and a proposition layer of an action schema network (Toyer and others,
// 2018), forward and backward. Plans of package pickstack say which vectors are read: actions pick
// the vectors of propositions, and propositions pool the vectors of actions. Gradient descent
// teaches the layers to copy their inputs. The same weights work for any number of blocks. Any
// error ends it: see Must.
//
//	go run ./examples/asnet
package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func main() {
	rng := rand.New(rand.NewPCG(1, 2))
	n, td := newNetwork(newModules(3, pooling), rng), states(16, 3, rng)
	before := n.loss(td)
	fmt.Println("3 blocks, 16 states:")
	n.show(td)
	for range 100 {
		check(arith.SubInto(n.weights, n.weights, tensor.Must(arith.Mul(n.gradient(td), 0.01))))
	}
	fmt.Printf("loss %.0f, after 100 steps %.0f\n", before, n.loss(td))
	fmt.Println("20 blocks, the same weights:")
	n.modules, td = newModules(20, pooling), states(16, 20, rng)
	n.forward(td)
	n.show(td)
}

// show prints the inputs and outputs of each module.
func (n *network) show(td *tdict.TensorDict) {
	for _, m := range n.modules {
		fmt.Printf("  %-11v  %-10v  reads %-10v  %v\n", m.out, at(td, m.out).Shape(), at(td, m.in).Shape(), m.from)
	}
}

// check panics if there is an error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
