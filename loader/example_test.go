package loader_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// letters returns a source of so many rows: "a", "b", "c" and so on, as bytes.
func letters(n int) loader.Source {
	td := tdict.New(n)
	_ = td.Set("letter", tensor.Must(tensor.Arange('a', 'a'+int32(n), 1)))
	return tensor.Must(loader.From(td))
}

// show prints the letters of a batch.
func show(batch *tdict.TensorDict) {
	fmt.Printf("[%s]", string(tensor.Must(tdict.Slice[int32](batch, "letter"))))
}

func ExampleNew() {
	l, err := loader.New(letters(10), loader.Options{Batch: 4, Sampler: sampler.Random(), Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for l.Epoch() < 2 {
		for batch, err := range l.Batches(context.Background()) {
			if err != nil {
				fmt.Println(err)
				return
			}
			show(batch)
		}
		fmt.Println()
	}
	_, err = loader.New(letters(10), loader.Options{})
	fmt.Println(err)
	// Output:
	// [fabc][jgeh][id]
	// [gcad][febj][ih]
	// new loader: unusable size: got a batch size of 0, want at least 1
}

func ExampleLoader_Batches() {
	upper := transform.Func("upper", func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
		return tdict.MapElems(td, func(c int32) int32 { return c - 'a' + 'A' })
	})
	l := tensor.Must(loader.New(letters(10), loader.Options{Batch: 4, Transform: upper, Workers: 2}))
	for batch, err := range l.Batches(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		show(batch)
	}
	// Output:
	// [ABCD][EFGH][IJ]
}

func ExampleLoader_Restore() {
	opt := loader.Options{Batch: 3, Sampler: sampler.Random(), Seed: 7}
	l := tensor.Must(loader.New(letters(10), opt))
	var checkpoint []byte
	for batch, err := range l.Batches(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		show(batch)
		if l.Left() == 2 { // in the middle of the epoch
			checkpoint, _ = json.MarshalIndent(l.State(), "", " ")
		}
	}
	fmt.Printf("\n%s\n", checkpoint)

	var state loader.State
	_ = json.Unmarshal(checkpoint, &state)
	again := tensor.Must(loader.New(letters(10), opt))
	fmt.Println(again.Restore(state), again.Left(), "left")
	for batch := range again.Batches(context.Background()) {
		show(batch)
	}
	// Output:
	// [ieb][hgf][daj][c]
	// {
	//  "version": 1,
	//  "rows": 10,
	//  "row_bytes": 4,
	//  "schema": "365761f3c6e48967",
	//  "sampler": "random",
	//  "batching": "batches of 3 rows",
	//  "seed": 7,
	//  "epoch": 0,
	//  "batch": 2
	// }
	// <nil> 2 left
	// [daj][c]
}

func ExampleLoader_Seek() {
	l := tensor.Must(loader.New(letters(10), loader.Options{Batch: 4}))
	fmt.Println(l.Seek(5, 2), l.Epoch(), l.Left(), "of", l.Len())
	fmt.Println(l.Seek(5, 4))
	// Output:
	// <nil> 5 1 of 3
	// seek: no such batch: got batch 4, want one from 0 to 3
}

func ExampleOptions_share() {
	for rank := range 3 {
		l := tensor.Must(loader.New(letters(10), loader.Options{
			Batch: 2, Share: sampler.Share{Rank: rank, World: 3},
		}))
		for batch := range l.Batches(context.Background()) {
			show(batch)
		}
		fmt.Println()
	}
	// Output:
	// [ab][gh]
	// [cd][ij]
	// [ef][ab]
}

func ExampleCollate() {
	words := tensor.Must(ragged.From[int64]([][]int64{{1, 2}, {3}, {}, {4, 5, 6}}))
	td := tdict.New(4)
	_ = td.Set("word", words)
	lengths := func(td *tdict.TensorDict, mem *loader.Memory) (*tdict.TensorDict, error) {
		x, err := tdict.Get[*ragged.Tensor](td, "word")
		if err != nil {
			return nil, err
		}
		n, err := x.Layout().Lengths(1)
		if err != nil {
			return nil, err
		}
		dense, err := x.Densify(ragged.DensifyOptions{Buffer: mem.Buffer("word")})
		if err != nil {
			return nil, err
		}
		if err := td.Set("length", tensor.Vector(n...)); err != nil {
			return nil, err
		}
		return td, td.Set("word", dense)
	}
	l := tensor.Must(loader.New(tensor.Must(loader.From(td)), loader.Options{Batch: 2, Collate: lengths}))
	for batch := range l.Batches(context.Background()) {
		for _, key := range []nestedkey.Key{"word", "length"} {
			x := tensor.Must(batch.Tensor(key))
			fmt.Print(key, x.Shape(), tensor.Must(tensor.Of[int64](x)), " ")
		}
	}
	// Output:
	// word[2 2] [1 2 3 0] length[2] [2 1] word[2 3] [0 0 0 4 5 6] length[2] [0 3]
}

func ExampleLoader_Stats() {
	l := tensor.Must(loader.New(letters(10), loader.Options{
		Batch: 4, Progress: func(p loader.Progress) { fmt.Printf("%d/%d ", p.Done, p.Total) },
	}))
	for range l.Batches(context.Background()) {
	}
	s := l.Stats()
	fmt.Println(s.Batches, "batches,", s.Rows, "rows,", s.Bytes, "bytes")
	// Output:
	// 1/3 2/3 3/3 3 batches, 10 rows, 40 bytes
}
