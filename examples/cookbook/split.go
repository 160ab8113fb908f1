package main

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
)

var splitAndSample = []task{
	{"Split by patient", splitByPatient},
	{"Split files, by class", splitFiles},
	{"Cross-validate", crossValidate},
	{"A sample of the rows", sampleRows},
	{"Balanced classes", balancedClasses},
}

func splitByPatient() {
	ds := open("visits")
	defer ds.Close()

	patients, err := ds.Tensor("id")
	check(err)
	parts, err := sampler.SplitGroups(patients, []float64{0.8, 0.2}, 1) // rows of each
	check(err)
	train, err := ds.Index(ix.Take(parts[0]...))
	check(err)
	test, err := ds.Index(ix.Take(parts[1]...))
	check(err)
	fmt.Println(train.Shape(), test.Shape())
}

func splitFiles() {
	opt := forms.SplitOptions{
		Fractions: []float64{0.8, 0.2},
		Names:     []string{"train", "test"},
		By:        "id",    // all visits of a patient are in one part
		Stratify:  "stage", // by the first visit of each
		Seed:      1,
	}
	check(forms.Split(ctx, "parts", "visits", opt))

	for _, name := range opt.Names {
		ds, err := memmap.Open("parts/" + name)
		check(err)
		fmt.Println(name, ds.Shape())
		check(ds.Close())
	}
}

func crossValidate() {
	ds := open("visits")
	defer ds.Close()

	patients, err := ds.Tensor("id")
	check(err)
	folds, err := sampler.SplitGroups(patients, []float64{0.2, 0.2, 0.2, 0.2, 0.2}, 1)
	check(err)
	for i, test := range folds {
		others := slices.Delete(slices.Clone(folds), i, i+1)
		train := slices.Concat(others...)
		slices.Sort(train) // ascending rows are read faster
		fmt.Println("fold", i, "train on", len(train), "test on", len(test))
	}
}

func sampleRows() {
	ds := open("visits")
	defer ds.Close()

	order, err := sampler.Random().Order(sampler.Epoch{Units: ds.Shape()[0], Seed: 1})
	check(err)
	rows := order.AppendTo(nil, 0, 100) // each at most once
	some, err := ds.Index(ix.Take(rows...))
	check(err)
	fmt.Println(some.Shape(), rows[:5])
}

func balancedClasses() {
	ds := open("visits")
	defer ds.Close()
	var counts [5]int

	stage, err := ds.Tensor("stage")
	check(err)
	balanced, err := sampler.Stratified(stage, sampler.StratifiedOptions{Balanced: true})
	check(err)
	src, err := loader.FromDataset(ds)
	check(err)
	l, err := loader.New(src, loader.Options{Batch: 64, Sampler: balanced, Seed: 1})
	check(err)
	for batch, err := range l.Batches(ctx) {
		check(err)
		stages, err := tdict.Slice[int64](batch, "stage")
		check(err)
		count(&counts, stages)
	}

	before, err := arith.GroupBy(stage)
	check(err)
	fmt.Println("visits:", before.Sizes(), "in an epoch:", counts[1:])
}

// count counts the visits of each stage.
func count(counts *[5]int, stages []int64) {
	for _, stage := range stages {
		counts[stage]++
	}
}
