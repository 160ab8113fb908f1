package tdict_test

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// samples returns a dictionary for the examples: three observations with labels and weights.
func samples() *tdict.TensorDict {
	td := tdict.New(3)
	_ = td.Set("obs/pos", tensor.Must(tensor.From([]float32{0, 1, 2, 3, 4, 5}, 3, 2)))
	_ = td.Set("obs/time", tensor.Vector[float32](0.1, 0.2, 0.3))
	_ = td.Set("label", tensor.Must(tdict.DataFrom([]string{"cat", "dog", "cat"}, 3)))
	_ = td.Set("weight", tensor.Vector(1.0, 0.5, 0.25))
	return td
}

// leafKeys prints the keys of the leaves.
func leafKeys(td *tdict.TensorDict) { fmt.Println(testkit.Keys(td.Leaves())) }

// This example splits inputs and labels from the rest.
func ExampleSplitKeys() {
	parts, err := tdict.SplitKeys(samples(), []nestedkey.Key{"obs/pos"}, []nestedkey.Key{"label", "weight"})
	for _, part := range parts {
		leafKeys(part)
	}
	fmt.Println(err)
	_, err = tdict.SplitKeys(samples(), []nestedkey.Key{"obs"}, []nestedkey.Key{"obs/time"})
	fmt.Println(err)
	// Output:
	// [obs/pos]
	// [label weight]
	// [obs/time]
	// <nil>
	// split keys "obs/time": key exists: the keys overlap with "obs", given before
}

func ExampleTensorDict_Separate() {
	td := samples()
	targets, err := td.Separate("label", "weight")
	leafKeys(targets)
	leafKeys(td)
	fmt.Println(err)
	// Output:
	// [label weight]
	// [obs/pos obs/time]
	// <nil>
}

// If several dictionaries have a leaf, the first stays unless Choose returns another.
func ExampleMerge() {
	corrected := tdict.New(3)
	_ = corrected.Set("obs/size", tensor.Vector[float32](1, 2, 1))
	_ = corrected.Set("weight", tensor.Vector(1.0, 1, 1))
	tds := []*tdict.TensorDict{samples(), corrected}

	first, err := tdict.Merge(tds, tdict.MergeOptions{})
	leafKeys(first)
	fmt.Println(tensor.Must(first.Tensor("weight")), err)

	last, err := tdict.Merge(tds, tdict.MergeOptions{
		Choose: func(key nestedkey.Key, vs []tdict.Value) (tdict.Value, error) {
			fmt.Println("choose", key, "of", len(vs))
			return vs[len(vs)-1], nil
		},
	})
	fmt.Println(tensor.Must(last.Tensor("weight")), err)
	// Output:
	// [obs/pos obs/time obs/size label weight]
	// float64 [3]
	// [   1  0.5 0.25] <nil>
	// choose weight of 2
	// float64 [3]
	// [1 1 1] <nil>
}

func ExampleTensorDict_FilterEmpty() {
	td := samples()
	_ = errors.Join(td.Delete("obs/pos"), td.Delete("obs/time")) // "obs" stays, without a leaf
	obs := tensor.Must(td.Dict("obs"))
	fmt.Println(obs.IsEmpty(), td.IsEmpty())
	fmt.Println(td.NumEntries(), td.FilterEmpty().NumEntries())
	// Output:
	// true false
	// 3 2
}

func ExampleTensorDict_IsEmpty() {
	td := tdict.New(3)
	_ = td.Set("obs", tdict.New(3))
	fmt.Println(td.IsEmpty(), td.NumEntries()) // an entry, but no leaf
	// Output: true 1
}

// Tensors that share memory with the dictionary change too.
func ExampleTensorDict_UpdateInPlace() {
	td := samples()
	first := tensor.Must(td.Index(ix.At(0)))
	news := tdict.New(3)
	_ = news.Set("weight", tensor.Vector(7.0, 8, 9))
	fmt.Println(td.UpdateInPlace(news))
	fmt.Println(tensor.Must(first.Tensor("weight")))
	// Output:
	// <nil>
	// float64 [] 7
}

func ExampleTensorDict_Clear() {
	td := samples()
	fmt.Println(td.Clear(), td.NumEntries(), td.Shape())
	// Output: <nil> 0 [3]
}

func ExampleTensorDict_SortKeys() {
	leafKeys(samples())
	leafKeys(samples().SortKeys())
	// Output:
	// [obs/pos obs/time label weight]
	// [label obs/pos obs/time weight]
}

func ExampleTensorDict_Rows() {
	for row, err := range samples().Rows() {
		if err != nil {
			fmt.Println(err)
			return
		}
		label := tensor.Must(tdict.Get[*tdict.Data](row, "label"))
		fmt.Println(row.Shape(), label)
	}
	// Output:
	// [] data [] "cat"
	// [] data [] "dog"
	// [] data [] "cat"
}

func ExampleTensorDict_Head() {
	fmt.Println(samples().Head(2))
	// Output:
	// obs/pos  obs/time  label  weight
	// [0 1]    0.1       "cat"  1
	// [2 3]    0.2       "dog"  0.5
	// 1 row more
}
