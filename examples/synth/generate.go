package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// schema describes a sample.
func schema() *tdict.TensorDict {
	image := tensor.Must(tensor.NewMeta(tensor.Uint8, 128, 128))
	return tensor.Must(tdict.FromMap(nil, tdict.Entries{"image": image}))
}

// draw writes a sample. It depends only on the generator and the number, so that a generator that
// was killed draws the same sample again.
func draw(sample *tdict.TensorDict, by int, number uint64) {
	rng := rand.New(rand.NewPCG(uint64(by), number))
	check(tensor.Write(tensor.Must(sample.Tensor("image")), func(pixels []uint8) {
		for i := range pixels {
			pixels[i] = uint8(128 + 20*rng.NormFloat64())
		}
	}))
}

// generate is a generator: it prints the number of its next image, and draws images into the cache
// until its input ends.
func generate(dir string, by int) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	c := tensor.Must(samplecache.Open(ctx, dircache.Engine{Dir: dir}, samplecache.Options{}))
	defer c.Close()
	p := tensor.Must(c.Producer(fmt.Sprintf("gen-%d", by)))
	fmt.Println(p.Next()) // 0, or the next number after a kill
	for {
		slot, err := p.Reserve(ctx) // waits for room
		if err == nil {
			draw(slot.Sample(), by, slot.Number())
			err = slot.Commit(ctx)
		}
		if ctx.Err() != nil {
			return // the input has ended
		}
		check(err)
	}
}

// A process is a generator that runs in another process.
type process struct {
	*exec.Cmd
	in   io.Closer // ends the process
	from uint64    // the number of its first image
}

// start starts this program again, as a generator. It ends when this process does, at the latest.
func start(dir string, by int) *process {
	p := &process{Cmd: exec.Command(tensor.Must(os.Executable()), "-generator", fmt.Sprint(by), "-dir", dir)}
	p.Stderr = os.Stderr
	p.in = tensor.Must(p.StdinPipe())
	out := tensor.Must(p.StdoutPipe())
	check(p.Start())
	_, err := fmt.Fscan(out, &p.from)
	check(err)
	return p
}
