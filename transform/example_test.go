package transform_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// visits returns four rows: labs float32 [4 2], with one missing, and stage int64 [4].
func visits() *tdict.TensorDict {
	nan := float32(math.NaN())
	return tensor.Must(tdict.FromMap(shapeops.Shape{4}, tdict.Entries{
		"labs":  tensor.Must(tensor.From([]float32{1, 10, 2, 10, 3, 10, nan, 10}, 4, 2)),
		"stage": tensor.Vector[int64](0, 2, 1, 2),
	}))
}

// ramps returns n images of one line, 0 to 5, and masks that say which elements are even.
func ramps(n int) *tdict.TensorDict {
	images, masks := make([]uint8, 6*n), make([]bool, 6*n)
	for i := range images {
		images[i], masks[i] = uint8(i%6), i%2 == 0
	}
	return tensor.Must(tdict.FromMap(shapeops.Shape{n}, tdict.Entries{
		"image": tensor.Must(tensor.From(images, n, 6)), "mask": tensor.Must(tensor.From(masks, n, 6)),
	}))
}

func Example() {
	td := visits()
	stats, err := transform.FitStandard(td, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	pipeline := transform.Compose(
		stats,
		transform.FillNaN(0),
		transform.OnKeys(transform.OneHot(3, tensor.Float32), "stage"),
	)
	fmt.Println(pipeline)
	out, err := pipeline.Apply(td, transform.Draw{})
	fmt.Println(out.Head(4), err)
	// Output:
	// compose
	//   standard: 2 columns
	//   fill NaN with 0
	//   on stage: one hot: 3 classes, float32
	// labs            stage
	// [-1.2247449 0]  [1 0 0]
	// [0 0]           [0 0 1]
	// [1.2247449 0]   [0 1 0]
	// [0 0]           [0 0 1] <nil>
}

func ExampleFunc() {
	last := transform.Func("last column", func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
		x, err := td.Tensor("labs")
		if err != nil {
			return nil, err
		}
		if x, err = x.Index(ix.All, ix.At(-1)); err != nil {
			return nil, err
		}
		return td, td.Set("last", x) // td is a copy, which shares leaves
	})
	out, err := last.Apply(visits(), transform.Draw{})
	fmt.Println(tensor.Must(tdict.Slice[float32](out, "last")), err)
	// Output: [10 10 10 10] <nil>
}

// Each row is multiplied by a number of its own, the same for all its leaves.
func ExampleRandom() {
	gain := transform.Random("gain", func(td *tdict.TensorDict, d transform.Draw) (*tdict.TensorDict, error) {
		by := make([]float32, td.Shape()[0])
		if err := d.Each(td, func(i int, r *rand.Rand) { by[i] = 1 + float32(r.IntN(4)) }); err != nil {
			return nil, err
		}
		return arith.Mul(td, tensor.Vector(by...))
	})
	out, err := transform.OnKeys(gain, "labs").Apply(visits(), transform.Draw{Seed: 1})
	fmt.Println(tensor.Must(out.Tensor("labs")), err)
	// Output:
	// float32 [4 2]
	// [[  3  30]
	//  [  6  30]
	//  [ 12  40]
	//  [NaN  10]] <nil>
}

// A loader says which rows of the dataset are in a batch: then a row is the same in any batch.
func ExampleDraw() {
	ds, crop := ramps(100), transform.RandomCrop(3)
	for _, rows := range [][]int{{7, 50, 99}, {99, 7}} {
		batch := tensor.Must(ds.Index(ix.Take(rows...)))
		out, err := crop.Apply(batch, transform.Draw{Seed: 1, Epoch: 3, Rows: rows})
		fmt.Println(tensor.Must(out.Tensor("image")), err)
	}
	// Output:
	// uint8 [3 3]
	// [[0 1 2]
	//  [2 3 4]
	//  [1 2 3]] <nil>
	// uint8 [2 3]
	// [[1 2 3]
	//  [0 1 2]] <nil>
}

