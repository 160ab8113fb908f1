package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/where"
)

var change = []task{
	{"Add a column", addColumn},
	{"Add a column in place", addInPlace},
	{"Change some elements", changeElements},
	{"Delete rows and columns", deleteRows},
	{"Join two tables", joinTables},
	{"Text to numbers", textToNumbers},
	{"Lock a dictionary", lock},
}

func addColumn() {
	ds := open("visits")
	defer ds.Close()

	age, err := ds.Tensor("age") // at the first visit
	check(err)
	day, err := ds.Tensor("day") // since then
	check(err)
	years, err := arith.CastScale(day, tensor.Float64, 1/365.25, 0)
	check(err)
	now, err := arith.Add(age, years)
	check(err)
	td := ds.Copy() // the same elements, in a dictionary that takes entries
	check(td.Set("age_now", now))
	schema := slices.Concat(ds.Schema(), tdict.Schema{{Key: "age_now", DType: tensor.Float64}})
	check(memmap.SaveWith(ctx, "aged", td, memmap.SaveOptions{Schema: schema}))

	aged := open("aged")
	defer aged.Close()
	some, err := aged.Select("id", "day", "age", "age_now")
	check(err)
	fmt.Println(aged.Schema().Head(some, 3))
}

func addInPlace() {
	check(memmap.Copy(ctx, "patients", "study", memmap.CopyOptions{}))

	ds, err := memmap.OpenWith("study", memmap.OpenOptions{Writable: true})
	check(err)
	bili, err := tdict.Get[*ragged.Tensor](ds, "bili") // [patients *]
	check(err)
	highest, err := bili.Reduce(-1, arith.Max)
	check(err)
	column, err := highest.Values() // [patients]
	check(err)
	check(ds.AddLeaf("highest", column))
	fmt.Println(ds)
	check(ds.Close())
}

func changeElements() {
	check(memmap.Copy(ctx, "visits", "corrected", memmap.CopyOptions{}))

	ds, err := memmap.OpenWith("corrected", memmap.OpenOptions{Writable: true})
	check(err)
	correct, err := tdict.FromValues(nil, tdict.Values{"chol": 198.0, "chol_mask": true})
	check(err)
	check(ds.SetIndex(correct, ix.At(1))) // these two entries of row 1
	check(ds.Close())                     // computes the checksums of the changed leaves

	ds = open("corrected")
	defer ds.Close()
	some, err := ds.Select("id", "day", "chol", "chol_mask")
	check(err)
	fmt.Println(ds.Schema().Head(some, 2))
}

func deleteRows() {
	condition, err := where.Parse("age >= 60 or missing(chol)")
	check(err)
	opt := forms.SliceOptions{}
	opt.Select.Where = condition                      // the rows to keep
	opt.Select.Drop = []nestedkey.Key{"edema", "ast"} // the columns to leave out
	check(forms.Slice(ctx, "fewer", "visits", opt))

	ds := open("fewer")
	defer ds.Close()
	fmt.Println(ds.Shape(), len(ds.Schema()), "entries")
}

func joinTables() {
	check(os.WriteFile("arms.csv", []byte("trt,arm\n0,placebo\n1,penicillamine\n"), 0o666))

	opt := forms.JoinOptions{On: []nestedkey.Key{"trt"}, Left: true}
	check(forms.Join(ctx, "joined", "visits", "arms.csv", opt))
	ds, err := memmap.Open("joined")
	check(err)
	defer ds.Close()
	some, err := ds.Select("id", "day", "trt", "arm")
	check(err)
	fmt.Println(ds.Schema().Head(some, 3))
}

func textToNumbers() {
	ds := open("visits")
	defer ds.Close()

	sex, err := tdict.Get[*ragged.Tensor](ds, "sex") // bytes of UTF-8: [N *]
	check(err)
	lengths, err := sex.Layout().Lengths(1) // in bytes
	check(err)
	codes, texts, err := ragged.Categories(sex)
	check(err)
	fmt.Println(lengths[:3], texts, codes.Shape())
}

func lock() {
	td := tdict.New(2)
	check(td.Set("age", tensor.Vector(31.0, 47)))
	td.Lock("shared by all handlers: Copy it to change it")
	fmt.Println(td.Set("bili", tensor.Vector(0.5, 1)))
	own := td.Copy() // the same elements, in another dictionary
	check(own.Set("bili", tensor.Vector(0.5, 1)))
	fmt.Println(td.NumEntries(), own.NumEntries())
}
