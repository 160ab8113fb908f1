package jsonscan_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/jsonscan"
)

func ExampleScanner() {
	s := jsonscan.New([]byte(`{"shape":[2,3],"note":["passed over"]}`))
	var shape []int64
	err := s.Object(func(name []byte) error {
		if string(name) != "shape" {
			return s.Skip()
		}
		return s.Array(func(int) error {
			n, err := s.Int()
			shape = append(shape, n)
			return err
		})
	})
	fmt.Println(shape, err, s.End())
	// Output: [2 3] <nil> <nil>
}
