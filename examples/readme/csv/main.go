// Csv makes a dataset of a CSV file with a header, and reads its last row and its first back.
//
//	go run ./examples/readme/csv FILE.csv DIR
package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: csv FILE.csv DIR")
	}
	lines := read(os.Args[1])
	columns := tdict.Values{}
	for i, name := range lines[0] {
		columns[nestedkey.Of(name)] = column(lines[1:], i)
	}
	td, err := tdict.FromValues(shapeops.Shape{len(lines) - 1}, columns)
	check(err)
	check(memmap.Save(os.Args[2], td))

	ds, err := memmap.Open(os.Args[2])
	check(err)
	defer ds.Close()
	fmt.Println(ds)
	rows, err := ds.Index(ix.Take(-1, 0)) // reads the last row and the first from the mapped files
	check(err)
	text, err := json.Marshal(rows)
	check(err)
	fmt.Println(string(text))
}

// read returns the lines of a CSV file: a header of distinct names, and at least one row.
func read(path string) [][]string {
	f, err := os.Open(path)
	check(err)
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	check(err)
	if len(lines) < 2 {
		log.Fatalf("%s: got %d lines, want a header and rows", path, len(lines))
	}
	lines[0][0] = strings.TrimPrefix(lines[0][0], "\ufeff") // some programs begin a file with it
	names := slices.Sorted(slices.Values(lines[0]))
	if len(slices.Compact(names)) < len(lines[0]) {
		log.Fatalf("%s: two columns have the same name", path)
	}
	return lines
}

// column returns a column as integers, as numbers with NaN for a missing one, as bools, or else as
// texts.
func column(lines [][]string, i int) any {
	if integers, err := parse(lines, i, integer); err == nil {
		return integers
	}
	if numbers, err := parse(lines, i, number); err == nil {
		return numbers
	}
	if bools, err := parse(lines, i, strconv.ParseBool); err == nil {
		return bools
	}
	texts, _ := parse(lines, i, func(field string) (string, error) { return field, nil })
	return texts
}

func parse[T any](lines [][]string, i int, parse func(string) (T, error)) ([]T, error) {
	values := make([]T, len(lines))
	for row, fields := range lines {
		v, err := parse(fields[i])
		if err != nil {
			return nil, err
		}
		values[row] = v
	}
	return values, nil
}

func integer(field string) (int64, error) {
	if code.MatchString(field) {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseInt(field, 10, 64)
}

func number(field string) (float64, error) {
	switch {
	case field == "" || field == "NA":
		return math.NaN(), nil
	case code.MatchString(field):
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(field, 64)
}

// code matches what looks like a number and is a name, such as 007.
var code = regexp.MustCompile(`^0\d`)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
