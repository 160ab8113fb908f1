// Train stops a training run in the middle of an epoch and resumes it. A classifier of digits that
// are shifted at random becomes the same model, bit for bit, as in a run without a stop. Any error
// ends it: see Must.
//
//	go run ./examples/train
package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/go-tensordict/tensordict/examples/internal/data"
	"github.com/go-tensordict/tensordict/examples/internal/softmax"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

const (
	trained = 1500 // digits to train on; the others are held out
	epochs  = 20
	side    = 7 // size of the part that is cut out of a digit
)

func main() {
	digits := tensor.Must(data.Digits())
	whole := softmax.New(10, side*side)
	l := shifted(digits, 0)
	train(whole, l, epochs*l.Len())
	fmt.Printf("%d epochs of %d batches\n", l.Epoch(), l.Len())
	fmt.Println("the same model:", whole.Equal(inTwoParts(digits, 7*l.Len()+11)))
	fmt.Printf("held-out accuracy %.1f %%\n", 100*heldOut(digits, whole))
}

// shifted returns a loader of digits, which are cropped at random.
func shifted(digits *tdict.TensorDict, workers int) *loader.Loader {
	rows := tensor.Must(digits.Index(ix.Range(0, trained)))
	return tensor.Must(loader.New(tensor.Must(loader.From(rows)), loader.Options{
		Batch: 64, Sampler: sampler.Random(), Seed: 1, Workers: workers, Dataset: "digits v1",
		Transform: transform.OnKeys(transform.Compose(
			transform.RandomCrop(side, side),
			transform.CastScale(tensor.Float32, 1./16, 0),
		), "image"),
	}))
}

// train takes a number of steps, or all that are left if steps is negative.
func train(model *softmax.Model, l *loader.Loader, steps int) {
	for l.Epoch() < epochs {
		for batch, err := range l.Batches(context.Background()) {
			check(err)
			model.Train(inputs(batch))
			if steps--; steps == 0 {
				return
			}
		}
	}
}

// inputs returns the images and labels of a batch as slices.
func inputs(batch *tdict.TensorDict) (images []float32, labels []int64) {
	return tensor.Must(tdict.Slice[float32](batch, "image")), tensor.Must(tdict.Slice[int64](batch, "meta/label"))
}

// inTwoParts trains for some steps, stores the state like a checkpoint, and continues with another
// loader, which has workers.
func inTwoParts(digits *tdict.TensorDict, steps int) *softmax.Model {
	model := softmax.New(10, side*side)
	first := shifted(digits, 0)
	train(model, first, steps)
	checkpoint := tensor.Must(json.MarshalIndent(first.State(), "", "  "))
	fmt.Printf("stopped with the state %s\n", checkpoint)

	second := shifted(digits, 2)
	var state loader.State
	check(json.Unmarshal(checkpoint, &state))
	check(second.Restore(state))
	fmt.Printf("resumed in epoch %d, %d batches left of it\n", second.Epoch(), second.Left())
	train(model, second, -1)
	return model
}

// heldOut returns the share of the held-out digits that a model classifies correctly, from their
// upper left part.
func heldOut(digits *tdict.TensorDict, model *softmax.Model) float64 {
	rest := tensor.Must(digits.Index(ix.Range(trained, ix.End)))
	scale := transform.OnKeys(transform.CastScale(tensor.Float32, 1./16, 0), "image")
	rest = tensor.Must(scale.Apply(rest, transform.Draw{}))
	image := tensor.Must(rest.Tensor("image"))
	check(rest.Set("image", tensor.Must(image.Index(ix.All, ix.Range(0, side), ix.Range(0, side)))))
	return model.Accuracy(inputs(rest))
}

// check panics if there is an error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
