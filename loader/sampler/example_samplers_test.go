package sampler_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tensor"
)

// show prints the beginning of the order of n units of 1 MB.
func show(s sampler.Sampler, n, count int) {
	o, err := s.Order(sampler.Epoch{Units: n, UnitBytes: 1_000_000, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(o.AppendTo(nil, 0, min(o.Len(), count)))
}

func ExampleAmong() {
	show(tensor.Must(sampler.Among([]int{4, 8, 15}, sampler.Sequential())), 20, 3)
	_, err := sampler.Among([]int{4, -8}, sampler.Random())
	fmt.Println(err)
	// Output:
	// [4 8 15]
	// wrong number of rows: got -8 at position 1, want at least 0
}

func ExampleShard() {
	for rank := range 4 {
		share := sampler.Share{Rank: rank, World: 4}
		show(tensor.Must(sampler.Shard(sampler.Sequential(), share)), 10, 3)
	}
	fmt.Println(sampler.Shard(sampler.Random(), sampler.Share{Rank: 2, World: 4}))
	_, err := sampler.Shard(sampler.Random(), sampler.Share{Rank: 4, World: 4})
	fmt.Println(err)
	// Output:
	// [0 4 8]
	// [1 5 9]
	// [2 6 0]
	// [3 7 1]
	// shard of 4, padded, of random <nil>
	// rank outside the world: got rank 4 of a world of 4, want a rank from 0 to World-1
}

func ExampleShare_Count() {
	padded, dropped := sampler.Share{World: 4}, sampler.Share{World: 4, Drop: true}
	fmt.Println(padded.Count(10), dropped.Count(10))
	// Output:
	// 3 2
}

func ExampleShare_Check() {
	fmt.Println(sampler.Share{Rank: 3, World: 4}.Check())
	fmt.Println(sampler.Share{Rank: 4, World: 4}.Check())
	// Output:
	// <nil>
	// rank outside the world: got rank 4 of a world of 4, want a rank from 0 to World-1
}

func ExampleEndless() {
	show(sampler.Endless(sampler.Sequential()), 3, 8)
	// Output:
	// [0 1 2 3 4 5 6 7]
}

func ExampleWeighted() {
	weights := []float64{1, 0, 9}
	s := tensor.Must(sampler.Weighted(weights, sampler.WeightedOptions{Draws: 1000}))
	o, err := s.Order(sampler.Epoch{Units: 3, Seed: 1})
	counts := make([]int, 3)
	for _, x := range o.AppendTo(nil, 0, o.Len()) {
		counts[x%3]++
	}
	fmt.Println(counts, err)
	_, err = sampler.Weighted([]float64{1, -2}, sampler.WeightedOptions{})
	fmt.Println(err)
	// Output:
	// [102 0 898] <nil>
	// unusable weight: got -2 for unit 1, want a finite number, at least 0
}

func ExampleStratified() {
	labels := tensor.Vector[int32](0, 0, 0, 0, 0, 0, 1, 1, 1)
	show(tensor.Must(sampler.Stratified(labels, sampler.StratifiedOptions{})), 9, 9)
	show(tensor.Must(sampler.Stratified(labels, sampler.StratifiedOptions{Balanced: true})), 9, 9)
	// Output:
	// [1 4 8 2 3 6 5 0 7]
	// [8 0 7 1 6 4 17 2 16]
}

func ExampleMixture() {
	parts := []sampler.Part{
		{Units: 6, Weight: 2, Sampler: sampler.Sequential()},
		{Units: 100, Weight: 1, Sampler: sampler.Sequential()},
	}
	show(tensor.Must(sampler.Mixture(parts, sampler.MixtureOptions{})), 106, 20)
	// Output:
	// [0 6 1 2 7 3 4 8 5]
}

func ExampleBlocks() {
	opt := sampler.BlockOptions{BlockBytes: 4_000_000, WindowBytes: 8_000_000}
	show(sampler.Blocks(opt), 16, 16)
	// Output:
	// [4 2 7 5 3 6 1 0 15 9 12 10 11 13 8 14]
}
