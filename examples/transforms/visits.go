package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/examples/internal/data"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// labs are the columns that were measured at a visit.
var labs = []string{"bili", "chol", "albumin", "alk.phos", "ast", "platelet", "protime"}

// visits saves a row for each patient in dir, and the statistics that it was normalised by.
func visits(dir string) {
	td := readVisits()
	missing := tensor.Must(arith.IsNaN(tensor.Must(td.Tensor("labs"))))
	check(td.Set("measured", tensor.Must(arith.Not(missing))))
	stats := tensor.Must(transform.FitStandard(td, nil)) // of what is not NaN
	pipeline := transform.Compose(
		stats, transform.FillNaN(0), // the mean
		transform.OnKeys(transform.OneHot(4, tensor.Float32), "stage"))
	ready := tensor.Must(pipeline.Apply(td, transform.Draw{}))
	fmt.Println(pipeline)
	show(missing, stats)

	groups := tensor.Must(arith.GroupBy(tensor.Must(ready.Tensor("patient"))))
	parts := tensor.Must(shapeops.Split(ready, 0, groups.Sizes()...))
	batch, masks, err := shapeops.PadSequenceMasked(parts, shapeops.PadSequenceOptions{})
	check(err)
	check(batch.Set("present", tensor.Must(masks.Tensor("day"))))
	check(batch.Set("stats", tensor.Must(stats.Data())))
	check(memmap.Save(dir, batch))

	ds := tensor.Must(memmap.Open(dir))
	defer ds.Close()
	fmt.Println(ds)
	saved := tensor.Must(transform.StandardFrom(tensor.Must(tdict.Get[*tdict.Data](ds.TensorDict, "stats"))))
	raw := tensor.Must(saved.Invert(ds.TensorDict))
	fmt.Println("the same statistics:", saved.Mean().Equal(stats.Mean()) && saved.Std().Equal(stats.Std()))
	fmt.Printf("the first visit, inverted: %.4g\n", tensor.Must(tdict.Slice[float32](raw, "labs"))[:len(labs)])
}

// show prints how often each of the labs was not measured, and its mean and deviation.
func show(missing *tensor.Tensor, stats *transform.Standard) {
	counts := tensor.Must(tensor.Of[int64](tensor.Must(arith.Sum(missing, arith.Dims(0)))))
	means, stds := tensor.Must(tdict.Slice[float64](stats.Mean(), "labs")), tensor.Must(tdict.Slice[float64](stats.Std(), "labs"))
	for i, name := range labs {
		fmt.Printf("%-8s  %3d of %d missing, mean %7.2f, deviation %7.2f\n", name, counts[i], missing.Shape()[0], means[i], stds[i])
	}
}

// readVisits returns the visits, those of a patient in the order of days: patient and day int32
// [N], stage int32 [N] from 0 to 3, labs float32 [N 7], NaN where not measured.
func readVisits() *tdict.TensorDict {
	table := tensor.Must(data.Visits())
	var columns []*tensor.Tensor
	for _, name := range labs {
		columns = append(columns, column(table, name))
	}
	entries := tdict.Entries{"labs": tensor.Must(shapeops.Stack(columns, 1))}
	for key, name := range map[nestedkey.Key]string{"patient": "id", "day": "day", "stage": "stage"} {
		entries[key] = tensor.Must(column(table, name).Cast(tensor.Int32))
	}
	td := tensor.Must(tdict.FromMap(shapeops.Shape{len(table) - 1}, entries))
	check(arith.SubInPlace(tensor.Must(td.Tensor("stage")), 1))
	return td
}

// column returns a column of the table: float32 [N], NaN where it says NA.
func column(table [][]string, name string) *tensor.Tensor {
	at, values := slices.Index(table[0], name), []float32{}
	for _, fields := range table[1:] {
		v := tensor.Must(strconv.ParseFloat(strings.Replace(fields[at], "NA", "NaN", 1), 32))
		values = append(values, float32(v))
	}
	return tensor.Vector(values...)
}
