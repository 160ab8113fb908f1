package tdarrow_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/go-tensordict/tensordict/interop/arrow/tdarrow"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func ExampleFromDict() {
	td := tdict.New(3)
	_ = td.Set("obs/pos", tensor.Must(tensor.From([]float32{0, 1, 2, 3, 4, 5}, 3, 2)))
	_ = td.Set("codes", tensor.Must(ragged.From[int64]([][]int64{{7, 8}, {}, {9}})))
	_ = td.Set("name", tensor.Must(ragged.FromStrings([]string{"Ada", "", "Émilie"})))
	_ = td.Set("named", tensor.Vector(true, false, true))
	_ = td.Set("born", tensor.Vector[int64](0, 1, -1))
	schema := tdict.Schema{
		{Key: "obs/pos", DType: tensor.Float32, Shape: shapeops.Shape{2}},
		{Key: "codes", Kind: tdict.KindRagged, DType: tensor.Int64, Depth: 1},
		{Key: "name", Kind: tdict.KindText, Mask: "named"},
		{Key: "named", DType: tensor.Bool},
		{Key: "born", DType: tensor.Int64, Unit: "d", Time: time.DateOnly},
	}
	rec, err := tdarrow.FromDict(td, schema)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, f := range rec.Schema().Fields() {
		fmt.Printf("%s %v %v\n", f.Name, f.Type, rec.Column(i))
	}

	back, err := tdarrow.ToDict(rec, tdarrow.Options{})
	fmt.Println(back.Equal(td), err)
	// Output:
	// obs struct<pos: fixed_size_list<item: float32>[2]> {[[0 1] [2 3] [4 5]]}
	// codes large_list<item: int64> [[7 8] [] [9]]
	// name large_utf8 ["Ada" (null) "Émilie"]
	// born date32 [1970-01-01 1970-01-02 1969-12-31]
	// true <nil>
}

func ExampleToDict() {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "day", Type: arrow.FixedWidthTypes.Date32},
		{Name: "ward", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}},
		{Name: "pulse", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		{Name: "price", Type: &arrow.Decimal128Type{Precision: 9, Scale: 2}},
	}, nil)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(`[
		{"day": "2026-11-30", "ward": "B2", "pulse": 71.5, "price": "1.50"},
		{"day": "2026-12-01", "ward": "A1", "pulse": null, "price": "2.50"},
		{"day": "2026-12-02", "ward": "B2", "pulse": 68, "price": "0.50"}]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = tdarrow.ToDict(rec, tdarrow.Options{})
	fmt.Println(err)
	td, err := tdarrow.ToDict(rec, tdarrow.Options{Skip: true})
	rec.Release() // td keeps what it needs
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(td.Head(3))
	// Output:
	// column "price": type is not supported: got decimal(9, 2): leave it out with Skip
	// day    ward  pulse  pulse_mask
	// 20787  0     71.5   true
	// 20788  1     0      false
	// 20789  0     68     true
}
