package workers_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/workers"
)

func ExampleDo() {
	squares := make([]int, 5)
	err := workers.Do(context.Background(), len(squares), 2, func(i int) error {
		squares[i] = i * i
		return nil
	})
	fmt.Println(squares, err)

	err = workers.Do(context.Background(), len(squares), 2, func(i int) error {
		if i > 1 {
			return fmt.Errorf("square %d: %w", i, errors.ErrUnsupported)
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// [0 1 4 9 16] <nil>
	// square 2: unsupported operation
}
