package sampler_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tensor"
)

func ExampleRandom() {
	for epoch := range uint64(2) {
		order, _ := sampler.Random().Order(sampler.Epoch{Units: 8, Seed: 1, Number: epoch})
		fmt.Println(order.AppendTo(nil, 0, order.Len()))
	}
	// What is at a position is known without those before it, also of many units.
	order, _ := sampler.Random().Order(sampler.Epoch{Units: 1_000_000_000, Seed: 1})
	fmt.Println(order.AppendTo(nil, 999_999_997, order.Len()))
	// Output:
	// [5 0 1 2 3 6 4 7]
	// [6 2 0 3 5 4 1 7]
	// [421201927 691302522 57338780]
}

func ExampleSequential() {
	order, _ := sampler.Sequential().Order(sampler.Epoch{Units: 5})
	fmt.Println(order.AppendTo(nil, 1, 4))
	// Output:
	// [1 2 3]
}

func ExampleRows() {
	order, _ := sampler.Sequential().Order(sampler.Epoch{Units: 7})
	for _, dropLast := range []bool{false, true} {
		batching, _ := sampler.Rows(3, dropLast)
		plan, _ := batching.Plan(order, 7)
		fmt.Println(batching, plan.Len(), plan.Batch(plan.Len()-1, sampler.Batch{}).Rows)
	}
	_, err := sampler.Rows(0, false)
	fmt.Println(err)
	// Output:
	// batches of 3 rows 3 [6]
	// batches of 3 rows, none smaller 2 [3 4 5]
	// unusable size: got a batch size of 0, want at least 1
}

func ExampleGroups_Sizes() {
	groups, _ := sampler.NewGroups(tensor.Vector[int64](7, 7, 3, 7, 3), sampler.GroupOptions{})
	fmt.Println(groups.Len(), groups.Sizes(), groups.Firsts())
	// Output:
	// 2 [3 2] [0 2]
}
