package tdict_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// ten returns a dictionary of ten rows, each with a number.
func ten() *tdict.TensorDict {
	td := tdict.New(10)
	if err := td.Set("n", tensor.Vector[int64](0, 1, 2, 3, 4, 5, 6, 7, 8, 9)); err != nil {
		panic(err)
	}
	return td
}

// odd returns the rows of a chunk with odd numbers, or nil if there are none.
func odd(_ context.Context, chunk *tdict.TensorDict) (*tdict.TensorDict, error) {
	n, err := tdict.Slice[int64](chunk, "n")
	if err != nil {
		return nil, err
	}
	mask := make([]bool, len(n))
	for i, v := range n {
		mask[i] = v%2 == 1
	}
	if !slices.Contains(mask, true) {
		return nil, nil
	}
	return chunk.Index(ix.Mask(mask))
}

// squares returns the squares of the numbers of a chunk.
func squares(_ context.Context, chunk *tdict.TensorDict) (*tdict.TensorDict, error) {
	return tdict.MapElems(chunk, func(n int64) float64 { return float64(n * n) })
}

func ExampleMapChunks() {
	some, err := tdict.MapChunks(context.Background(), ten(), odd, tdict.MapChunksOptions{ChunkSize: 4, Workers: 2})
	fmt.Println(some.Shape(), tensor.Must(tdict.Slice[int64](some, "n")), err)
	// Output: [5] [1 3 5 7 9] <nil>
}

// MapChunks writes results to Into when they are ready. Into may be a memory-mapped dataset that is
// larger than memory.
func ExampleMapChunks_into() {
	out := tdict.New(10)
	err := out.Set("n", tensor.Must(tensor.Zeros[float64](10)))
	_, err2 := tdict.MapChunks(context.Background(), ten(), squares, tdict.MapChunksOptions{
		Chunks:   2,
		Into:     out,
		Progress: func(done, total int) { fmt.Println(done, "of", total) },
	})
	fmt.Println(tensor.Must(tdict.Slice[float64](out, "n")), errors.Join(err, err2))
	// Output:
	// 5 of 10
	// 10 of 10
	// [0 1 4 9 16 25 36 49 64 81] <nil>
}

func ExampleIterChunks() {
	opt := tdict.IterChunksOptions{ChunkSize: 4, Workers: 2}
	for batch, err := range tdict.IterChunks(context.Background(), ten(), squares, opt) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(tensor.Must(tdict.Slice[float64](batch, "n")))
	}
	// Output:
	// [0 1 4 9]
	// [16 25 36 49]
	// [64 81]
}

// This example computes the distance of each point from one other point.
func ExampleVmap() {
	points, origin := tdict.New(3), tdict.New()
	err := errors.Join(
		points.Set("at", tensor.Must(tensor.From([]float64{1, 1, 4, 5, 0, 2}, 3, 2))),
		origin.Set("at", tensor.Vector[float64](1, 1)),
	)
	far, err2 := tdict.Vmap(context.Background(), []*tdict.TensorDict{points, origin},
		func(_ context.Context, rows []*tdict.TensorDict) (*tdict.TensorDict, error) {
			a, err := tdict.Slice[float64](rows[0], "at")
			b, err2 := tdict.Slice[float64](rows[1], "at")
			if err := errors.Join(err, err2); err != nil {
				return nil, err
			}
			out := tdict.New()
			return out, out.Set("squared", tensor.Scalar((a[0]-b[0])*(a[0]-b[0])+(a[1]-b[1])*(a[1]-b[1])))
		}, tdict.VmapOptions{In: []int{0, tdict.NotMapped}})
	fmt.Println(tensor.Must(tdict.Slice[float64](far, "squared")), errors.Join(err, err2))
	// Output: [0 25 2] <nil>
}

func ExampleRowsError() {
	_, err := tdict.MapChunks(context.Background(), ten(), func(_ context.Context, chunk *tdict.TensorDict) (*tdict.TensorDict, error) {
		return nil, fmt.Errorf("no %d rows today", chunk.Shape()[0])
	}, tdict.MapChunksOptions{ChunkSize: 4})
	fmt.Println(err)
	if failed, ok := errors.AsType[*tdict.RowsError](err); ok {
		fmt.Println(failed.From, failed.To, "|", failed.Err)
	}
	// Output:
	// map chunks: rows [0:4]: no 4 rows today
	// 0 4 | no 4 rows today
}
