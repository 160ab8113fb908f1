package vector_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/vector"
)

func Example() {
	x := []float32{-1, 0, 2.5}
	vector.Relu(x, x)
	vector.AddNumber(x, x, 0.5)
	marks := make([]uint8, 3)
	vector.LessNumber(marks, x, 1)
	fmt.Println(x, marks, vector.Greatest(0, x))
	// Output: [0.5 0.5 3] [1 1 0] 3
}
