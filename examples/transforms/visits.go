package main

import (
	"fmt"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/examples/internal/data"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// visits saves a row for each patient in dir, with the statistics that normalise it.
func visits(dir string) {
	td := tensor.Must(data.LabVisits())
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
	fmt.Printf("the first visit, inverted: %.4g\n", tensor.Must(tdict.Slice[float32](raw, "labs"))[:len(data.Labs)])
}

// show prints how often each of the labs was not measured, and its mean and deviation.
func show(missing *tensor.Tensor, stats *transform.Standard) {
	counts := tensor.Must(tensor.Of[int64](tensor.Must(arith.Sum(missing, arith.Dims(0)))))
	means, stds := tensor.Must(tdict.Slice[float64](stats.Mean(), "labs")), tensor.Must(tdict.Slice[float64](stats.Std(), "labs"))
	for i, name := range data.Labs {
		fmt.Printf("%-8s  %3d of %d missing, mean %7.2f, deviation %7.2f\n", name, counts[i], missing.Shape()[0], means[i], stds[i])
	}
}
