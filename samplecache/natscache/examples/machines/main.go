// Machines trains on samples that other processes draw. They meet only at a NATS server, so they
// could run on different machines. This program starts them all: a server, two generators, and a
// trainer with a mirror.
//
//	go run -C samplecache/natscache ./examples/machines
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var (
	url       = flag.String("url", "", "run as a generator for the cache at this address; the program starts these processes itself")
	generator = flag.String("name", "", "name of the generator")
)

func main() {
	flag.Parse()
	if *url != "" {
		generate(*url, *generator)
		return
	}
	dir := tensor.Must(os.MkdirTemp("", "machines-"))
	defer os.RemoveAll(dir)
	server := tensor.Must(natscache.Serve(natscache.ServeOptions{Dir: filepath.Join(dir, "server")}))
	defer server.Close()
	// Once the trainer reads, no generation is published before it has read the one before.
	config := natscache.Config{Config: samplecache.Config{Samples: 64, Limits: samplecache.Limits{MinPasses: 1}}}
	check(natscache.Create(context.Background(), server.URL(), "waves", schema(), config))
	for _, name := range []string{"gen-0", "gen-1"} {
		stop := start(server.URL(), name)
		defer stop()
	}
	train(natscache.Engine{URL: server.URL(), Name: "waves", Mirror: filepath.Join(dir, "mirror")})
}

// schema describes a sample: a noisy wave, and its frequency.
func schema() *tdict.TensorDict {
	td := tdict.New()
	check(td.Set("wave", tensor.Must(tensor.NewMeta(tensor.Float32, 1024))))
	check(td.Set("frequency", tensor.Must(tensor.NewMeta(tensor.Float32))))
	return td
}

// start starts a generator. The returned function ends it.
func start(url, name string) (stop func()) {
	cmd := exec.Command(tensor.Must(os.Executable()), "-url", url, "-name", name)
	cmd.Stderr = os.Stderr
	in := tensor.Must(cmd.StdinPipe())
	check(cmd.Start())
	return func() {
		check(in.Close())
		check(cmd.Wait())
	}
}

// generate draws waves until standard input ends. The number of a wave is its seed.
func generate(url, name string) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // the parent ends it
		cancel()
	}()
	c := tensor.Must(samplecache.Open(ctx, natscache.Engine{URL: url, Name: "waves"}, samplecache.Options{}))
	defer c.Close()
	p := tensor.Must(c.Producer(name))
	for {
		slot, err := p.Reserve(ctx)
		if errors.Is(err, context.Canceled) {
			return
		}
		check(err)
		draw(slot.Sample(), rand.New(rand.NewPCG(slot.Number(), uint64(name[4]))))
		check(slot.Commit(context.WithoutCancel(ctx))) // the wave is kept even if ctx has ended
	}
}

// draw writes a wave.
func draw(sample *tdict.TensorDict, rng *rand.Rand) {
	step := rng.Float32()
	check(tensor.Must(sample.Tensor("frequency")).CopyFrom(tensor.Must(tensor.Full(step))))
	check(tensor.Write(tensor.Must(sample.Tensor("wave")), func(wave []float32) {
		phase := float32(0)
		for i := range wave {
			wave[i] = phase + rng.Float32()
			if phase += step; phase > 1 {
				phase--
			}
		}
	}))
}

// train reads five generations, which a mirror copies to this machine.
func train(e natscache.Engine) {
	ctx, cancel := context.WithCancel(context.Background())
	mirrored := make(chan error, 1)
	go func() { mirrored <- natscache.Mirror(ctx, e, e.Mirror) }()
	c := tensor.Must(samplecache.Open(ctx, e, samplecache.Options{}))
	defer c.Close()
	group := c.Group("train", 1)
	for epoch := range uint64(5) {
		g := tensor.Must(group.Epoch(ctx, epoch))
		l := tensor.Must(loader.New(g, loader.Options{Batch: 16, Sampler: sampler.Random(), Seed: epoch}))
		rows := 0
		for batch, err := range l.Batches(ctx) {
			check(err)
			rows += batch.Shape()[0] // a real training takes a step here
		}
		from := map[string]int{}
		for row := range g.Len() {
			from[tensor.Must(g.Info(row)).Producer]++
		}
		fmt.Printf("epoch %d: %d waves, all of gen-0 and gen-1: %t\n", epoch, rows, from["gen-0"]+from["gen-1"] == rows)
		check(g.Close())
	}
	cancel()
	if err := <-mirrored; !errors.Is(err, context.Canceled) {
		check(err)
	}
}

// check panics if there is an error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
