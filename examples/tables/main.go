// Tables converts a CSV file to a dataset, reads and appends rows as structs, groups rows, and
// writes them to JSON lines and reads them back.
//
//	go run ./examples/tables
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/examples/internal/data"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tdict/tensorclass"
	"github.com/go-tensordict/tensordict/tensor"
)

var ctx = context.Background()

func main() {
	dir := tensor.Must(os.MkdirTemp("", "tables-"))
	defer os.RemoveAll(dir)
	visits, lines := filepath.Join(dir, "visits"), filepath.Join(dir, "patients.jsonl")

	save(visits, correct(infer()))
	high(visits, filepath.Join(dir, "high"))
	patients := group(visits)
	write(lines, patients)
	fmt.Println("\nread back equal:", read(lines, schemaOf(patients)).Equal(patients))
}

// infer infers a schema from all visits, since a later one may have another category. Each visit is
// a line; NA is a missing measurement.
func infer() tdict.Schema {
	in := csv.NewInferrer(csv.Format{})
	in.Hints.Categories = map[nestedkey.Key]bool{"sex": true}
	check(in.Add(tensor.Must(data.VisitsCSV()), 0))
	schema := tensor.Must(in.Schema())
	fmt.Println(schema)
	return schema
}

// correct keeps some columns, with smaller dtypes. Cholesterol becomes a float, although all its
// values are whole.
func correct(inferred tdict.Schema) tdict.Schema {
	dtypes := map[nestedkey.Key]tensor.DType{
		"id": tensor.Int32, "day": tensor.Int32, "stage": tensor.Int8,
		"age": tensor.Float32, "bili": tensor.Float32, "chol": tensor.Float32,
	}
	var schema tdict.Schema
	for _, spec := range inferred {
		spec.Doc = ""
		if d, ok := dtypes[spec.Key]; ok {
			spec.DType = d
			schema = append(schema, spec)
		} else if spec.Key == "sex" {
			schema = append(schema, spec)
		}
	}
	fmt.Printf("\ncorrected:\n%v\n", schema)
	return schema
}

// save makes a dataset of all visits, chunk by chunk, since the file may be larger than memory. The
// dataset keeps the schema, which has the texts of the categories and says which entries are masks.
func save(dir string, schema tdict.Schema) {
	chunks := csv.Read(ctx, tensor.Must(data.VisitsCSV()), schema, csv.ReadOptions{Rows: 500, SkipUnknown: true})
	made := tensor.Must(csv.ChunkSchema(schema, csv.Format{}))
	check(memmap.SaveRows(ctx, dir, chunks, memmap.SaveOptions{Schema: made}))
}

// A visit is a row of the dataset. Its fields are the columns that are needed.
type visit struct {
	ID, Day int32
	Bili    float32
	Chol    *float32 `td:"chol,mask=chol_mask"` // nil if it was not measured
}

// high appends the visits with high bilirubin to another dataset.
func high(dir, to string) {
	ds := tensor.Must(memmap.Open(dir))
	defer ds.Close()
	var some []visit
	for v, err := range tensorclass.Rows[visit](ds.TensorDict) {
		check(err)
		if v.Bili > 30 {
			some = append(some, *v)
		}
	}
	row := tensor.Must(tensor.Must(tensorclass.SchemaFor[visit]()).Meta())
	w := tensor.Must(memmap.NewWriter(to, row, memmap.WriterOptions{}))
	check(tensorclass.AppendRows(w, some))
	check(w.Commit())
	check(w.Close())

	found := tensor.Must(memmap.Open(to))
	defer found.Close()
	fmt.Printf("\nvisits with much bilirubin:\n%v\n", found.Head(3))
}

// group makes a row for each patient, with the visits as ragged rows.
func group(dir string) *tdict.TensorDict {
	ds := tensor.Must(memmap.Open(dir))
	defer ds.Close()
	fmt.Printf("\nvisits:\n%v\n", ds.Head(4))

	groups := tensor.Must(arith.GroupBy(tensor.Must(ds.Tensor("id"))))
	columns := tensor.Must(ds.Select("day", "bili", "chol", "chol_mask"))
	visits := tensor.Must(shapeops.Split(tensor.Must(columns.Take(0, groups.Rows)), 0, groups.Sizes()...))
	patients := tensor.Must(tensor.Must(ds.Select("id", "age", "sex")).Take(0, groups.Firsts()))
	sex, _ := ds.Schema().Find("sex")
	check(patients.Set("sex", tensor.Must(ragged.FromCategories(tensor.Must(patients.Tensor("sex")), sex.Categories))))
	check(patients.Set("visits", tensor.Must(tdict.StackRagged(visits))))
	fmt.Printf("\npatients:\n%v\n", patients)
	return patients
}

// schemaOf returns the schema of the patients. A dictionary does not know that sex is text.
func schemaOf(patients *tdict.TensorDict) tdict.Schema {
	schema := tdict.SchemaOf(patients)
	for i, spec := range schema {
		if spec.Key == "sex" {
			schema[i] = tdict.Spec{Key: "sex", Kind: tdict.KindText}
		}
	}
	return schema
}

// write writes the patients as JSON lines, and prints the first.
func write(path string, patients *tdict.TensorDict) {
	file := tensor.Must(os.Create(path))
	one := func(yield func(*tdict.TensorDict, error) bool) { yield(patients, nil) }
	check(jsonl.Write(ctx, file, schemaOf(patients), one, jsonl.WriteOptions{}))
	check(file.Close())
	first, _, _ := strings.Cut(string(tensor.Must(os.ReadFile(path))), "\n")
	fmt.Printf("\nthe first line:\n%s\n", first)
}

// read reads all lines as one dictionary.
func read(path string, schema tdict.Schema) *tdict.TensorDict {
	file := tensor.Must(os.Open(path))
	defer file.Close()
	var chunks []*tdict.TensorDict
	for chunk, err := range jsonl.Read(ctx, file, schema, jsonl.ReadOptions{Rows: 100}) {
		check(err)
		chunks = append(chunks, tensor.Must(chunk.Clone())) // the next chunk reuses its memory
	}
	return tensor.Must(shapeops.Cat(chunks, 0))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
