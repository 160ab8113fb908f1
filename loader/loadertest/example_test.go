package loadertest_test

import (
	"context"
	"fmt"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/loadertest"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Squares is a source of n rows, which are their numbers squared.
type Squares int

func (s Squares) Len() int { return int(s) }

func (s Squares) Fetch(_ context.Context, rows []int, _ *tdict.TensorDict) (*tdict.TensorDict, error) {
	squares := make([]int64, len(rows))
	for i, row := range rows {
		squares[i] = int64(row) * int64(row)
	}
	td := tdict.New(len(rows))
	return td, td.Set("square", tensor.Vector(squares...))
}

var _ loader.Source = Squares(0)

func ExampleTestSource() {
	fmt.Println(loadertest.TestSource(context.Background(), Squares(4)))
	// Output:
	// broken rule: Fetch returns an error if a row does not exist: rows [-1] of 4: got no error
	// broken rule: Fetch returns an error if ctx ended: got none
}
