package main

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/examples/internal/data"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// fill creates a dataset with one row for each patient, and four goroutines fill it.
func fill(dir, visits string) {
	in := tensor.Must(memmap.Open(visits))
	fmt.Println("the visits:", in)
	groups := tensor.Must(arith.GroupBy(tensor.Must(in.Tensor("patient"))))
	patients := tensor.Must(shapeops.Split(in.TensorDict, 0, groups.Sizes()...))
	out := tensor.Must(memmap.Create(dir, prototype(len(patients)), memmap.CreateOptions{}))
	fmt.Println("the patients:", out)
	const workers = 4
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for p := w; p < len(patients); p += workers {
				check(out.SetIndex(summary(patients[p]), ix.At(p)))
			}
		})
	}
	wg.Wait()
	check(out.Close())
	check(in.Close())
}

// prototype has the keys, shapes and dtypes of n patients, and no elements.
func prototype(n int) *tdict.TensorDict {
	return tensor.Must(tdict.FromMap(shapeops.Shape{n}, tdict.Entries{
		"mean": tensor.Must(tensor.NewMeta(tensor.Float32, n, len(data.Labs))),
		"days": tensor.Must(tensor.NewMeta(tensor.Float32, n)),
	}))
}

// summary returns the row of a patient: the means of the measured labs, and the days from the first
// visit to the last.
func summary(visits *tdict.TensorDict) *tdict.TensorDict {
	labs := tensor.Must(visits.Tensor("labs"))
	measured := tensor.Must(arith.Not(tensor.Must(arith.IsNaN(labs))))
	days := tensor.Must(tdict.Slice[int32](visits, "day"))
	return tensor.Must(tdict.FromMap(nil, tdict.Entries{
		"mean": tensor.Must(arith.Mean(labs, arith.Dims(0).Where(measured))),
		"days": tensor.Scalar(float32(slices.Max(days) - slices.Min(days))),
	}))
}

// serve reads rows in four goroutines while the dataset is replaced ten times.
func serve(dir string) {
	live := tensor.Must(memmap.OpenLive(dir, memmap.LiveOptions{Interval: 10 * time.Millisecond}))
	var wg sync.WaitGroup
	var done atomic.Bool
	for range 4 {
		wg.Go(func() {
			for !done.Load() {
				ds := tensor.Must(live.Acquire()) // the current version
				tensor.Must(ds.Index(ix.Take(3, 1, 4, 1, 5)))
				check(live.Release(ds))
			}
		})
	}
	for range 10 {
		double(dir)
	}
	done.Store(true)
	wg.Wait()
	check(live.Close())
	fmt.Println("replaced 10 times while it was read")
}

// double replaces a dataset by a dataset with all values doubled.
func double(dir string) {
	ds := tensor.Must(memmap.Open(dir))
	check(memmap.Save(dir, tensor.Must(arith.Mul(ds.TensorDict, 2))))
	check(ds.Close())
}
