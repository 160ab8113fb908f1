package csv_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/nestedkey"
)

const people = `name,day,height,sex
Ada,2026-11-24,1.65,f
"Émilie, of Paris",2026-11-23,NA,f
Carl,NA,1.8,m
`

func Example() {
	in := csv.NewInferrer(csv.Format{})
	in.Hints.Categories = map[nestedkey.Key]bool{"sex": true}
	if err := in.Add(strings.NewReader(people), 0); err != nil {
		log.Fatal(err)
	}
	schema, err := in.Schema()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(schema)
	rows, err := csv.ChunkSchema(schema, csv.Format{}) // with masks
	if err != nil {
		log.Fatal(err)
	}
	for td, err := range csv.Read(context.Background(), strings.NewReader(people), schema, csv.ReadOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(rows.Head(td, 3))
	}
	// Output:
	// key     kind    dtype    shape  doc
	// name    text             []     3 of 3 fields: texts of 3 to 17 bytes, 3 distinct
	// day     tensor  int64    []     optional, unit d, time 2006-01-02, 2 of 3 fields: dates from 2026-11-23 to 2026-11-24
	// height  tensor  float64  []     optional, 2 of 3 fields: numbers from 1.65 to 1.8
	// sex     tensor  int32    []     2 categories "f" "m", 3 of 3 fields: texts of 1 to 1 bytes, 2 distinct
	// name                day         height  sex
	// "Ada"               2026-11-24  1.65    "f"
	// "Émilie, of Paris"  2026-11-23  NA      "f"
	// "Carl"              NA          1.8     "m"
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
