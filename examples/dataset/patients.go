package main

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// makePatients makes a dataset of one row a patient on disk, and has four goroutines fill it.
func makePatients(dir, visits string) error {
	in, err := memmap.Open(visits)
	if err != nil {
		return err
	}
	defer in.Close() // it is only read
	starts, err := startsOf(in.TensorDict)
	if err != nil {
		return err
	}
	prototype, err := patientRows(len(starts) - 1)
	if err != nil {
		return err
	}
	out, err := memmap.Create(dir, prototype, memmap.CreateOptions{})
	if err != nil {
		return err
	}
	const workers = 4
	failed := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for p := w; p < len(starts)-1 && failed[w] == nil; p += workers {
				failed[w] = fill(out, in, p, starts[p], starts[p+1])
			}
		})
	}
	wg.Wait()
	fmt.Println("the patients:", out)
	return errors.Join(errors.Join(failed...), out.Close())
}

// startsOf returns the first visit of each patient, and the number of visits.
func startsOf(visits *tdict.TensorDict) ([]int, error) {
	ids, err := tdict.Slice[int32](visits, "patient")
	if err != nil {
		return nil, err
	}
	var starts []int
	for i, id := range ids {
		if i == 0 || id != ids[i-1] {
			starts = append(starts, i)
		}
	}
	return append(starts, len(ids)), nil
}

// patientRows returns what tells the keys, shapes and dtypes of so many patients. The zeros in it
// take no memory.
func patientRows(n int) (*tdict.TensorDict, error) {
	td := tdict.New(n)
	one, err := tensor.New(tensor.Float32)
	if err != nil {
		return nil, err
	}
	means, err := one.Expand(n, len(labs))
	if err != nil {
		return nil, err
	}
	days, err := one.Expand(n)
	if err != nil {
		return nil, err
	}
	return td, errors.Join(td.Set("mean", means), td.Set("days", days))
}

// fill writes the row of a patient: the means of the labs, and the days from the first visit to the
// last.
func fill(out, in *memmap.Dataset, patient, start, stop int) error {
	visits, err := in.Index(ix.Range(start, stop))
	if err != nil {
		return err
	}
	values, err := tdict.Slice[float32](visits, "labs/values")
	if err != nil {
		return err
	}
	days, err := tdict.Slice[int32](visits, "day")
	if err != nil {
		return err
	}
	row := tdict.New()
	err = errors.Join(
		row.Set("mean", tensor.Vector(means(values)...)),
		row.Set("days", tensor.Scalar(float32(days[len(days)-1]-days[0]))),
	)
	if err != nil {
		return err
	}
	return out.SetIndex(row, ix.At(patient))
}

// means returns the mean of each column, of what was measured.
func means(values []float32) []float32 {
	sums, counts := make([]float32, len(labs)), make([]float32, len(labs))
	for i, v := range values {
		if !math.IsNaN(float64(v)) {
			sums[i%len(labs)] += v
			counts[i%len(labs)]++
		}
	}
	for i := range sums {
		sums[i] /= counts[i]
	}
	return sums
}

// serve reads batches of patients in four goroutines while the dataset is replaced ten times, each
// time by one with all values doubled.
func serve(dir string) error {
	live, err := memmap.OpenLive(dir, memmap.LiveOptions{Interval: 10 * time.Millisecond})
	if err != nil {
		return err
	}
	const readers = 4
	failed, batches := make([]error, readers), make([]int, readers)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for r := range readers {
		wg.Go(func() {
			for failed[r] == nil {
				select {
				case <-stop:
					return
				default:
				}
				failed[r] = readBatch(live)
				batches[r]++
			}
		})
	}
	for range 10 {
		if err = double(dir); err != nil {
			break
		}
	}
	close(stop)
	wg.Wait()
	total := 0
	for _, n := range batches {
		total += n
	}
	if err := errors.Join(err, errors.Join(failed...), live.Close()); err != nil {
		return err
	}
	fmt.Printf("replaced 10 times while read: %v, no batch failed\n", total > 0)
	return nil
}

// readBatch reads some rows of the dataset that is there now.
func readBatch(live *memmap.Live) error {
	ds, err := live.Acquire()
	if err != nil {
		return err
	}
	_, err = ds.Index(ix.Take(3, 1, 4, 1, 5))
	return errors.Join(err, live.Release(ds))
}

// double replaces the dataset by one with all values doubled.
func double(dir string) error {
	ds, err := memmap.Open(dir)
	if err != nil {
		return err
	}
	doubled, err := ds.Apply(func(_ nestedkey.Key, x *tensor.Tensor) (*tensor.Tensor, error) {
		return tensor.Map(x, func(v float32) float32 { return 2 * v })
	})
	if err == nil {
		err = memmap.Save(dir, doubled)
	}
	return errors.Join(err, ds.Close())
}
