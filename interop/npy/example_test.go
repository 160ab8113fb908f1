package npy_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func Example() {
	dir := tensor.Must(os.MkdirTemp("", "npy"))
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "visits.npz")
	td := tensor.Must(tdict.FromMap([]int{3}, tdict.Entries{
		"obs/pos": tensor.Must(tensor.From([]float32{0, 1, 2, 3, 4, 5}, 3, 2)),
		"reward":  tensor.Vector(0.5, 1, 2),
	}))
	if err := npy.SaveDict(path, td); err != nil {
		fmt.Println(err)
	}

	d := tensor.Must(npy.OpenDict(path)) // numpy.load reads it too
	defer d.Close()
	batch := tensor.Must(d.Index(ix.Take(2, 0)))
	for key, x := range batch.Tensors() {
		fmt.Println(key, x)
	}
	// Output:
	// obs/pos float32 [2 2]
	// [[4 5]
	//  [0 1]]
	// reward float64 [2]
	// [  2 0.5]
}

func ExampleOpen() {
	dir := tensor.Must(os.MkdirTemp("", "npy"))
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "x.npy")
	if err := npy.Save(path, tensor.Vector[int32](7, 8, 9)); err != nil {
		fmt.Println(err)
	}

	f := tensor.Must(npy.Open(path))
	defer f.Close()
	fmt.Println(tensor.Must(f.Index(ix.Range(1, 3))))
	// Output:
	// int32 [2]
	// [8 9]
}

// A structured array of NumPy's, numpy.zeros(2, "<i4, <f4"), is a dictionary of its fields.
func ExampleOpenDict() {
	dir := tensor.Must(os.MkdirTemp("", "npy"))
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "records.npy")
	header := "\x93NUMPY\x01\x00\x76\x00{'descr': [('f0', '<i4'), ('f1', '<f4')], 'fortran_order': False, 'shape': (2,), }"
	file := fmt.Sprintf("%-127s\n%s", header, make([]byte, 16))
	if err := os.WriteFile(path, []byte(file), 0o666); err != nil {
		fmt.Println(err)
	}

	d, err := npy.OpenDict(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	fmt.Println(d)
	// Output:
	// TensorDict(
	//     fields={
	//         f0: Tensor(shape=[2], dtype=int32),
	//         f1: Tensor(shape=[2], dtype=float32)},
	//     batch=[2])
}

func ExampleOpenDictWith() {
	dir := tensor.Must(os.MkdirTemp("", "npy"))
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "visits.npz")
	td := tensor.Must(tdict.FromMap(nil, tdict.Entries{
		"obs/pos": tensor.Must(tensor.Zeros[float32](3, 2)),
		"reward":  tensor.Must(tensor.Zeros[float64](3)),
	}))
	if err := npy.SaveDictWith(context.Background(), path, td, npy.SaveDictOptions{Compress: true}); err != nil {
		fmt.Println(err)
	}

	d := tensor.Must(npy.OpenDictWith(path, npy.DictOptions{Keys: []nestedkey.Key{"obs"}, BatchDims: 1}))
	defer d.Close()
	fmt.Println(d.Shape(), tensor.Must(d.Tensor("obs/pos")).Shape())
	// Output: [3] [3 2]
}

func ExampleRead() {
	var stream bytes.Buffer
	for i := range 2 {
		if err := npy.Write(&stream, tensor.Scalar(int64(i))); err != nil {
			fmt.Println(err)
		}
	}
	for stream.Len() > 0 {
		fmt.Println(tensor.Must(npy.Read(&stream)))
	}
	// Output:
	// int64 [] 0
	// int64 [] 1
}
