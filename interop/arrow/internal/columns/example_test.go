package columns_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func Example() {
	td := tdict.New(3)
	_ = td.Set("x", tensor.Vector[float32](1, 2, 3))
	_ = td.Set("codes", tensor.Must(ragged.From[int64]([][]int64{{7, 8}, {}, {9}})))
	rec := tensor.Must(columns.FromDict(td, nil))

	r := tensor.Must(columns.NewReader(rec.Schema(), columns.Options{}))
	for from := int64(0); from < 3; from += 2 {
		part := tensor.Must(r.Dict(rec.NewSlice(from, min(from+2, 3))))
		fmt.Println(part.Head(2))
	}
	// Output:
	// x  codes
	// 1  [7 8]
	// 2  []
	// x  codes
	// 3  [9]
}
