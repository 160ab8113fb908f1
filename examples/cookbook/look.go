package main

import (
	"fmt"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
	"github.com/go-tensordict/tensordict/where"
)

var lookAndClean = []task{
	{"Describe the columns", describe},
	{"Select rows by a condition", selectRows},
	{"Mean of each group", meanOfGroups},
	{"Normalise within groups", normaliseGroups},
	{"Fill missing values", fillMissing},
	{"Mask out outliers", maskOutliers},
	{"The largest rows, sorted", topRows},
	{"One-hot", oneHot},
}

func describe() {
	ds := open("visits")
	defer ds.Close()

	some, err := ds.Select("id", "day", "sex", "chol", "chol_mask")
	check(err)
	fmt.Println(ds.Schema().Head(some, 3))
	columns, err := inspect.Describe(ctx, ds, inspect.DescribeOptions{Keys: []nestedkey.Key{"age", "bili", "chol"}})
	check(err)
	for _, c := range columns {
		fmt.Printf("%s: %d values, %d missing, mean %.2f\n", c.Key, c.Count, c.Missing, c.Mean)
	}
}

func selectRows() {
	ds := open("visits")
	defer ds.Close()

	condition, err := where.Parse(`age >= 60 and sex == "f" and not missing(chol)`)
	check(err)
	filter, err := condition.Bind(ds)
	check(err)
	mask, err := filter.Mask(ds) // bool [N]
	check(err)
	women, err := ds.MaskedSelect(mask)
	check(err)
	fmt.Println(women.Shape(), "of", ds.Shape())
}

func meanOfGroups() {
	ds := open("visits")
	defer ds.Close()

	groups, err := ds.Schema().GroupBy(ds, "stage")
	check(err)
	means, err := ds.Schema().Aggregate(ds, arith.Mean, []nestedkey.Key{"stage"}, "age", "bili", "chol")
	check(err)
	fmt.Println(ds.Schema().Head(means, 4))
	fmt.Println("visits of each stage:", groups.Sizes())
}

func normaliseGroups() {
	ds := open("visits")
	defer ds.Close()

	groups, err := ds.Schema().GroupBy(ds, "sex")
	check(err)
	sorted, err := ds.Take(0, groups.Rows) // group by group
	check(err)
	parts, err := shapeops.Split(sorted, 0, groups.Sizes()...)
	check(err)
	for i, part := range parts {
		standard, err := transform.FitStandard(part, ds.Schema()) // with its masks
		check(err)
		parts[i], err = standard.Apply(part, transform.Draw{})
		check(err)
	}
	normal, err := shapeops.Cat(parts, 0)
	check(err)

	some, err := normal.Select("id", "day", "sex", "bili", "chol", "chol_mask")
	check(err)
	fmt.Println(ds.Schema().Head(some, 3))
}

func fillMissing() {
	ds := open("visits")
	defer ds.Close()

	chol, err := ds.Tensor("chol")
	check(err)
	present, err := ds.Tensor("chol_mask")
	check(err)
	median, err := arith.Quantile(chol, arith.Whole.Where(present), 0.5)
	check(err)
	filled, err := arith.Where(present, chol, median)
	check(err)
	fmt.Println(median)
	fmt.Println(filled)
}

func maskOutliers() {
	ds := open("visits")
	defer ds.Close()

	bili, err := ds.Tensor("bili")
	check(err)
	high, err := arith.Quantile(bili, arith.Whole, 0.99)
	check(err)
	usual, err := arith.LessEqual(bili, high)
	check(err)
	all, err := arith.Mean(bili, arith.Whole)
	check(err)
	most, err := arith.Mean(bili, arith.Whole.Where(usual))
	check(err)
	fmt.Println(high, all, most)
}

func topRows() {
	ds := open("visits")
	defer ds.Close()

	bili, err := ds.Tensor("bili")
	check(err)
	order, err := arith.ArgSort(bili, 0, arith.SortOptions{Descending: true})
	check(err)
	first, err := order.Narrow(0, 0, 3)
	check(err)
	top, err := ds.Take(0, first)
	check(err)
	top, err = top.Select("id", "day", "sex", "bili")
	check(err)
	fmt.Println(ds.Schema().Head(top, 3))
}

func oneHot() {
	ds := open("visits")
	defer ds.Close()

	stage, err := ds.Tensor("stage") // 1 to 4
	check(err)
	class, err := arith.Sub(stage, 1)
	check(err)
	hot, err := arith.OneHot(class, 4, tensor.Float32)
	check(err)
	counts, err := arith.Sum(hot, arith.Dims(0))
	check(err)
	fmt.Println(hot.Shape(), counts)
}
