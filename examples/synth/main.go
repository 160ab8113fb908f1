// Synth trains on images that are drawn during the training. Processes draw them into a cache. The
// trainer reads each generation of the cache again and again until the next one is full. One
// process is killed on the way and started again: no image is lost, and none comes twice. Any error
// ends it: see Must.
//
//	go run ./examples/synth [-procs N] [-dir DIR]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/tensor"
)

var (
	procs     = flag.Int("procs", 3, "processes that draw, at least 1")
	dir       = flag.String("dir", "", "where to make the cache; by default in the directory for temporary files")
	generator = flag.Int("generator", -1, "run as generator N of the cache at -dir; the program starts these processes itself")
)

func main() {
	flag.Parse()
	if *generator >= 0 {
		generate(*dir, *generator)
		return
	}
	run()
}

// run makes a cache, trains while processes fill it, and returns the images that the trainer got.
func run() ledger {
	top := tensor.Must(os.MkdirTemp(*dir, "synth-"))
	defer os.RemoveAll(top)
	at := filepath.Join(top, "cache")
	// No generation is published before the trainer has read the one before it.
	config := samplecache.Config{Samples: 32, Limits: samplecache.Limits{MinPasses: 1}}
	check(dircache.Create(at, schema(), config))
	c := tensor.Must(samplecache.Open(context.Background(), dircache.Engine{Dir: at}, samplecache.Options{}))
	defer c.Close()
	all := make([]*process, *procs)
	for by := range all {
		all[by] = start(at, by)
	}
	got := train(c, func() {
		check(all[0].Process.Kill())
		_ = all[0].Wait() // its error says that the process was killed
		all[0] = start(at, 0)
		fmt.Printf("gen-0 was killed and goes on with its image %d\n", all[0].from)
	})
	for _, p := range all {
		check(p.in.Close())
		check(p.Wait())
	}
	fmt.Printf("%d images of %d processes: none is missing, none came twice\n", tensor.Must(got.count()), len(got))
	return got
}

// train reads eight generations. Each epoch is a pass over the generation published last. It calls
// midway when it has the third.
func train(c *samplecache.Cache, midway func()) ledger {
	got, generations, last, read := ledger{}, 0, uint64(0), 0
	group := c.Group("train", 1)
	defer group.Close()
	for epoch := uint64(0); generations < 8; epoch++ {
		g := tensor.Must(group.Epoch(context.Background(), epoch))
		if g.ID() != last {
			last, generations = g.ID(), generations+1
			got.enter(g)
			fmt.Printf("epoch %3d: generation %d, of %d images\n", epoch, last, g.Len())
			if generations == 3 {
				midway()
			}
		}
		l := tensor.Must(loader.New(g, loader.Options{Batch: 8, Sampler: sampler.Random(), Seed: epoch}))
		for batch, err := range l.Batches(context.Background()) {
			check(err)
			read += batch.Shape()[0] // a real training takes a step here
		}
		check(g.Close())
	}
	fmt.Printf("read %d images\n", read)
	return got
}

// A ledger has the numbers of the images that the trainer got from each generator.
type ledger map[string][]uint64

// enter records the images of a generation.
func (l ledger) enter(g *samplecache.Generation) {
	for row := range g.Len() {
		info := tensor.Must(g.Info(row))
		l[info.Producer] = append(l[info.Producer], info.Number)
	}
}

// count returns the number of images. It returns an error if one is missing or came twice.
func (l ledger) count() (images int, err error) {
	for name, numbers := range l {
		slices.Sort(numbers)
		for i, n := range numbers {
			if want := numbers[0] + uint64(i); n != want {
				return 0, fmt.Errorf("%s: got image %d, want %d", name, n, want)
			}
		}
		images += len(numbers)
	}
	return images, nil
}

// check panics if there is an error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
