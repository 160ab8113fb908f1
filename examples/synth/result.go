package main

import (
	"errors"
	"time"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A result says how a training went.
type result struct {
	model       model
	drawn, read int           // volumes
	took        time.Duration // in all
	waited      time.Duration // by the trainer, for volumes
	idle        time.Duration // by a generator, for room; the mean of them
	story       string        // of the generator that was killed
}

func (r *result) perSecond(n int) float64          { return float64(n) / r.took.Seconds() }
func (r *result) share(part time.Duration) float64 { return part.Seconds() / r.took.Seconds() }

// learn takes a step with a batch.
func (r *result) learn(td *tdict.TensorDict, n int) error {
	image, err := tdict.Slice[uint8](td, "image")
	if err != nil {
		return err
	}
	label, err := tdict.Slice[uint8](td, "label")
	if err != nil {
		return err
	}
	r.model.train(image, label)
	r.read += n
	return nil
}

// blank returns memory for a sample.
func blank() *tdict.TensorDict {
	return tensor.Must(tdict.FromMap(nil, tdict.Entries{
		"label": tensor.Must(tensor.New(tensor.Uint8, side, side, side)),
		"image": tensor.Must(tensor.New(tensor.Uint8, side, side, side)),
	}))
}

// drawInLine trains with volumes that the trainer itself draws, each for one batch.
func drawInLine(d time.Duration) (r result, err error) {
	began := time.Now()
	volume := blank()
	for ; time.Since(began) < d; r.drawn++ {
		at := time.Now()
		err := draw(volume, 0, uint64(r.drawn))
		r.waited += time.Since(at)
		if err = errors.Join(err, r.learn(volume, 1)); err != nil {
			return r, err
		}
	}
	r.took = time.Since(began)
	return r, nil
}
