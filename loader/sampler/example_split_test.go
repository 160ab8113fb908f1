package sampler_test

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func ExampleSplit() {
	fmt.Println(sampler.Split(10, []float64{0.8, 0.2}, 1)) // fractions
	fmt.Println(sampler.Split(10, []int{7, 2, 1}, 1))      // numbers of rows
	// Output:
	// [[1 2 3 4 5 7 8 9] [0 6]] <nil>
	// [[1 2 3 4 5 7 8] [6 9] [0]] <nil>
}

// A training and a test set are two sources of one.
func ExampleSplit_sources() {
	x := tensor.Must(tensor.Arange[float32](0, 1000, 1))
	src := tensor.Must(loader.FromTensors(x))
	parts := tensor.Must(sampler.Split(src.Len(), []float64{0.9, 0.1}, 1))
	train := tensor.Must(loader.Subset(src, parts[0]))
	test := tensor.Must(loader.Subset(src, parts[1]))
	fmt.Println(train.Len(), test.Len())
	// Output: 900 100
}

// The visits of a patient are all for training, or all for testing.
func ExampleSplitGroups() {
	patient := tensor.Vector[int64](8, 1, 8, 7, 1, 7, 3, 8)
	fmt.Println(sampler.SplitGroups(patient, []float64{0.5, 0.5}, 1))
	// Output:
	// [[3 5 6] [0 1 2 4 7]] <nil>
}

// Each fold is what a model is tested on that was trained on the others.
func ExampleFolds() {
	folds := tensor.Must(sampler.Folds(7, 3, 1))
	for i, test := range folds {
		train := slices.Concat(slices.Delete(slices.Clone(folds), i, i+1)...)
		slices.Sort(train)
		fmt.Println("train", train, "test", test)
	}
	// Output:
	// train [1 2 5 6] test [0 3 4]
	// train [0 1 3 4 6] test [2 5]
	// train [0 2 3 4 5] test [1 6]
}

// Rows that a dataset lists are int64.
func ExampleInts() {
	td := tensor.Must(tdict.FromMap(shapeops.Shape{3}, tdict.Entries{"test": tensor.Vector[int64](4, 8, 15)}))
	rows := tensor.Must(sampler.Ints(tensor.Must(tdict.Slice[int64](td, "test"))))
	fmt.Println(sampler.Among(rows, sampler.Sequential()))
	// Output: among 3 units (sum 2656288b5b2becf5), sequential <nil>
}
