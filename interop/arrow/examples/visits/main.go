// Visits makes a dataset of a Parquet file with visits of patients, and trains a model on it that
// says whether a patient's disease is advanced.
//
//	go run -C interop/arrow ./examples/visits "$PWD/visits.parquet" "$PWD/visits"
//
// The file may be larger than memory, since rows stream from it to the dataset. A tool makes it of
// a CSV file: tdict-arrow convert visits.csv visits.parquet
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"

	"github.com/go-tensordict/tensordict/interop/arrow/tdparquet"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var ctx = context.Background()

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: visits FILE.parquet DIRECTORY")
	}
	run(os.Args[1], os.Args[2])
}

// run saves the file as a dataset, and trains on that.
func run(file, dir string) {
	save(file, dir)
	ds := tensor.Must(memmap.Open(dir))
	defer ds.Close()
	fmt.Println(ds.Schema())
	fmt.Println(ds.Schema().Head(ds.TensorDict, 3))

	src := tensor.Must(loader.FromDataset(ds))
	parts := tensor.Must(sampler.Split(src.Len(), []float64{0.8, 0.2}, 1))
	train := tensor.Must(loader.New(tensor.Must(loader.Subset(src, parts[0])), loader.Options{Batch: 32, Sampler: sampler.Random(), Seed: 1}))
	test := tensor.Must(loader.New(tensor.Must(loader.Subset(src, parts[1])), loader.Options{Batch: 1024}))
	var m model
	for train.Epoch() < 3 {
		loss, _ := m.epoch(train, 0.1)
		_, right := m.epoch(test, 0)
		fmt.Printf("epoch %d: loss %.3f, held-out accuracy %.1f %%\n", train.Epoch(), loss, 100*right)
	}
}

// columns are the columns that are read. The others stay in the file.
var columns = []nestedkey.Key{"age", "bili", "albumin", "protime", "platelet", "stage"}

// save makes a dataset of some columns of a Parquet file. Its schema says that platelet has a mask,
// since some values are missing.
func save(file, dir string) {
	opt := tdparquet.Options{Keys: columns, Note: func(text string) { log.Print(text) }}
	schema, err := tdparquet.InferFile(file, opt)
	check(err)
	opt.Schema = schema
	check(memmap.SaveRows(ctx, dir, tdparquet.ReadFile(ctx, file, opt), memmap.SaveOptions{Schema: schema}))
}

// A model is a logistic regression: weights for the inputs, and last the bias.
type model [7]float64

// epoch goes through all batches and moves the weights against the gradient. It returns the mean
// loss, and the share of visits for which the model is right.
func (m *model) epoch(l *loader.Loader, rate float64) (loss, right float64) {
	rows := 0.
	for batch, err := range l.Batches(ctx) {
		check(err)
		inputs, advanced := visitsOf(batch)
		var gradient model
		for i, x := range inputs {
			sum := 0.
			for j, v := range x {
				sum += m[j] * v
			}
			p, y := 1/(1+math.Exp(-sum)), 0.
			if advanced[i] {
				y = 1
			}
			loss -= math.Log(max(1e-12, 1-math.Abs(y-p)))
			if (p > 0.5) == advanced[i] {
				right++
			}
			for j, v := range x {
				gradient[j] += (p - y) * v
			}
		}
		for j := range m {
			m[j] -= rate * gradient[j] / float64(len(inputs))
		}
		rows += float64(len(inputs))
	}
	return loss / rows, right / rows
}

// visitsOf returns the inputs of each visit, of about the same size, and whether its stage is the
// last one. The mask of platelet is an input, too: a model can learn from missing values.
func visitsOf(batch *tdict.TensorDict) (inputs []model, advanced []bool) {
	age := tensor.Must(tdict.Slice[float64](batch, "age"))
	bili := tensor.Must(tdict.Slice[float64](batch, "bili"))
	albumin := tensor.Must(tdict.Slice[float64](batch, "albumin"))
	protime := tensor.Must(tdict.Slice[float64](batch, "protime"))
	platelet := tensor.Must(tdict.Slice[int64](batch, "platelet"))
	measured := tensor.Must(tdict.Slice[bool](batch, "platelet_mask"))
	for i, stage := range tensor.Must(tdict.Slice[int64](batch, "stage")) {
		x := model{age[i]/20 - 2.5, math.Log(bili[i]), 2 * (albumin[i] - 3.4), protime[i] - 11, 0, 0, 1}
		if measured[i] {
			x[4], x[5] = float64(platelet[i])/100-2.2, 1
		}
		inputs, advanced = append(inputs, x), append(advanced, stage == 4)
	}
	return inputs, advanced
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