// Chunks of tdict.MapChunks know their rows if the dataset has a leaf that numbers them.
func ExampleDraw_map() {
	ds, crop := ramps(100), transform.OnKeys(transform.RandomCrop(3), "image", "mask")
	err := ds.Set("row", tensor.Must(tensor.Arange[int64](0, 100, 1)))
	all, err2 := crop.Apply(ds, transform.Draw{Seed: 1})
	same, err3 := tdict.MapChunks(context.Background(), ds, func(_ context.Context, chunk *tdict.TensorDict) (*tdict.TensorDict, error) {
		numbers, err := chunk.Tensor("row")
		if err != nil {
			return nil, err
		}
		rows, err := numbers.Ints()
		if err != nil {
			return nil, err
		}
		return crop.Apply(chunk, transform.Draw{Seed: 1, Rows: rows})
	}, tdict.MapChunksOptions{ChunkSize: 7})
	fmt.Println(same.Equal(all), errors.Join(err, err2, err3))
	// Output: true <nil>
}

func ExampleDraw_Each() {
	err := transform.Draw{Seed: 1, Rows: []int{31, 7}}.Each(tdict.New(2), func(i int, r *rand.Rand) {
		fmt.Println(i, r.IntN(1000), r.IntN(1000))
	})
	fmt.Println(err)
	// Output:
	// 0 476 341
	// 1 689 511
	// <nil>
}

// A transform of transforms gives each a place of its own to draw from.
func ExampleDraw_Step() {
	first := func(d transform.Draw) (x int) {
		_ = d.Each(tdict.New(1), func(_ int, r *rand.Rand) { x = r.IntN(1000) })
		return x
	}
	d := transform.Draw{Seed: 1}
	fmt.Println(first(d), first(d.Step(0)), first(d.Step(1)), first(d.Step(1)))
	// Output: 6 246 303 303
}

func ExampleCompose() {
	pipeline := transform.Compose(transform.FillNaN(0), transform.OneHot(2, tensor.Bool))
	_, err := pipeline.Apply(visits(), transform.Draw{})
	fmt.Println(err)
	fmt.Println(errors.Is(err, tensor.ErrDType))
	// Output:
	// step 1 (one hot: 2 classes, bool): one hot "labs": dtype mismatch: got float32, want integers
	// true
}

func ExampleOnKeys() {
	hot := transform.OnKeys(transform.OneHot(3, tensor.Uint8), "stage")
	fmt.Println(hot)
	fmt.Println(hot.Apply(visits(), transform.Draw{}))
	// Output:
	// on stage: one hot: 3 classes, uint8
	// TensorDict(
	//     fields={
	//         labs: Tensor(shape=[4 2], dtype=float32),
	//         stage: Tensor(shape=[4 3], dtype=uint8)},
	//     batch=[4]) <nil>
}

func ExampleOneHot() {
	td := visits().Exclude("labs")
	out, err := transform.OneHot(3, tensor.Uint8).Apply(td, transform.Draw{})
	fmt.Println(tensor.Must(out.Tensor("stage")), err)
	// Output:
	// uint8 [4 3]
	// [[1 0 0]
	//  [0 0 1]
	//  [0 1 0]
	//  [0 0 1]] <nil>
}

func ExampleCastScale() {
	out, err := transform.OnKeys(transform.CastScale(tensor.Float32, 0.5, -1), "image").Apply(ramps(1), transform.Draw{})
	fmt.Println(tensor.Must(out.Tensor("image")), err)
	// Output:
	// float32 [1 6]
	// [[  -1 -0.5    0  0.5    1  1.5]] <nil>
}

func ExampleFillNaN() {
	out, err := transform.FillNaN(-1).Apply(visits(), transform.Draw{})
	fmt.Println(tensor.Must(out.Tensor("labs")), err)
	// Output:
	// float32 [4 2]
	// [[ 1 10]
	//  [ 2 10]
	//  [ 3 10]
	//  [-1 10]] <nil>
}

