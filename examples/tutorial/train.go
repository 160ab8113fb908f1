package main

import (
	"context"
	"fmt"

	"github.com/go-tensordict/tensordict/examples/internal/softmax"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

const epochs = 20

// train trains a linear classifier of the four stages, and tests it on patients it has not seen.
func train(dir string) {
	ds := tensor.Must(memmap.Open(dir))
	defer ds.Close()
	training, test := loaders(ds)
	model := softmax.New(4, len(labs))
	for training.Epoch() < epochs {
		loss := trainEpoch(model, training)
		if epoch := training.Epoch(); epoch == 1 || epoch%10 == 0 {
			fmt.Printf("epoch %2d: loss %.3f\n", epoch, loss)
		}
	}
	always := softmax.New(4, len(labs))
	always.Bias[3] = 1 // says stage 4, whatever the labs
	fmt.Printf("right in the test set: %.0f %%, always stage 4: %.0f %%\n",
		100*accuracy(model, test), 100*accuracy(always, test))
}

// trainEpoch takes a step for each batch that is left of an epoch. It returns the mean loss.
func trainEpoch(model *softmax.Model, l *loader.Loader) (loss float64) {
	var visits float64
	for batch, err := range l.Batches(context.Background()) {
		check(err)
		inputs, stages := columns(batch)
		loss += model.Train(inputs, stages)
		visits += float64(len(stages))
	}
	return loss / visits
}

// accuracy returns the share of the only batch of l that the model classifies right.
func accuracy(model *softmax.Model, l *loader.Loader) (share float64) {
	for batch, err := range l.Batches(context.Background()) {
		check(err)
		share = model.Accuracy(columns(batch))
	}
	return share
}

// columns returns the labs and the stages of a batch as Go slices.
func columns(batch *tdict.TensorDict) (inputs []float32, stages []int64) {
	inputs = tensor.Must(tdict.Slice[float32](batch, "labs"))
	return inputs, tensor.Must(tdict.Slice[int64](batch, "target/stage"))
}
