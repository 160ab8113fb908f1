package where_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/where"
)

func Example() {
	td := tdict.New(4)
	_ = td.Set("label", tensor.Vector[int64](3, 3, 5, 3))
	_ = td.Set("age", tensor.Vector[float32](41, 39, 50, 0))
	_ = td.Set("age_mask", tensor.Vector(true, true, true, false)) // the last age is missing
	schema := tdict.Schema{{Key: "age", DType: tensor.Float32, Mask: "age_mask"}}

	cond := tensor.Must(where.Parse("label == 3 and not age > 40"))
	filter := tensor.Must(cond.BindSchema(td, schema)) // for td and chunks of it
	mask := tensor.Must(filter.Mask(td))
	fmt.Println(cond.Keys(), mask)

	_, err := where.Parse("label = 3")
	fmt.Println(err)
	_, err = tensor.Must(where.Parse("label == '3'")).Bind(td)
	fmt.Println(err)
	// Output:
	// [label age] bool [4]
	// [false  true false false]
	// where syntax: byte 6, at "= 3": want one of == != < <= > >= in after a key, and, or, or the end: write ==
	// where "label": dtype mismatch: got the literal "3" for int64, want a number
}
