package samplecache_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// sample returns the sample of a number: an image and its label.
func sample(n uint64) *tdict.TensorDict {
	return tensor.Must(tdict.FromMap(nil, tdict.Entries{
		"image": tensor.Must(tensor.Full(float32(n), 4, 4)),
		"label": tensor.Must(tensor.Full(int64(n))),
	}))
}

// open makes a cache in memory and opens it; dircache.Create makes one in a directory.
func open(config samplecache.Config) (c *samplecache.Cache, done func()) {
	e, err := memcache.New(sample(0), config)
	check(err)
	c, err = samplecache.Open(context.Background(), e, samplecache.Options{})
	check(err)
	return c, func() { check(c.Close()) }
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Producers fill a generation while trainers read the one published last.
func Example() {
	ctx := context.Background()
	c, done := open(samplecache.Config{Samples: 8})
	defer done()

	p, err := c.Producer("gen-0") // in one process, or in many
	check(err)
	for range 16 {
		check(p.Put(ctx, sample(p.Next())))
	}

	g, err := c.Group("train", 1).Epoch(ctx, 0) // in another
	check(err)
	l, err := loader.New(g, loader.Options{Batch: 3, Sampler: sampler.Random(), Seed: 1})
	check(err)
	for batch, err := range l.Batches(ctx) {
		check(err)
		fmt.Println(tensor.Must(tdict.Slice[int64](batch, "label")))
	}
	check(g.Close())
	// Output:
	// [13 8 9]
	// [10 11 14]
	// [12 15]
}

// A slot is reserved before any work is done, and written in place.
func ExampleProducer_Reserve() {
	ctx := context.Background()
	c, done := open(samplecache.Config{Samples: 2})
	defer done()
	p, err := c.Producer("gen-0")
	check(err)

	slot, err := p.Reserve(ctx)
	check(err)
	image, err := slot.Sample().Tensor("image")
	check(err)
	err = tensor.Write(image, func(pixels []float32) { // the mapped memory itself
		for i := range pixels {
			pixels[i] = float32(i)
		}
	})
	check(err)
	check(arith.FillInPlace(tensor.Must(slot.Sample().Tensor("label")), 1))
	fmt.Println(image)
	check(slot.Commit(ctx))
	_, err = image.Clone()
	fmt.Println(errors.Is(err, samplecache.ErrClosed)) // it is others' now
	// Output:
	// float32 [4 4]
	// [[ 0  1  2  3]
	//  [ 4  5  6  7]
	//  [ 8  9 10 11]
	//  [12 13 14 15]]
	// true
}

// A generator that is started again goes on where it was killed, and what it puts again is stored
// once.
func ExampleProducer_Next() {
	ctx := context.Background()
	c, done := open(samplecache.Config{Samples: 4})
	defer done()
	p, err := c.Producer("gen-0")
	check(err)
	for n := range uint64(6) {
		check(p.PutAt(ctx, n, sample(n)))
	}
	check(p.Close()) // or the process is killed

	again, err := c.Producer("gen-0")
	check(err)
	fmt.Println("goes on with", again.Next())
	check(again.PutAt(ctx, 5, sample(5)))
	fmt.Println("goes on with", again.Next())
	// Output:
	// goes on with 6
	// goes on with 6
}

// What waits says what for.
func ExampleCache_Wait() {
	c, done := open(samplecache.Config{Samples: 2})
	defer done()
	p, err := c.Producer("")
	check(err)
	check(p.Put(context.Background(), sample(0)))

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err = c.Wait(ctx, 0)
	before, what, _ := strings.Cut(err.Error(), ": blocked: ")
	fmt.Println(before)
	fmt.Println(what)
	fmt.Println(errors.Is(err, context.DeadlineExceeded), errors.Is(err, samplecache.ErrBlocked))
	// Output:
	// wait: context deadline exceeded
	// the latest generation is 0, the next has 1 of 2 samples
	// true true
}

// The state of a loader says which generation it was reading.
func ExampleCache_Resume() {
	ctx := context.Background()
	c, done := open(samplecache.Config{Samples: 4})
	defer done()
	p, err := c.Producer("gen-0")
	check(err)
	for n := range uint64(4) {
		check(p.Put(ctx, sample(n)))
	}
	g, err := c.Latest(ctx)
	check(err)
	l, err := loader.New(g, loader.Options{Batch: 1})
	check(err)
	for range l.Batches(ctx) {
		break // the job is interrupted
	}
	state := l.State()
	check(g.Close())

	g, state, err = c.Resume(ctx, state, samplecache.ResumeOptions{})
	check(err)
	l, err = loader.New(g, loader.Options{Batch: 1})
	check(err)
	check(l.Restore(state))
	fmt.Println("generation", g.ID(), "batches left", l.Left())
	check(g.Close())

	for n := range uint64(12) {
		check(p.Put(ctx, sample(n)))
	}
	_, _, err = c.Resume(ctx, state, samplecache.ResumeOptions{})
	fmt.Println(err, errors.Is(err, samplecache.ErrGenerationGone))
	// Output:
	// generation 1 batches left 3
	// generation 1: generation is gone true
}
