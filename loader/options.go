package loader

import (
	"fmt"

	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/transform"
)

// Options say how a [Loader] makes batches. Batch or Batching must be set; the zero values of all
// others are the defaults.
type Options struct {
	// Batch is how many rows a batch has. The last one of an epoch has the rows that are left.
	Batch int
	// DropLast leaves out the last batch unless it has Batch rows.
	DropLast bool
	// Batching says where batches end, instead of Batch and DropLast: at the ends of groups, or by
	// the lengths of rows.
	Batching sampler.Batching

	// Sampler says which rows come, and in which order; nil means sampler.Sequential().
	Sampler sampler.Sampler
	// Seed is what the order of rows and the numbers of random transforms come from.
	Seed uint64
	// Share deals batches to the ranks of a world: rank r is given batches r, r + World and so on,
	// all ranks equally many. At the end of an epoch, ranks for which no batch is left are given
	// the first ones again; with Share.Drop the last batches, fewer than World, are left out. The
	// zero Share is given all.
	Share sampler.Share

	// Collate makes of the rows that a source returned what transforms are given, and the loop if
	// there are none. Nil keeps them. See [Pad].
	Collate Collate
	// Transform is applied to each batch, with random numbers that depend on Seed, the epoch and
	// the row, and on nothing else.
	Transform transform.Transform
	// RowsKey is the key under which a batch has the numbers of its rows, int64 [N B...]; "" means
	// under none.
	RowsKey nestedkey.Key
	// SplitsKey is the key under which a batch of groups has its row splits, an unbatched int64
	// [G+1]: group g has the rows from number g to number g+1. "" means "splits".
	SplitsKey nestedkey.Key

	// Workers is how many goroutines make batches ahead of the loop. 0 means none: the loop makes
	// each batch when it wants it, which for rows in memory is the fastest way unless transforms
	// take long.
	Workers int
	// Ahead is how many batches, besides that of the loop, workers may have made or be making, up
	// to 65,536; 0 means two for each worker.
	Ahead int
	// AheadBytes is how many bytes these may have; 0 means any number. The batch that the loop
	// wants next is made anyway. How large those are that are being made is taken from the largest
	// so far, so that the first is made alone.
	AheadBytes int
	// ReadAhead is how many bytes of rows a [Prefetcher] is told of before they are wanted; 0 means
	// that it is not told. For files larger than memory, some 64 MiB.
	ReadAhead int

	// Own gives each batch memory of its own, which the loop may keep and change, views and
	// unbatched tensors included.
	Own bool
	// Poison overwrites the numbers of a batch with rubbish when it is not valid any more, so that
	// keeping it shows: NaN, the least or the largest integer, true. It is for tests. It does not
	// see what is written to views of the source, and leaves data alone and what a Collate other
	// than [Pad] makes.
	Poison bool

	// Dataset names the data and their version. A state fits loaders with an equal name only.
	Dataset string
	// Progress, if not nil, is called after each batch, when the loop is done with it, by the
	// goroutine of the loop.
	Progress func(p Progress)
}

// defaultSplits is the SplitsKey that "" stands for.
const defaultSplits = "splits"

// maxAhead is how many workers and batches ahead there may be.
const maxAhead = 1 << 16

// check returns an error if options cannot be used.
func (o *Options) check() error {
	if err := o.Share.Check(); err != nil {
		return err
	}
	for _, key := range []nestedkey.Key{o.RowsKey, o.SplitsKey} {
		if err := key.Check(); err != nil {
			return fmt.Errorf("%w: %w", ErrOptions, err)
		}
	}
	if o.RowsKey != "" && (o.RowsKey == o.SplitsKey || o.SplitsKey == "" && o.RowsKey == defaultSplits) {
		return fmt.Errorf("%w: got %q as RowsKey and SplitsKey", ErrOptions, o.RowsKey)
	}
	if o.Workers > maxAhead || o.Ahead > maxAhead {
		return fmt.Errorf("%w: got Workers %d, Ahead %d, want at most %d", ErrOptions, o.Workers, o.Ahead, maxAhead)
	}
	if o.Workers < 0 || o.Ahead < 0 || o.AheadBytes < 0 || o.ReadAhead < 0 {
		return fmt.Errorf("%w: got Workers %d, Ahead %d, AheadBytes %d, ReadAhead %d, want none below 0",
			ErrOptions, o.Workers, o.Ahead, o.AheadBytes, o.ReadAhead)
	}
	if o.Batching != nil && (o.Batch != 0 || o.DropLast) {
		return fmt.Errorf("%w: got Batch %d and DropLast %t beside a Batching, which says both", ErrOptions, o.Batch, o.DropLast)
	}
	return nil
}

// fill puts in what is said by default.
func (o *Options) fill() (err error) {
	if o.Batching == nil {
		o.Batching, err = sampler.Rows(o.Batch, o.DropLast)
	}
	if o.Sampler == nil {
		o.Sampler = sampler.Sequential()
	}
	if o.SplitsKey == "" {
		o.SplitsKey = defaultSplits
	}
	if o.Ahead == 0 {
		o.Ahead = 2 * o.Workers
	}
	return err
}
