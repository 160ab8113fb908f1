package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/go-tensordict/tensordict/examples/internal/softmax"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tensor"
)

// A checkpoint holds the model and the position of a training.
type checkpoint struct {
	Model *softmax.Model
	State loader.State
}

// resume stops a training in the middle of an epoch, resumes it from a file, and compares the model
// with one that was trained without a stop.
func resume(dir string) {
	ds := tensor.Must(memmap.Open(dir))
	defer ds.Close()
	file := dir + ".checkpoint"

	whole, _ := loaders(ds)
	want := softmax.New(4, len(labs))
	for whole.Epoch() < epochs {
		trainEpoch(want, whole)
	}
	stopped, _ := loaders(ds)
	trainUntil(stopped, 7, 9, file)

	resumed, _ := loaders(ds)
	got := load(file, resumed)
	fmt.Println("resumed in epoch", resumed.Epoch(), "with", resumed.Left(), "batches left")
	for resumed.Epoch() < epochs {
		trainEpoch(got, resumed)
	}
	fmt.Println("the same model, bit for bit:", got.Equal(want))
}

// trainUntil trains a model, writes a checkpoint after some batches of an epoch, and stops.
func trainUntil(l *loader.Loader, epoch uint64, left int, file string) {
	model := softmax.New(4, len(labs))
	for l.Epoch() < epoch {
		trainEpoch(model, l)
	}
	for batch, err := range l.Batches(context.Background()) {
		check(err)
		model.Train(columns(batch))
		if l.Left() == left {
			text := tensor.Must(json.MarshalIndent(checkpoint{model, l.State()}, "", "  "))
			check(os.WriteFile(file, text, 0o644))
			return
		}
	}
}

// load reads a checkpoint: l goes on where it was written, with the model that it returns.
func load(file string, l *loader.Loader) *softmax.Model {
	var c checkpoint
	check(json.Unmarshal(tensor.Must(os.ReadFile(file)), &c))
	check(l.Restore(c.State))
	return c.Model
}
