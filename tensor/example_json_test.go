package tensor_test

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/go-tensordict/tensordict/tensor"
)

// The text has dtype and shape, so that it can be read without knowing them.
func ExampleTensor_UnmarshalJSON() {
	text, err := json.Marshal(tensor.Vector(0.5, math.Inf(1)))
	fmt.Println(string(text), err)
	var x tensor.Tensor
	err = json.Unmarshal(text, &x)
	fmt.Println(&x, err)
	// Output:
	// {"dtype":"float64","shape":[2],"values":[0.5,"+Inf"]} <nil>
	// float64 [2]
	// [ 0.5 +Inf] <nil>
}

// A preview has the first elements of a tensor that is too large to be written whole.
func ExampleTensor_Preview() {
	text, err := json.Marshal(tensor.Must(tensor.Zeros[uint8](84, 84)).Preview(3))
	fmt.Println(string(text), err)
	// Output: {"preview":3,"dtype":"uint8","shape":[84,84],"first":[0,0,0]} <nil>
}
