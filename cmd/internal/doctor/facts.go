package doctor

import (
	"context"
	"math"
	"strings"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/tdict"
)

// Facts describe a cache. The zero Facts are of a cache of which nothing is known.
type facts struct {
	exists  bool
	config  samplecache.Config // with the defaults filled in
	stats   samplecache.Stats  // zero if there is no cache yet
	leaves  int64
	sample  int64 // bytes of a sample
	largest int64 // bytes of the largest leaf of a sample
}

// look reads the facts of the cache in a directory. It does not join the cache.
func look(ctx context.Context, dir string) (f facts, err error) {
	about, stats, err := dircache.Engine{Dir: dir}.Observe(ctx)
	if err != nil {
		return f, err
	}
	f = factsOf(about.Config, about.Schema)
	f.exists, f.stats = true, stats
	return f, nil
}

// factsOf returns the facts of a config and a schema.
func factsOf(config samplecache.Config, schema *tdict.TensorDict) facts {
	f := facts{config: config}
	for _, x := range schema.Tensors() {
		n := int64(x.ByteSize())
		f.leaves, f.sample, f.largest = f.leaves+1, f.sample+n, max(f.largest, n)
	}
	return f
}

// waits reports whether publishing waits for something that may last. A process that has the lock
// is publishing, and without members nobody waits.
func (f facts) waits() bool {
	reason := f.stats.PublishWaits
	return reason != "" && !strings.HasSuffix(reason, "which has the lock") && len(f.stats.Members) > 0
}

// generation returns the bytes that a generation takes: samples and their records. It is so small
// that 128 times as many fit into an int64.
func (f facts) generation() int64 {
	const most = math.MaxInt64 / 128
	row := f.sample + 104 + 4*f.leaves
	if row < 0 || row > most/int64(max(f.config.Samples, 1)) {
		return most
	}
	return int64(f.config.Samples) * row
}

// made returns how many generations Create allocates.
func (f facts) made() int64 { return 2 + int64(max(f.config.Retain, 0)) }

// most returns how many generations there may be at a time.
func (f facts) most() int64 { return f.made() + int64(max(f.config.MaxHeld, 0)) }

// now returns the bytes that Create allocates; 0 if there is a cache, or nothing is known.
func (f facts) now() int64 {
	if f.exists {
		return 0
	}
	return f.made() * f.generation()
}

// later returns the bytes that generations may take because they are read.
func (f facts) later() int64 {
	return max(f.most()-f.made()-int64(len(f.stats.Held)), 0) * f.generation()
}

// total returns the bytes that the cache takes at most.
func (f facts) total() int64 { return f.most() * f.generation() }
