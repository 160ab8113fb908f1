package csv_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
)

const people = `name,day,height,sex
Ada,2026-11-24,1.65,f
"Émilie, of Paris",2026-11-23,NA,f
Carl,NA,1.8,m
`

func Example() {
	format := csv.Format{
		Times:      map[nestedkey.Key]csv.Time{"day": {Layout: time.DateOnly, Unit: 24 * time.Hour}},
		Categories: map[nestedkey.Key]*ragged.TextCodes{"sex": {}},
	}
	schema, err := csv.Infer(strings.NewReader(people), 0, format)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(schema)
	for td, err := range csv.Read(context.Background(), strings.NewReader(people), schema, csv.ReadOptions{Format: format}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(schema.Head(td, 3))
	}
	fmt.Println(format.Categories["sex"].Texts())
	// Output:
	// key     kind    dtype    shape  doc
	// name    text             []     3 of 3 fields: texts of 3 to 17 bytes, 3 distinct
	// day     tensor  int64    []     optional, 2 of 3 fields: times
	// height  tensor  float64  []     optional, 2 of 3 fields: numbers from 1.65 to 1.8
	// sex     text             []     3 of 3 fields: texts of 1 to 1 bytes, 2 distinct
	// name                day    day_mask  height  height_mask  sex
	// "Ada"               20781  true      1.65    true         0
	// "Émilie, of Paris"  20780  true      0       false        0
	// "Carl"              0      false     1.8     true         1
	// [f m]
}

func ExampleWrite() {
	schema, err := csv.Infer(strings.NewReader(people), 0, csv.Format{})
	if err != nil {
		log.Fatal(err)
	}
	chunks := csv.Read(context.Background(), strings.NewReader(people), schema, csv.ReadOptions{})
	if err := csv.Write(context.Background(), os.Stdout, schema, chunks, csv.Format{Comma: ';', NA: []string{"-"}}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// name;day;height;sex
	// Ada;2026-11-24;1.65;f
	// Émilie, of Paris;2026-11-23;-;f
	// Carl;-;1.8;m
}
