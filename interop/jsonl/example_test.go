package jsonl_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

const events = `{"id":7,"obs":{"pos":[0.5,1.0]},"days":[3,10],"name":"Ada"}
{"id":8,"obs":{"pos":[2.0,-1.0]},"days":[],"name":"Émilie"}
{"id":9,"obs":{"pos":[0.0,0.0]},"days":[5],"name":null}
`

func Example() {
	ctx := context.Background()
	schema := tensor.Must(jsonl.Infer(strings.NewReader(events), 1000))
	schema[1].DType = tensor.Float32 // "obs/pos"
	chunks := jsonl.Read(ctx, strings.NewReader(events), schema, jsonl.ReadOptions{})
	if err := jsonl.Write(ctx, os.Stdout, schema, chunks, jsonl.WriteOptions{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"id":7,"obs":{"pos":[0.5,1.0]},"days":[3,10],"name":"Ada"}
	// {"id":8,"obs":{"pos":[2.0,-1.0]},"days":[],"name":"Émilie"}
	// {"id":9,"obs":{"pos":[0.0,0.0]},"days":[5],"name":null}
}

func ExampleInfer() {
	fmt.Println(tensor.Must(jsonl.Infer(strings.NewReader(events), 1000)))
	// Output:
	// key      kind    dtype    shape  doc
	// id       tensor  int64    []     3 of 3 rows: integers from 7 to 9
	// obs/pos  tensor  float64  [2]    3 of 3 rows: lists of 2 numbers from -1.0 to 2.0
	// days     ragged  int64    [*]    3 of 3 rows: lists of 0 to 2 integers from 3 to 10
	// name     text             []     optional, 2 of 3 rows, 1 null: strings
}

func ExampleRead() {
	schema := tdict.Schema{
		{Key: "id", DType: tensor.Int64},
		{Key: "days", Kind: tdict.KindRagged, DType: tensor.Int16, Depth: 1},
	}
	opt := jsonl.ReadOptions{Rows: 2, SkipUnknown: true}
	text := events + `{"id":"ten","days":[1]}`
	for td, err := range jsonl.Read(context.Background(), strings.NewReader(text), schema, opt) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(tensor.Must(td.Get("id")), tensor.Must(td.Get("days")))
	}
	// Output:
	// int64 [2]
	// [7 8] ragged int16 [2 *]
	// [[3 10]
	//  []]
	// int64 [1]
	// [9] ragged int16 [1 *]
	// [[5]]
	// line 4, "id": value does not fit: got "ten", want an integer
}

func ExampleWrite() {
	schema := tdict.Schema{{Key: "x", DType: tensor.Float32, Shape: []int{2}}, {Key: "done", DType: tensor.Bool}}
	td := tensor.Must(schema.Zeros(2))
	if err := jsonl.Write(context.Background(), os.Stdout, schema, chunks(td), jsonl.WriteOptions{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"x":[0.0,0.0],"done":false}
	// {"x":[0.0,0.0],"done":false}
}
