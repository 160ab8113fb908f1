// Package epochs is the training loop of the examples for SLURM. A rank of a training job reads its
// share of a generation in each epoch, and prints the mean of its samples instead of training.
package epochs

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Flags of the command line.
var (
	key        = flag.String("key", "image", "the key whose mean is printed")
	wait       = flag.Duration("wait", 10*time.Minute, "how long to wait for the cache, and for each generation")
	first      = flag.Uint64("first", 0, "the first epoch")
	last       = flag.Uint64("epochs", 100, "the number of epochs")
	checkpoint = flag.String("checkpoint", "", "file for the number of the next epoch, which rank 0 writes")
)

// Main trains on a cache until all epochs have passed, or SIGTERM comes. open returns the engine of
// the cache that the argument of the command line names.
func Main(open func(place string) (samplecache.Engine, error)) {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	err := fmt.Errorf("got arguments %q, want the place of a cache", flag.Args())
	if flag.NArg() == 1 {
		var e samplecache.Engine
		if e, err = open(flag.Arg(0)); err == nil {
			err = train(ctx, e)
		}
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

// variable returns a number that SLURM has put into the environment, or def.
func variable(name string, def int) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return def
	}
	return n
}

// train reads a generation in each epoch. The group has a new name when the job starts again: the
// ranks that were killed may still be in the old one, for as long as the lease of a NATS cache.
func train(ctx context.Context, e samplecache.Engine) error {
	rank, world := variable("SLURM_PROCID", 0), variable("SLURM_NTASKS", 1)
	late, cancel := deadline(ctx)
	defer cancel()
	c, err := samplecache.Open(late, e, samplecache.Options{Await: true})
	if err != nil {
		return err
	}
	defer c.Close()
	group := c.Group(fmt.Sprintf("train-%s-%d", os.Getenv("SLURM_JOB_ID"), variable("SLURM_RESTART_COUNT", 0)), world)
	for n := *first; n < *last; n++ {
		if err := epoch(ctx, c, group, n, sampler.Share{Rank: rank, World: world}); err != nil {
			return err
		}
		if rank == 0 && *checkpoint != "" {
			if err := write(*checkpoint, n+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// deadline returns a context for one wait.
func deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, *wait, fmt.Errorf("-wait %v has passed", *wait))
}

// epoch waits for the generation of an epoch, and reads a rank's share of it.
func epoch(ctx context.Context, c *samplecache.Cache, group *samplecache.Group, n uint64, share sampler.Share) error {
	late, cancel := deadline(ctx)
	defer cancel()
	g, err := group.Epoch(late, n)
	if errors.Is(err, samplecache.ErrBlocked) {
		return fmt.Errorf("%w: %s", err, missing(c))
	}
	if err != nil {
		return err
	}
	l, err := loader.New(g, loader.Options{Batch: 8, Sampler: sampler.Random(), Seed: n, Share: share})
	if err != nil {
		return errors.Join(err, g.Close())
	}
	samples, sum := 0, 0.0
	for batch, err := range l.Batches(ctx) {
		mean := 0.0
		if err == nil {
			mean, err = meanOf(batch) // a real training takes a step here
		}
		if err != nil {
			return errors.Join(err, g.Close())
		}
		samples += batch.Shape()[0]
		sum += mean * float64(batch.Shape()[0])
	}
	fmt.Printf("rank %d of %d: epoch %d, generation %d: %d samples, mean %.4f\n", share.Rank, share.World, n, g.ID(), samples, sum/float64(samples))
	return g.Close()
}

// missing says how many samples the next generation has.
func missing(c *samplecache.Cache) string {
	s, err := c.Stats()
	if err != nil {
		return err.Error()
	}
	text := fmt.Sprintf("generation %d has %d of %d samples, and the cache has %d members, this process included", s.Filling, s.Committed, s.Samples, len(s.Members))
	if s.PublishWaits != "" {
		text += "; publishing waits for " + s.PublishWaits
	}
	return text
}

// meanOf returns the mean of a batch.
func meanOf(batch *tdict.TensorDict) (float64, error) {
	x, err := batch.Tensor(nestedkey.Key(*key))
	if err != nil {
		return 0, err
	}
	mean, err := arith.Mean(x, arith.Whole)
	if err != nil {
		return 0, err
	}
	if mean, err = mean.Cast(tensor.Float64); err != nil {
		return 0, err
	}
	return tensor.Item[float64](mean)
}

// write replaces a file by one with a number, in one step.
func write(path string, n uint64) error {
	if err := os.WriteFile(path+".new", fmt.Appendln(nil, n), 0o666); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
