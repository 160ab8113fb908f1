package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/go-tensordict/tensordict/examples/internal/data"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// labs are the names of the measurements of a visit.
var labs = []string{"bili", "chol", "albumin", "alk.phos", "ast", "platelet", "protime"}

// convert appends each line of the table of visits to a new dataset at dir.
func convert(dir string) {
	table := csv.NewReader(tensor.Must(data.VisitsCSV()))
	names := tensor.Must(table.Read()) // the first line
	fields, err := table.Read()
	first := row(names, fields)
	w := tensor.Must(memmap.NewWriter(dir, first, memmap.WriterOptions{Schema: schemaOf(first)}))
	for ; err == nil; fields, err = table.Read() {
		check(w.Append(row(names, fields)))
	}
	if err != io.EOF {
		check(err)
	}
	check(w.Finish())
	fmt.Println("wrote", w.Committed(), "visits")
}

// row returns a line of the table as a dictionary with the batch shape [].
func row(names, fields []string) *tdict.TensorDict {
	number := func(name string) float64 { return parse(fields[slices.Index(names, name)]) }
	values, measured := make([]float32, len(labs)), make([]bool, len(labs))
	for i, lab := range labs {
		if fields[slices.Index(names, lab)] != "NA" {
			values[i], measured[i] = float32(number(lab)), true
		}
	}
	return tensor.Must(tdict.FromValues(nil, tdict.Values{
		"patient":      int32(number("id")),
		"day":          int32(number("day")),
		"labs":         values,
		"measured":     measured,
		"target/stage": int64(number("stage")) - 1, // from 0 to 3
	}))
}

// parse returns the number in a field.
func parse(field string) float64 { return tensor.Must(strconv.ParseFloat(field, 64)) }

// schemaOf returns the schema of a row. It says that measured is the mask of the labs.
func schemaOf(row *tdict.TensorDict) tdict.Schema {
	schema := tdict.SchemaOf(row)
	for i := range schema {
		if schema[i].Key == "labs" {
			schema[i].Mask = "measured"
		}
	}
	return schema
}
