package ragged_test

import (
	"encoding/json"
	"fmt"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tensor"
)

// Rows are lists, which show their lengths; the shape has a star for each level.
func ExampleTensor_UnmarshalJSON() {
	text, err := json.Marshal(tensor.Must(ragged.From[int64]([][]int64{{1, 2}, {}, {3}})))
	fmt.Println(string(text), err)
	var x ragged.Tensor
	err = json.Unmarshal(text, &x)
	fmt.Println(x.Layout().Lengths(1))
	// Output:
	// {"dtype":"int64","shape":"[3 *]","values":[[1,2],[],[3]]} <nil>
	// [2 0 1] <nil>
}
