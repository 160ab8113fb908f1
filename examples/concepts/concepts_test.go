package concepts_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// numbers returns a dictionary with one entry: x [4], the numbers 0 to 3.
func numbers() *tdict.TensorDict {
	return tensor.Must(tdict.FromValues(shapeops.Shape{4}, tdict.Values{"x": []float32{0, 1, 2, 3}}))
}

func Example_batchShape() {
	td := tdict.New(4) // batch shape [4]
	check(td.Set("image", tensor.Must(tensor.From(make([]uint8, 4*8*8), 4, 8, 8))))
	check(td.Set("meta/label", tensor.Vector[int64](7, 0, 3, 3)))

	tail := tensor.Must(td.Index(ix.Range(1, ix.End)))
	fmt.Println(tail)
	fmt.Println(td.Set("weight", tensor.Vector[float32](1, 2, 3)))
	// Output:
	// TensorDict(
	//     fields={
	//         image: Tensor(shape=[3 8 8], dtype=uint8),
	//         meta: TensorDict(
	//             fields={
	//                 label: Tensor(shape=[3], dtype=int64)},
	//             batch=[3])},
	//     batch=[3])
	// set "weight": shape mismatch: got [3], want a shape that begins with [4]
}

func Example_views() {
	td := numbers()
	view := tensor.Must(td.Index(ix.Range(0, 2)))
	copied := tensor.Must(td.Index(ix.Take(0, 1)))
	check(arith.FillInPlace(td, 9))

	fmt.Println(tensor.Must(tdict.Slice[float32](view, "x")))
	fmt.Println(tensor.Must(tdict.Slice[float32](copied, "x")))
	// Output:
	// [9 9]
	// [0 1]
}

func Example_destinations() {
	td := numbers()
	dst := tensor.Must(td.NewZeros(2)) // like td, with batch shape [2]
	for _, rows := range [][]int{{0, 3}, {2, 2}} {
		check(td.IndexInto(dst, ix.Take(rows...)))
		fmt.Println(tensor.Must(tdict.Slice[float32](dst, "x")))
	}
	// Output:
	// [0 3]
	// [2 2]
}

func Example_locks() {
	td := numbers()
	td.Lock()
	fmt.Println(td.Delete("x"))
	fmt.Println(arith.FillInPlace(td, 9)) // elements may change

	own := td.Copy() // not locked, and shares the tensors
	fmt.Println(own.Delete("x"))
	// Output:
	// delete "x": locked: Unlock it, or change a Copy
	// <nil>
	// <nil>
}

func Example_memory() {
	dir := tensor.Must(os.MkdirTemp("", "concepts-"))
	defer os.RemoveAll(dir)
	check(memmap.Save(dir, numbers()))
	ds := tensor.Must(memmap.Open(dir))
	view := tensor.Must(ds.Index(ix.Range(0, 2)))  // in the mapped file
	copied := tensor.Must(ds.Index(ix.Take(0, 1))) // in Go memory
	check(ds.Close())

	_, err := tdict.Slice[float32](view, "x")
	fmt.Println(errors.Is(err, memmap.ErrClosed))
	fmt.Println(tensor.Must(tdict.Slice[float32](copied, "x")))
	// Output:
	// true
	// [0 1]
}

func Example_errors() {
	td := numbers()
	_, err := td.Index(ix.At(9))
	fmt.Println(err)
	fmt.Println(errors.Is(err, shapeops.ErrIndex))

	_, err = td.Tensor("y")
	if e, ok := errors.AsType[*tdict.KeyError](err); ok {
		fmt.Println("operation:", e.Op, "key:", e.Key, "reason:", e.Err)
	}
	fmt.Println(errors.Is(err, tdict.ErrMissing))
	// Output:
	// index: bad index: got position 9 of dim 0, which has size 4
	// true
	// operation: get key: y reason: missing key: have "x"
	// true
}

func Example_fileErrors() {
	dir := tensor.Must(os.MkdirTemp("", "concepts-"))
	defer os.RemoveAll(dir)
	check(memmap.Save(dir, numbers()))
	check(os.Truncate(filepath.Join(dir, "x.memmap"), 9))

	_, err := memmap.Open(dir)
	fmt.Println(strings.ReplaceAll(err.Error(), dir, "DIR"))
	fmt.Println(errors.Is(err, memmap.ErrCorrupt))
	// Output:
	// open DIR: x.memmap: corrupt: got 9 bytes, want 16
	// true
}