// Image and mask are cut at the same place, each row at another.
func ExampleRandomCrop() {
	out, err := transform.RandomCrop(3).Apply(ramps(3), transform.Draw{Seed: 2})
	fmt.Println(out.Head(3), err)
	// Output:
	// image    mask
	// [2 3 4]  [true false true]
	// [1 2 3]  [false true false]
	// [3 4 5]  [false true false] <nil>
}

func ExampleRandomFlip() {
	out, err := transform.RandomFlip(0.5, -1).Apply(ramps(3), transform.Draw{})
	fmt.Println(tensor.Must(out.Tensor("image")), err)
	// Output:
	// uint8 [3 6]
	// [[5 4 3 2 1 0]
	//  [5 4 3 2 1 0]
	//  [0 1 2 3 4 5]] <nil>
}

// Statistics of what was measured; a column that is constant has deviation 1.
func ExampleFitStandard() {
	stats, err := transform.FitStandard(visits(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(stats)
	fmt.Println(stats.Mean().Tensor("labs"))
	fmt.Println(stats.Std().Tensor("labs"))
	// Output:
	// standard: 2 columns
	// float64 [2]
	// [ 2 10] <nil>
	// float64 [2]
	// [0.816496580927726                 1] <nil>
}

// The first two rows only.
func ExampleFitStandard_present() {
	stats, err := transform.FitStandard(visits(), tensor.Vector(true, true, false, false))
	fmt.Println(tensor.Must(stats.Mean().Tensor("labs")), err)
	// Output:
	// float64 [2]
	// [1.5  10] <nil>
}

// Labs of visits, of two patients: columns are the labs, whoever the patient is. Padding that comes
// before Apply is changed like any value, unless it is NaN.
func ExampleFitStandard_ragged() {
	labs, err := tensor.From([]float64{1, 10, 3, 20, 5, 30}, 3, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	td := tdict.New(2)
	lists := tensor.Must(ragged.FromLengths(labs, []int64{2, 1})) // [2 * 2]
	err = td.Set("labs", lists)
	stats, err2 := transform.FitStandard(td, nil)
	fmt.Println(stats, errors.Join(err, err2))

	out, err := stats.Apply(td, transform.Draw{})
	fmt.Println(tensor.Must(tdict.Get[*ragged.Tensor](out, "labs")), err)

	err = td.Set("labs", tensor.Must(lists.Densify(ragged.DensifyOptions{Fill: math.NaN()}))) // [2 2 2]
	out, err2 = transform.Compose(stats, transform.FillNaN(0)).Apply(td, transform.Draw{})
	fmt.Println(tensor.Must(out.Tensor("labs")), errors.Join(err, err2))
	// Output:
	// standard: 2 columns <nil>
	// ragged float64 [2 * 2]
	// [[[-1.224744871391589 -1.224744871391589] [0 0]]
	//  [[1.224744871391589 1.224744871391589]]] <nil>
	// float64 [2 2 2]
	// [[[-1.224744871391589 -1.224744871391589]
	//   [                 0                  0]]
	//
	//  [[ 1.224744871391589  1.224744871391589]
	//   [                 0                  0]]] <nil>
}

func ExampleStandard_Invert() {
	td := visits()
	stats := tensor.Must(transform.FitStandard(td, nil))
	out := tensor.Must(stats.Apply(td, transform.Draw{}))
	back, err := stats.Invert(out)
	fmt.Println(tensor.Must(back.Tensor("labs")), err)
	// Output:
	// float32 [4 2]
	// [[0.99999994         10]
	//  [         2         10]
	//  [         3         10]
	//  [       NaN         10]] <nil>
}

// The statistics are kept with what was made with them.
func ExampleStandardFrom() {
	td := visits()
	stats := tensor.Must(transform.FitStandard(td, nil))
	data := tensor.Must(stats.Data())
	err := td.Set("stats", data) // and memmap.Save, memmap.Open
	fmt.Println(data, err)

	same, err := transform.StandardFrom(tensor.Must(tdict.Get[*tdict.Data](td, "stats")))
	fmt.Println(same, same.Mean().Equal(stats.Mean()), err)
	// Output:
	// data [] {"transform":"standard","leaves":{"labs"... <nil>
	// standard: 2 columns true <nil>
}
