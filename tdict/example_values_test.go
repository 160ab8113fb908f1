package tdict_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Copy shares leaves but not dictionaries. WithBatch also changes the batch shape.
func ExampleTensorDict_Copy() {
	td := tdict.New(2)
	_ = td.Set("x", tensor.Must(tensor.Zeros[float32](2, 3)))
	c := td.Copy()
	_ = c.Delete("x")
	fmt.Println(td.Has("x"), c.Has("x"))
	grid, err := td.WithBatch(2, 3)
	fmt.Println(grid.Shape(), err)
	_, err = td.WithBatch(3)
	fmt.Println(err)
	// Output:
	// true false
	// [2 3] <nil>
	// with batch "x": shape mismatch: got [2 3], want a shape that begins with [3]
}

func ExampleTensorDict_Diff() {
	a, b := tdict.New(2), tdict.New(2)
	_ = a.Set("obs/x", tensor.Vector(1.0, 2))
	_ = b.Set("obs/x", tensor.Vector(1.0, 3))
	fmt.Println(a.Diff(b))
	// Output: "obs/x": element [1] is 2, other 3 <nil>
}

// The text has every element. UnmarshalJSON reads it.
func ExampleTensorDict_MarshalJSON() {
	td := tdict.New(2)
	_ = td.Set("reward", tensor.Vector[float32](0, 0.5))
	_ = td.Set("obs/name", tensor.Must(tdict.NewData("left")))
	text, err := json.Marshal(td)
	fmt.Println(string(text), err)

	var back tdict.TensorDict
	err = json.Unmarshal(text, &back)
	fmt.Println(td.Equal(&back), err)
	// Output:
	// {"batch":[2],"entries":{"reward":{"dtype":"float32","shape":[2],"values":[0,0.5]},"obs":{"batch":[2],"entries":{"name":{"shape":[2],"value":"left"}}}}}
	// <nil> true <nil>
}

func ExampleTensorDict_UnmarshalJSON() {
	var td tdict.TensorDict
	err := td.UnmarshalJSON([]byte(`{"batch":[2],"entries":{"x":{"dtype":"uint8","shape":[2],"values":[1,256]}}}`))
	fmt.Println(err)
	// Output: unmarshal "x": element 1: unexpected JSON: got 256, want an integer from 0 to 255
}

// A preview has the first elements of each leaf.
func ExampleTensorDict_Preview() {
	td := tdict.New(2)
	_ = td.Set("pixels", tensor.Must(tensor.Zeros[uint8](2, 84, 84)))
	text, err := json.Marshal(td.Preview(3))
	fmt.Println(string(text), err)
	// Output: {"preview":3,"batch":[2],"entries":{"pixels":{"preview":3,"dtype":"uint8","shape":[2,84,84],"first":[0,0,0]}}} <nil>
}

// Logs show the elements of small tensors, and the structure of large ones.
func ExampleTensorDict_LogValue() {
	td := tdict.New(2)
	_ = td.Set("reward", tensor.Vector[float32](0, 0.5))
	_ = td.Set("pixels", tensor.Must(tensor.Zeros[uint8](2, 84, 84)))
	noTime := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: noTime})).Info("batch", "td", td)
	// Output: level=INFO msg=batch td.batch=[2] td.reward="float32 [2] [0,0.5]" td.pixels="uint8 [2 84 84]"
}

// Diff describes the first difference. Diffs lists all, with the first elements of each.
func ExampleTensorDict_Diffs() {
	a, b := tdict.New(2), tdict.New(2)
	_ = a.Set("obs/x", tensor.Vector(1.0, 2))
	_ = b.Set("obs/x", tensor.Vector(1.5, 3))
	_ = b.Set("reward", tensor.Vector(0.0, 1))
	for d := range a.Diffs(b) {
		fmt.Println(d.Kind, d.Count, d)
	}
	// Output:
	// elements 2 "obs/x": element [0] is 1, other 1.5
	// extra 0 "reward" is only in other
}
