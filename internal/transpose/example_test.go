package transpose_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/transpose"
)

func ExamplePlane_Copy() {
	from, to := []byte("abcdef"), make([]byte, 6) // [2 3] -> [3 2]
	p := transpose.Plane{
		To:   transpose.Side{Bytes: to, Pitch: 2},
		From: transpose.Side{Bytes: from, Pitch: 3},
		Rows: 3, Cols: 2, Width: 1,
	}
	p.Copy()
	fmt.Println(string(to))
	// Output: adbecf
}
