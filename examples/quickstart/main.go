// Quickstart builds a dictionary of handwritten digits, saves it as mapped files, opens it again,
// and trains a small classifier on shuffled mini-batches that are read straight from the mapping.
//
//	go run ./examples/quickstart [-dir DIR] [-epochs N] [-batch N] [-seed N]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"time"

	"github.com/go-tensordict/tensordict/examples/internal/data"
	"github.com/go-tensordict/tensordict/examples/internal/softmax"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

var (
	dir    = flag.String("dir", "", "where to save the dictionary; by default a temporary directory")
	epochs = flag.Int("epochs", 40, "number of epochs")
	batch  = flag.Int("batch", 64, "rows in a mini-batch")
	seed   = flag.Uint64("seed", 1, "seed of the shuffles")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	if *batch < 1 || *epochs < 1 {
		log.Fatal("quickstart: -batch and -epochs must be at least 1")
	}
	if _, err := run(*dir, *seed); err != nil {
		log.Fatal("quickstart: ", err)
	}
}

// run saves the digits in dir, or in a temporary directory if dir is empty, opens them and trains
// on them. It returns the accuracy on the rows held out.
func run(dir string, seed uint64) (accuracy float64, err error) {
	if dir == "" {
		if dir, err = os.MkdirTemp("", "quickstart-"); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		fmt.Println("the dataset is temporary: -dir keeps it")
	}
	ds, err := saveAndOpen(dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, ds.Close()) }()

	rows := rand.New(rand.NewPCG(seed, 0)).Perm(ds.Shape()[0])
	train, err := batches(ds, rows[:1500], loader.Options{Batch: *batch, Sampler: sampler.Random(), Seed: seed})
	if err != nil {
		return 0, err
	}
	test, err := batches(ds, rows[1500:], loader.Options{Batch: len(rows) - 1500})
	if err != nil {
		return 0, err
	}
	model := softmax.New(10, 64)
	start := time.Now()
	for train.Epoch() < uint64(*epochs) {
		loss, err := trainEpoch(model, train)
		if err != nil {
			return 0, err
		}
		if accuracy, err = evaluate(model, test); err != nil {
			return 0, err
		}
		fmt.Printf("epoch %2d: loss %.3f, held-out accuracy %.1f %%\n", train.Epoch(), loss, 100*accuracy)
	}
	fmt.Println("the last epoch:", train.Stats())
	fmt.Println(time.Since(start).Round(time.Millisecond), "elapsed")
	return accuracy, nil
}

// batches returns a loader of some rows of a dataset, with images as float32 from 0 to 1.
func batches(ds *memmap.Dataset, rows []int, opt loader.Options) (*loader.Loader, error) {
	all, err := loader.FromDataset(ds)
	if err != nil {
		return nil, err
	}
	src, err := loader.Subset(all, rows)
	if err != nil {
		return nil, err
	}
	opt.Transform = transform.OnKeys(transform.CastScale(tensor.Float32, 1./16, 0), "image")
	return loader.New(src, opt)
}

// saveAndOpen saves the digits in dir and opens them mapped.
func saveAndOpen(dir string) (*memmap.Dataset, error) {
	digits, err := data.Digits()
	if err != nil {
		return nil, err
	}
	fmt.Println(digits)
	if err := memmap.Save(dir, digits); err != nil {
		return nil, err
	}
	fmt.Println("saved in", dir)
	return memmap.Open(dir)
}

// trainEpoch updates the model with each row once, and returns the mean loss.
func trainEpoch(model *softmax.Model, l *loader.Loader) (loss float64, err error) {
	err = each(l, func(images []float32, labels []int64) { loss += model.Train(images, labels) })
	return loss / float64(l.Stats().Rows), err
}

// evaluate returns the share of rows whose label the model predicts.
func evaluate(model *softmax.Model, l *loader.Loader) (accuracy float64, err error) {
	batches := float64(l.Len())
	err = each(l, func(images []float32, labels []int64) { accuracy += model.Accuracy(images, labels) / batches })
	return accuracy, err
}

// each calls fn with the images and the labels of each batch of an epoch.
func each(l *loader.Loader, fn func(images []float32, labels []int64)) error {
	for batch, err := range l.Batches(context.Background()) {
		if err != nil {
			return err
		}
		images, labels, err := slices(batch)
		if err != nil {
			return err
		}
		fn(images, labels)
	}
	return nil
}

// slices returns the images and the labels of a batch.
func slices(batch *tdict.TensorDict) (images []float32, labels []int64, err error) {
	if images, err = tdict.Slice[float32](batch, "image"); err != nil {
		return nil, nil, err
	}
	labels, err = tdict.Slice[int64](batch, "meta/label")
	return images, labels, err
}
