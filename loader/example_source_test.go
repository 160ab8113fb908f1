package loader_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// ages returns three rows.
func ages() *tdict.TensorDict {
	td := tdict.New(3)
	_ = td.Set("age", tensor.Vector[int64](31, 47, 25))
	return td
}

func ExampleFrom() {
	td := tdict.New(3)
	_ = td.Set("age", tensor.Vector[int64](31, 47, 25))
	_ = td.Set("scan", tensor.Must(tensor.From([]float32{1, 2, 3, 4, 5, 6}, 3, 2)))

	l := tensor.Must(loader.New(tensor.Must(loader.From(td)), loader.Options{Batch: 2}))
	for batch := range l.Batches(context.Background()) {
		fmt.Println(tensor.Must(tdict.Slice[int64](batch, "age")), tensor.Must(tdict.Slice[float32](batch, "scan")))
	}
	// Output:
	// [31 47] [1 2 3 4]
	// [25] [5 6]
}

// example prints the ages of all batches.
func example(src loader.Source) {
	l := tensor.Must(loader.New(src, loader.Options{Batch: 2}))
	for batch, err := range l.Batches(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(tensor.Must(tdict.Slice[int64](batch, "age")))
	}
}

func ExampleFromDataset() {
	dir := tensor.Must(os.MkdirTemp("", "example"))
	defer os.RemoveAll(dir)
	_ = memmap.Save(filepath.Join(dir, "patients"), ages())

	ds := tensor.Must(memmap.Open(filepath.Join(dir, "patients")))
	defer ds.Close()
	example(tensor.Must(loader.FromDataset(ds)))
	// Output:
	// [31 47]
	// [25]
}

func ExampleFromLive() {
	dir := tensor.Must(os.MkdirTemp("", "example"))
	defer os.RemoveAll(dir)
	_ = memmap.Save(filepath.Join(dir, "patients"), ages())

	live := tensor.Must(memmap.OpenLive(filepath.Join(dir, "patients"), memmap.LiveOptions{}))
	defer live.Close()
	// Another process may replace the directory: the next epoch has what is there then.
	example(tensor.Must(loader.FromLive(live, loader.LiveOptions{Finish: true})))
	// Output:
	// [31 47]
	// [25]
}

func ExampleFromTensors() {
	xs := tensor.Must(tensor.From([]float32{1, 2, 3, 4, 5, 6}, 3, 2))
	ys := tensor.Vector[int64](0, 1, 0)
	l := tensor.Must(loader.New(tensor.Must(loader.FromTensors(xs, ys)), loader.Options{Batch: 2}))
	for batch := range l.Batches(context.Background()) {
		fmt.Println(tensor.Must(tdict.Slice[float32](batch, "0")), tensor.Must(tdict.Slice[int64](batch, "1")))
	}
	// Output:
	// [1 2 3 4] [0 1]
	// [5 6] [0]
}

// Rows that differ in length become ragged leaves.
func ExampleFromRows() {
	words := []string{"tensors", "of", "words"} // a file each, say
	src := tensor.Must(loader.FromRows(len(words), func(_ context.Context, row int) (*tdict.TensorDict, error) {
		td := tdict.New(len(words[row]))
		return td, td.Set("letters", tensor.Vector([]byte(words[row])...))
	}))
	l := tensor.Must(loader.New(src, loader.Options{Batch: 2}))
	for batch := range l.Batches(context.Background()) {
		letters := tensor.Must(tdict.Get[*ragged.Tensor](batch, "letters"))
		fmt.Println(tensor.Must(letters.Layout().Lengths(1)))
	}
	// Output:
	// [7 2]
	// [5]
}

// A function may do something before and after another source.
func ExampleFromFunc() {
	table := tensor.Must(loader.From(ages()))
	src := tensor.Must(loader.FromFunc(3, func(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
		fmt.Println("fetch", rows)
		return table.Fetch(ctx, rows, dst)
	}))
	example(src)
	// Output:
	// fetch [0 1]
	// [31 47]
	// fetch [2]
	// [25]
}

func ExampleConcat() {
	january, february := tensor.Must(loader.From(ages())), tensor.Must(loader.From(ages()))
	example(tensor.Must(loader.Concat(january, february)))
	// Output:
	// [31 47]
	// [25 31]
	// [47 25]
}

func ExampleZip() {
	names := tdict.New(3)
	_ = names.Set("name", tensor.Must(tdict.DataFrom([]string{"Ann", "Bo", "Cy"}, 3)))
	src := tensor.Must(loader.Zip(tensor.Must(loader.From(ages())), tensor.Must(loader.From(names))))
	l := tensor.Must(loader.New(src, loader.Options{Batch: 2}))
	for batch := range l.Batches(context.Background()) {
		fmt.Println(tensor.Must(tdict.Slice[int64](batch, "age")), tensor.Must(tdict.Get[*tdict.Data](batch, "name")))
	}
	// Output:
	// [31 47] data [2] ["Ann" "Bo"]
	// [25] data [1] "Cy"
}

func ExampleSubset() {
	all := tensor.Must(loader.From(ages()))
	example(tensor.Must(loader.Subset(all, []int{2, 0, 2})))
	// Output:
	// [25 31]
	// [25]
}

// Each batch is as wide as its longest row.
func ExamplePad() {
	codes := tdict.New(3)
	_ = codes.Set("codes", tensor.Must(ragged.From[int64]([][]int64{{7}, {8, 9}, {1, 2, 3}})))
	l := tensor.Must(loader.New(tensor.Must(loader.From(codes)), loader.Options{
		Batch:   2,
		Collate: loader.Pad(ragged.DensifyOptions{Fill: -1, Masks: "mask"}),
	}))
	for batch := range l.Batches(context.Background()) {
		padded := tensor.Must(batch.Tensor("codes"))
		fmt.Println(padded.Shape(), tensor.Must(tdict.Slice[int64](batch, "codes")), tensor.Must(tdict.Slice[bool](batch, "mask/codes")))
	}
	// Output:
	// [2 2] [7 -1 8 9] [true false true true]
	// [1 3] [1 2 3] [true true true]
}
