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
	trained = 1500 // digits, the others are held out
	epochs  = 20
	side    = 7 // of the part that is cut out of a digit
)

// digits trains a classifier, and another one that is stopped in the middle of an epoch, and
// compares.
func digits(ctx context.Context) error {
	td, err := data.Digits()
	if err != nil {
		return err
	}
	whole := softmax.New(10, side*side)
	l, err := shifted(td, 0)
	if err != nil {
		return err
	}
	if err := train(ctx, whole, l, epochs*l.Len()); err != nil {
		return err
	}
	fmt.Printf("%d epochs of %d batches\n", l.Epoch(), l.Len())
	resumed, err := inTwoParts(ctx, td, 7*l.Len()+11)
	if err != nil {
		return err
	}
	fmt.Println("the same model:", whole.Equal(resumed))
	accuracy, err := heldOut(td, whole)
	fmt.Printf("held-out accuracy %.1f %%\n", 100*accuracy)
	return err
}

// shifted returns a loader of digits of which a part is cut out at random.
func shifted(td *tdict.TensorDict, workers int) (*loader.Loader, error) {
	rows, err := td.Index(ix.Range(0, trained))
	if err != nil {
		return nil, err
	}
	src, err := loader.From(rows)
	if err != nil {
		return nil, err
	}
	return loader.New(src, loader.Options{
		Batch: 64, Sampler: sampler.Random(), Seed: 1, Workers: workers, Dataset: "digits v1",
		Transform: transform.OnKeys(transform.Compose(
			transform.RandomCrop(side, side),
			transform.CastScale(tensor.Float32, 1./16, 0),
		), "image"),
	})
}

// train takes up to so many steps.
func train(ctx context.Context, model *softmax.Model, l *loader.Loader, steps int) error {
	for l.Epoch() < epochs {
		for batch, err := range l.Batches(ctx) {
			if err != nil {
				return err
			}
			images, labels, err := inputs(batch)
			if err != nil {
				return err
			}
			model.Train(images, labels)
			if steps--; steps == 0 {
				return nil
			}
		}
	}
	return nil
}

// inputs returns the images and labels of a batch as slices.
func inputs(batch *tdict.TensorDict) (images []float32, labels []int64, err error) {
	if images, err = tdict.Slice[float32](batch, "image"); err != nil {
		return nil, nil, err
	}
	labels, err = tdict.Slice[int64](batch, "meta/label")
	return images, labels, err
}

// inTwoParts trains for some steps, keeps the state as a checkpoint would, and goes on with another
// loader, that has workers.
func inTwoParts(ctx context.Context, td *tdict.TensorDict, steps int) (*softmax.Model, error) {
	model := softmax.New(10, side*side)
	first, err := shifted(td, 0)
	if err != nil {
		return nil, err
	}
	if err := train(ctx, model, first, steps); err != nil {
		return nil, err
	}
	checkpoint, err := json.MarshalIndent(first.State(), "", "  ")
	if err != nil {
		return nil, err
	}
	fmt.Printf("stopped with the state %s\n", checkpoint)

	second, err := shifted(td, 2)
	if err != nil {
		return nil, err
	}
	var state loader.State
	if err := json.Unmarshal(checkpoint, &state); err != nil {
		return nil, err
	}
	if err := second.Restore(state); err != nil {
		return nil, err
	}
	fmt.Printf("resumed in epoch %d, %d batches left of it\n", second.Epoch(), second.Left())
	return model, train(ctx, model, second, -1)
}

// heldOut returns the share of the other digits that a model knows by their upper left part.
func heldOut(td *tdict.TensorDict, model *softmax.Model) (float64, error) {
	rest, err := td.Index(ix.Range(trained, ix.End))
	if err != nil {
		return 0, err
	}
	fixed := transform.OnKeys(transform.CastScale(tensor.Float32, 1./16, 0), "image")
	if rest, err = fixed.Apply(rest, transform.Draw{}); err != nil {
		return 0, err
	}
	image, err := rest.Tensor("image")
	if err != nil {
		return 0, err
	}
	part, err := image.Index(ix.All, ix.Range(0, side), ix.Range(0, side))
	if err != nil {
		return 0, err
	}
	if err := rest.Set("image", part); err != nil {
		return 0, err
	}
	images, labels, err := inputs(rest)
	if err != nil {
		return 0, err
	}
	return model.Accuracy(images, labels), nil
}
