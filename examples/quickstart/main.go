// Quickstart builds a dictionary of handwritten digits, saves it as mapped files, opens it again,
// and trains a small classifier on shuffled mini-batches that are read straight from the mapping.
//
//	go run ./examples/quickstart [-dir DIR] [-epochs N] [-batch N] [-seed N]
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"time"

	"github.com/go-tensordict/tensordict/examples/internal/data"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
)

var (
	dir    = flag.String("dir", "", "where to save the dictionary; by default a temporary directory")
	epochs = flag.Int("epochs", 40, "how often to see each row")
	batch  = flag.Int("batch", 64, "rows in a mini-batch")
	seed   = flag.Uint64("seed", 1, "of the shuffles")
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

// run saves the digits in dir, or in a temporary directory if that is empty, opens them and trains
// on them. It returns the accuracy on the rows held out.
func run(dir string, seed uint64) (accuracy float64, err error) {
	if dir == "" {
		if dir, err = os.MkdirTemp("", "quickstart-"); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	ds, err := saveAndOpen(dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, ds.Close()) }()

	rng := rand.New(rand.NewPCG(seed, 0))
	rows := rng.Perm(ds.Shape()[0])
	train, test := rows[:1500], rows[1500:]
	model := &softmax{}
	start := time.Now()
	for epoch := range *epochs {
		rng.Shuffle(len(train), func(i, j int) { train[i], train[j] = train[j], train[i] })
		loss, err := trainEpoch(model, ds.TensorDict, train)
		if err != nil {
			return 0, err
		}
		if accuracy, err = evaluate(model, ds.TensorDict, test); err != nil {
			return 0, err
		}
		fmt.Printf("epoch %2d: loss %.3f, held-out accuracy %.1f %%\n", epoch+1, loss, 100*accuracy)
	}
	elapsed := time.Since(start)
	seen := float64(*epochs * (len(train) + len(test)))
	fmt.Printf("%v elapsed, %.0f rows per second\n", elapsed.Round(time.Millisecond), seen/elapsed.Seconds())
	return accuracy, nil
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
func trainEpoch(model *softmax, ds *tdict.TensorDict, rows []int) (loss float64, err error) {
	for start := 0; start < len(rows); start += *batch {
		images, labels, err := fetch(ds, rows[start:min(start+*batch, len(rows))])
		if err != nil {
			return 0, err
		}
		loss += model.train(images, labels)
	}
	return loss / float64(len(rows)), nil
}

// evaluate returns the share of rows whose label the model finds.
func evaluate(model *softmax, ds *tdict.TensorDict, rows []int) (float64, error) {
	images, labels, err := fetch(ds, rows)
	if err != nil {
		return 0, err
	}
	right := 0
	for i, label := range labels {
		if model.predict(images[i*pixels:(i+1)*pixels]) == int(label) {
			right++
		}
	}
	return float64(right) / float64(len(rows)), nil
}

// fetch copies rows out of the mapped files, and returns their images, from 0 to 1, and labels.
func fetch(ds *tdict.TensorDict, rows []int) (images []float32, labels []int64, err error) {
	b, err := ds.Index(ix.Take(rows...))
	if err != nil {
		return nil, nil, err
	}
	raw, err := tdict.Slice[uint8](b, "image")
	if err != nil {
		return nil, nil, err
	}
	for _, v := range raw {
		images = append(images, float32(v)/16)
	}
	labels, err = tdict.Slice[int64](b, "meta/label")
	return images, labels, err
}
