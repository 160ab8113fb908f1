package loader

import (
	"context"
	"fmt"
	"math"

	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/transform"
)

// Options say how a [Loader] makes batches. Batch or Batching must be set; the zero values of all
// others are the defaults.
type Options struct {
	// Batch is the number of rows in a batch. The last batch of an epoch has the remaining rows.
	Batch int
	// DropLast leaves out the last batch if it has fewer than Batch rows.
	DropLast bool
	// Batching determines where batches end, instead of Batch and DropLast, which must then be
	// unset; otherwise New returns [ErrOptions]. Batching can make batches of whole groups, or of
	// rows of about the same length.
	Batching sampler.Batching

	// Sampler determines the rows of an epoch and their order; nil means sampler.Sequential().
	Sampler sampler.Sampler
	// Seed determines the order of rows and the random numbers of transforms.
	Seed uint64
	// Share divides the batches among the ranks of a world: rank r gets batches r, r+World and so
	// on, and all ranks get the same number of batches. If the number of batches in an epoch is not
	// divisible by World, the first batches are repeated at the end of the epoch; with Share.Drop
	// the remaining batches are left out instead. The zero Share gets all batches.
	Share sampler.Share

	// Collate turns the rows from the source into a batch, before Transform. Nil keeps the rows as
	// they are. See [Pad].
	Collate Collate
	// Transform is applied to each batch. Its random numbers depend only on Seed, the epoch and the
	// row.
	Transform transform.Transform
	// RowsKey is the key for the row numbers of a batch, an int64 [N B...] in which all elements of
	// a row are the number of that row in the source. "" means that batches do not have them.
	RowsKey nestedkey.Key
	// SplitsKey is the key for the row splits of a batch of groups, an unbatched int64 [G+1]: group
	// g has the rows from splits[g] up to, not including, splits[g+1]. "" means "splits".
	SplitsKey nestedkey.Key

	// Workers is the number of goroutines that prefetch batches: they make batches before the loop
	// needs them. 0 means none: the loop makes each batch when it needs it. For rows in memory that
	// is the fastest way unless transforms take long.
	Workers int
	// Ahead limits the number of batches that workers have made or are making, not counting the
	// loop's current one. It is at most 65,536; 0 means two for each worker.
	Ahead int
	// AheadBytes is the largest number of bytes of these batches; 0 means no limit. The batch that
	// the loop needs next is made in any case. Until the first batch of a loop is finished, no
	// other is begun. Afterwards a batch that is not finished counts as many bytes as the largest
	// batch so far.
	AheadBytes int
	// ReadAhead is the number of bytes of rows that a [Prefetcher] is asked to read before they are
	// needed; 0 means none. For files larger than memory, use about 64 MiB.
	ReadAhead int

	// Into, if not nil, is called for each batch. It returns memory for the largest batch [N B...],
	// with the keys, dtypes and shapes of the batches, or waits until there is some or ctx ends. A
	// batch is the first rows of its memory, and valid until Into returns that memory again, so the
	// loop may use several batches at a time. Rows are fetched there; with Collate or Transform,
	// the result is copied there. The memory must have RowsKey, and SplitsKey as an unbatched leaf
	// for the most groups: if a batch has fewer, the last split is repeated.
	//
	// Into is called for one batch at a time, in the order of batches, also by workers. When a loop
	// has ended, memory for batches that it did not get is free again. What does not fit is a
	// [BatchError] with tdict.ErrMissing, tdict.ErrKind, tensor.ErrDType or shapeops.ErrShape and
	// the key. With Into, Own must not be set, and Poison does not overwrite batches.
	Into func(ctx context.Context) (*tdict.TensorDict, error)

	// Own gives each batch its own memory, which the loop may keep and change. Leaves that would
	// otherwise be views of the source, or unbatched tensors shared with it, are copied.
	Own bool
	// Poison overwrites the elements of a batch when it is no longer valid, so that tests notice
	// the use of an old batch: floating-point and complex numbers become NaN, signed integers the
	// minimum, unsigned integers the maximum, bools true. It does not detect writes to views of the
	// source. It does not overwrite values that are not tensors, nor results of a Collate other
	// than [Pad].
	Poison bool

	// Dataset names the data and their version. A state fits only loaders with an equal Dataset.
	Dataset string
	// Progress, if not nil, is called after each batch, when the loop has finished with it, on the
	// goroutine of the loop.
	Progress func(p Progress)
}

// defaultSplits is the default of Options.SplitsKey.
const defaultSplits = "splits"

// maxAhead is the largest number of workers and of batches ahead.
const maxAhead = 1 << 16

// check returns an error if options are invalid.
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
		return fmt.Errorf("%w: got %q as RowsKey and SplitsKey, want different keys", ErrOptions, o.RowsKey)
	}
	for _, field := range []struct {
		name    string
		n, most int
	}{
		{"Workers", o.Workers, maxAhead}, {"Ahead", o.Ahead, maxAhead},
		{"AheadBytes", o.AheadBytes, math.MaxInt}, {"ReadAhead", o.ReadAhead, math.MaxInt},
	} {
		if field.n < 0 {
			return fmt.Errorf("%w: got %s %d, want 0 or more", ErrOptions, field.name, field.n)
		}
		if field.n > field.most {
			return fmt.Errorf("%w: got %s %d, want at most %d", ErrOptions, field.name, field.n, field.most)
		}
	}
	if o.Into != nil && o.Own {
		return fmt.Errorf("%w: got Into and Own, want one of them", ErrOptions)
	}
	if o.Batching != nil && (o.Batch != 0 || o.DropLast) {
		return fmt.Errorf("%w: got Batch %d and DropLast %t, want both unset with a Batching", ErrOptions, o.Batch, o.DropLast)
	}
	return nil
}

// fill sets defaults.
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
