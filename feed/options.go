package feed

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/loader"
)

// Options are the options of [Listen]. Loader.Batch, or Loader.Batching and Rows, must be set; the
// zero values of all others are the defaults.
type Options struct {
	// Loader says how batches are made. Into, Own, Poison, Share.Rank and Share.World must be
	// unset. Each consumer has its own loader; they call Progress on several goroutines.
	Loader loader.Options
	// Rows is the largest number of rows in a batch; 0 means Loader.Batch.
	Rows int
	// Epochs is the number of epochs; 0 means no end.
	Epochs uint64
	// Consumers is the number of consumers, at most 1024; 0 means 1. They are the ranks of a world:
	// rank r gets batches r, r+Consumers and so on.
	Consumers int
	// Same gives each consumer all batches.
	Same bool
	// Slots is the number of batches of each consumer that are made and not yet given back, at most
	// 4096; 0 means 4, and two more for each of Loader.Workers.
	Slots int
	// Dir is an existing directory in which the directory of the slots is made; "" means /dev/shm
	// if it exists, otherwise os.TempDir(). It should be in memory.
	Dir string
	// OnError, if not nil, is called with errors that end one connection, by one goroutine at a
	// time: a consumer that broke the protocol, a rank or a state that the feed does not have, or a
	// batch that could not be made. The consumer is sent the error too.
	OnError func(err error)
}

const (
	maxConsumers = 1 << 10
	maxSlots     = 1 << 12
	maxRows      = math.MaxInt32
	maxBatch     = 1 << 62
)

// fill checks the options and sets defaults.
func (o *Options) fill() error {
	for _, unset := range []struct {
		name string
		ok   bool
	}{
		{"Into", o.Loader.Into == nil}, {"Own", !o.Loader.Own}, {"Poison", !o.Loader.Poison},
		{"Share.Rank", o.Loader.Share.Rank == 0}, {"Share.World", o.Loader.Share.World == 0},
	} {
		if !unset.ok {
			return fmt.Errorf("%w: got Loader.%s, want it unset", loader.ErrOptions, unset.name)
		}
	}
	o.Rows = cmp.Or(o.Rows, o.Loader.Batch)
	o.Loader.SplitsKey = cmp.Or(o.Loader.SplitsKey, "splits") // the default of loaders
	o.Consumers = cmp.Or(o.Consumers, 1)
	if o.Slots == 0 {
		o.Slots = min(4+2*o.Loader.Workers, maxSlots)
	}
	if o.Rows == 0 && o.Loader.Batching != nil {
		return fmt.Errorf("%w: got a Batching, want Rows too, the largest number of rows in a batch", loader.ErrOptions)
	}
	for _, field := range []struct {
		name    string
		n, most int
	}{{"Rows", o.Rows, maxRows}, {"Consumers", o.Consumers, maxConsumers}, {"Slots", o.Slots, maxSlots}} {
		if field.n < 1 || field.n > field.most {
			return fmt.Errorf("%w: got %s %d, want 1 to %d", loader.ErrOptions, field.name, field.n, field.most)
		}
	}
	if o.Dir == "" {
		o.Dir = sharedMemory
		if info, err := os.Stat(o.Dir); err != nil || !info.IsDir() {
			o.Dir = os.TempDir()
		}
	}
	var err error
	o.Dir, err = filepath.Abs(o.Dir) // consumers have other working directories
	return err
}

// sharedMemory is a directory in memory, on Linux.
const sharedMemory = "/dev/shm"

// world returns the number of ranks that share an epoch.
func (o *Options) world() int {
	if o.Same {
		return 1
	}
	return o.Consumers
}
