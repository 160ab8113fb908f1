package vector_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/vector"
)

func Example() {
	x := []float32{-1, 0, 2.5}
	vector.Do(vector.Relu, x, x, nil)
	vector.DoNumber(vector.Add, x, x, 0.5)
	marks := make([]uint8, 3)
	vector.MarkNumber(vector.Less, marks, x, 1)
	fmt.Println(x, marks, vector.Greatest(0, x))
	// Output: [0.5 0.5 3] [1 1 0] 3
}
