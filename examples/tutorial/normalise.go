package main

import (
	"fmt"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// normalise fits a pipeline to the visits of the training set and applies it to a row.
func normalise(dir string) {
	ds := tensor.Must(memmap.Open(dir))
	defer ds.Close()
	training, test := split(ds)
	fmt.Println(len(training), "visits to train on,", len(test), "to test on")

	known := tensor.Must(ds.Index(ix.Take(training...)))
	stats := tensor.Must(transform.FitStandard(known, ds.Schema()))
	missing := tensor.Must(arith.Not(tensor.Must(known.Tensor("measured"))))
	counts := tensor.Must(tensor.Of[int64](tensor.Must(arith.Sum(missing, arith.Dims(0)))))
	means := tensor.Must(tdict.Slice[float64](stats.Mean(), "labs"))
	for i, lab := range labs {
		fmt.Printf("%-8s %4d missing, mean %7.2f\n", lab, counts[i], means[i])
	}

	second := tensor.Must(ds.Index(ix.Range(1, 2)))
	ready := tensor.Must(pipeline(stats).Apply(second, transform.Draw{}))
	fmt.Println("before:", tensor.Must(tdict.Slice[float32](second, "labs")))
	fmt.Printf("after:  %.2f\n", tensor.Must(tdict.Slice[float32](ready, "labs")))
}

// split returns the rows of a training and a test set. All visits of a patient are in one of them.
func split(ds *memmap.Dataset) (training, test []int) {
	patients := tensor.Must(ds.Tensor("patient"))
	parts := tensor.Must(sampler.SplitGroups(patients, []float64{0.8, 0.2}, 1))
	return parts[0], parts[1]
}

// pipeline scales each lab to mean 0 and deviation 1, and replaces missing values by the mean.
func pipeline(stats *transform.Standard) transform.Transform {
	return transform.Compose(stats, transform.Func("fill", fill))
}

// fill replaces the labs that were not measured by 0.
func fill(td *tdict.TensorDict) (*tdict.TensorDict, error) {
	missing := tensor.Must(arith.Not(tensor.Must(td.Tensor("measured"))))
	filled, err := arith.MaskedFill(tensor.Must(td.Tensor("labs")), missing, 0)
	if err != nil {
		return nil, err
	}
	return td, td.Set("labs", filled)
}
