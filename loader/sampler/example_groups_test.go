package sampler_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tensor"
)

func ExampleNewGroups() {
	patient := tensor.Vector[int64](8, 1, 8, 7, 1)
	groups := tensor.Must(sampler.NewGroups(patient, sampler.GroupOptions{}))
	fmt.Println(groups.Len(), groups.Firsts(), groups.Sizes())
	_, err := sampler.NewGroups(patient, sampler.GroupOptions{Apart: sampler.RefuseApart})
	fmt.Println(err)
	// Output:
	// 3 [0 1 3] [2 2 1]
	// rows of a group are not consecutive: got id 8 in row 0 and, after other ids, in row 2
}

// printBatches shows the batches of an epoch.
func printBatches(s sampler.Sampler, b sampler.Batching, n int) {
	units := tensor.Must(b.Units(n))
	order := tensor.Must(s.Order(sampler.Epoch{Units: units, Seed: 2}))
	plan := tensor.Must(b.Plan(order, n))
	var batch sampler.Batch
	for k := range plan.Len() {
		batch = plan.Batch(k, batch)
		fmt.Println(batch.Rows, batch.Splits)
	}
}

func ExampleGroups_Batches() {
	query := tensor.Vector[int32](8, 8, 8, 1, 1, 7, 7, 7, 7)
	groups := tensor.Must(sampler.NewGroups(query, sampler.GroupOptions{}))
	printBatches(sampler.Random(), tensor.Must(groups.Batches(sampler.GroupBatchOptions{Groups: 2})), 9)
	fmt.Println("at most 5 rows:")
	printBatches(sampler.Sequential(), tensor.Must(groups.Batches(sampler.GroupBatchOptions{MaxRows: 5})), 9)
	// Output:
	// [3 4 5 6 7 8] [0 2 6]
	// [0 1 2] [0 3]
	// at most 5 rows:
	// [0 1 2 3 4] [0 3 5]
	// [5 6 7 8] [0 4]
}

func ExampleGroups_FNV() {
	query := tensor.Vector[int64](8, 8, 8, 1, 1, 7, 7, 7, 7)
	groups := tensor.Must(sampler.NewGroups(query, sampler.GroupOptions{}))
	printBatches(groups.FNV(), tensor.Must(groups.Batches(sampler.GroupBatchOptions{Groups: 2})), 9)
	// Output:
	// [3 4 0 1 2] [0 2 5]
	// [5 6 7 8] [0 4]
}

func ExampleBuckets() {
	lengths := []int64{5, 30, 7, 28, 6, 31, 8}
	batching := tensor.Must(sampler.Buckets(lengths, sampler.BucketOptions{Tokens: 64}))
	printBatches(sampler.Sequential(), batching, len(lengths))
	// Output:
	// [1 3] []
	// [0 2 4 6] []
	// [5] []
}
