package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
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
	w := tensor.Must(memmap.NewWriter(dir, row(names, fields), memmap.WriterOptions{}))
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
	measured := make([]float32, len(labs))
	for i, lab := range labs {
		measured[i] = float32(number(lab))
	}
	return tensor.Must(tdict.FromValues(nil, tdict.Values{
		"patient":      int32(number("id")),
		"day":          int32(number("day")),
		"labs":         measured,
		"target/stage": int64(number("stage")) - 1, // from 0 to 3
	}))
}

// parse returns the number in a field: NaN if it was not measured.
func parse(field string) float64 {
	if field == "NA" {
		return math.NaN()
	}
	return tensor.Must(strconv.ParseFloat(field, 64))
}
