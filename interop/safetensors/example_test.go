package safetensors_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func Example() {
	dir := tensor.Must(os.MkdirTemp("", "safetensors"))
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "steps.safetensors")
	td := tensor.Must(tdict.FromMap(shapeops.Shape{3}, tdict.Entries{
		"obs/pos": tensor.Must(tensor.From([]float32{0, 1, 2, 3, 4, 5}, 3, 2)),
		"reward":  tensor.Vector(0.5, 1, 1.5),
	}))
	if err := safetensors.Save(path, td); err != nil {
		fmt.Println(err)
	}

	f := tensor.Must(safetensors.Open(path))
	defer f.Close()
	fmt.Println(f)
	rows := tensor.Must(f.Index(ix.Take(2, 0)))
	fmt.Println(tensor.Must(rows.Tensor("obs/pos")))
	// Output:
	// TensorDict(
	//     fields={
	//         obs: TensorDict(
	//             fields={
	//                 pos: Tensor(shape=[3 2], dtype=float32)},
	//             batch=[3]),
	//         reward: Tensor(shape=[3], dtype=float64)},
	//     batch=[3])
	// float32 [2 2]
	// [[4 5]
	//  [0 1]]
}

// The weights of one layer of a model in two shards.
func ExampleOpenWith_sharded() {
	dir := tensor.Must(os.MkdirTemp("", "safetensors"))
	defer os.RemoveAll(dir)
	for i, file := range []string{"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"} {
		layer := tdict.New()
		_ = layer.Set(nestedkey.Of("layers", fmt.Sprint(i), "weight"), tensor.Vector(float32(i), 10))
		if err := safetensors.Save(filepath.Join(dir, file), layer); err != nil {
			fmt.Println(err)
		}
	}
	index := filepath.Join(dir, "model.safetensors.index.json")
	_ = os.WriteFile(index, []byte(`{"metadata": {"total_size": 16}, "weight_map": {
		"layers.0.weight": "model-00001-of-00002.safetensors",
		"layers.1.weight": "model-00002-of-00002.safetensors"}}`), 0o666)

	f := tensor.Must(safetensors.OpenWith(index, safetensors.Options{Keys: []nestedkey.Key{"layers/1"}, BatchDims: -1}))
	defer f.Close()
	fmt.Println(f)
	// Output:
	// TensorDict(
	//     fields={
	//         layers: TensorDict(
	//             fields={
	//                 1: TensorDict(
	//                     fields={
	//                         weight: Tensor(shape=[2], dtype=float32)},
	//                     batch=[])},
	//             batch=[])},
	//     batch=[])
}

// Python's transformers opens files whose metadata says by which library they were written.
func ExampleSaveWith() {
	dir := tensor.Must(os.MkdirTemp("", "safetensors"))
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.safetensors")
	td := tdict.New()
	_ = td.Set("linear/bias", tensor.Vector[float32](1, 2))
	_ = td.Set("linear/scale", tensor.Scalar[float32](3))
	opt := safetensors.SaveOptions{Metadata: map[string]string{"format": "pt"}}
	if err := safetensors.SaveWith(context.Background(), path, td, opt); err != nil {
		fmt.Println(err)
	}
	text, _, _ := strings.Cut(string(tensor.Must(os.ReadFile(path))[8:]), " ") // the header, without spaces at its end
	fmt.Println(text)
	// Output:
	// {"__metadata__":{"format":"pt"},"linear.bias":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"linear.scale":{"dtype":"F32","shape":[],"data_offsets":[8,12]}}
}

// Files come over a connection, each after its length, and go into one dictionary.
func ExampleReader() {
	var conn bytes.Buffer
	for n := range 2 {
		var file bytes.Buffer
		td := tensor.Must(tdict.FromMap(nil, tdict.Entries{"obs/pos": tensor.Vector(float32(n), 0.5)}))
		if err := safetensors.Write(&file, td, safetensors.SaveOptions{}); err != nil {
			fmt.Println(err)
		}
		conn.Write(binary.LittleEndian.AppendUint64(nil, uint64(file.Len())))
		conn.Write(file.Bytes())
	}

	files := safetensors.NewReader(&conn)
	td := tensor.Must(tdict.FromMap(nil, tdict.Entries{"obs/pos": tensor.Must(tensor.New(tensor.Float32, 2))}))
	for conn.Len() > 0 {
		var size int64
		err := binary.Read(&conn, binary.LittleEndian, &size)
		if err == nil {
			err = files.ReadInto(td, size)
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(tensor.Must(td.Tensor("obs/pos")))
	}
	// Output:
	// float32 [2]
	// [  0 0.5]
	// float32 [2]
	// [  1 0.5]
}
