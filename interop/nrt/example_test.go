package nrt_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// patients returns times of visits, and codes of each visit, of three patients.
func patients() *joint.Joint {
	return tensor.Must(nrt.FromLists(map[string]any{
		"time":  [][]float64{{0.5, 2}, {1}, {0, 3, 4}},
		"codes": [][][]int64{{{11, 12}, {}}, {{13}}, {{14}, {15, 16}, {17}}},
	}, nil))
}

func Example() {
	dir := tensor.Must(os.MkdirTemp("", "nrt"))
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "patients.nrt")
	if err := nrt.Save(path, patients()); err != nil {
		fmt.Println(err)
	}

	f := tensor.Must(nrt.Open(path))
	defer f.Close()
	fmt.Println(f)
	last := tensor.Must(tensor.Must(f.Row(2)).Range(1, 3)) // two visits of the last patient
	codes := tensor.Must(last.Tensor("codes"))
	fmt.Println(tensor.Must(codes.Layout().Lengths(1)), tensor.Must(codes.Values()))
	// Output:
	// joint {
	//   codes: int64 [3 * *]
	//   time: float64 [3 *]
	// }
	// [2 1] int64 [3]
	// [15 16 17]
}

func ExampleOpenWith() {
	dir := tensor.Must(os.MkdirTemp("", "nrt"))
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "patients.nrt")
	if err := nrt.Save(path, patients()); err != nil {
		fmt.Println(err)
	}

	f := tensor.Must(nrt.OpenWith(path, nrt.Options{Keys: []string{"time"}}))
	defer f.Close()
	fmt.Println(f.Names())
	// Output: [time]
}

func ExampleFromLists() {
	for _, lists := range []any{
		[]any{[]any{1, 2}, []any{300}},
		[]any{[]any{1, -2}, []any{}},
		[]any{[]any{0.5}, []any{"NaN"}},
	} {
		fmt.Println(tensor.Must(nrt.FromLists(map[string]any{"x": lists}, nil)))
	}
	// An empty list has the dtype and depth that a schema says.
	s := tdict.Schema{{Key: "code", Kind: tdict.KindRagged, DType: tensor.Int32, Depth: 2}}
	fmt.Println(tensor.Must(nrt.FromLists(map[string]any{"code": []any{[]any{}, []any{}}}, s)))
	// Output:
	// joint {
	//   x: uint16 [2 *]
	// }
	// joint {
	//   x: int8 [2 *]
	// }
	// joint {
	//   x: float32 [2 *]
	// }
	// joint {
	//   code: int32 [2 * *]
	// }
}
