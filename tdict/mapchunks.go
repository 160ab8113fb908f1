package tdict

import (
	"context"
	"fmt"
	"sort"
	"sync"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A ChunkFunc returns a dictionary for a chunk of another dictionary, or nil if the chunk has no
// result. It may change the entries of chunk. If chunk is a view, writing to its elements writes to
// the dictionary that it is a part of. A function that runs long should return when ctx ends.
type ChunkFunc func(ctx context.Context, chunk *TensorDict) (*TensorDict, error)

// MapChunksOptions are the options of [MapChunks]. The zero value is the default.
type MapChunksOptions struct {
	// Dim is the batch dim to cut along. A negative dim counts from the end.
	Dim int
	// ChunkSize is the number of rows of a chunk; the last chunk may have fewer.
	ChunkSize int
	// Chunks is the number of chunks, which have equal size except the last, as in shapeops.Chunk;
	// there may be fewer.
	//
	// If ChunkSize and Chunks are both 0, MapChunks makes at most 64 chunks of equal size. It makes
	// more if the tensors of such a chunk would take more than 64 MiB; only a chunk of a single row
	// may take more.
	Chunks int

	// Into, if not nil, receives the results: each is written to the rows of its chunk when the
	// function returns, as by [TensorDict.SetIndex], and not kept. At most Workers results are in
	// memory. Into may be the dictionary that is cut. Keys that a result lacks, and rows for which
	// the function returns nil, keep their values. Entries stay the same, so that Into may be
	// locked. After an error, rows that were written stay written, but no chunk is written in part.
	//
	// Into must have the dim Dim (otherwise shapeops.ErrDim), with as many rows as the dictionary
	// that is cut, and each result the batch shape of the rows that it is written to (otherwise
	// shapeops.ErrShape). A tensor of Into must not share elements with another tensor of Into, or
	// with a tensor of the dictionary that is cut, unless the two are the same view, with the same
	// elements, shape and strides: a chunk is then written to exactly the rows that were read for
	// it. Otherwise, or if finding out would take too long, the error is tensor.ErrOverlap.
	Into *TensorDict

	// Workers is the number of chunks that are worked on at the same time; 0 means GOMAXPROCS. With
	// 1, they are worked on in order, by the calling goroutine.
	Workers int
	// Progress, if not nil, is called after each chunk with the number of rows done and of all
	// rows. Calls do not overlap.
	Progress func(done, total int)
}

// MapChunks cuts td along a batch dim into chunks, which are views, calls fn with each, and joins
// the results along that dim, in the order of the chunks, as shapeops.Cat does:
//
//	[A N B] -> fn of [A ni B] -> [... mi ...] -> [... m1+m2+... ...]
//
// A result may have more or fewer rows than its chunk, and other keys, dtypes and dims, as long as
// Cat can join all results. A nil result adds no rows. If all results are nil, MapChunks returns a
// dictionary without entries, whose batch shape is td's with size 0 at opt.Dim. If td has no rows,
// fn is called once, with a chunk without rows. The result is a copy and not locked. All results of
// fn are in memory at the same time.
//
// With opt.Into, MapChunks writes the results there, and returns opt.Into.
//
// MapChunks stops at the first error, in the order of the chunks, and finishes the chunks that it
// has begun. fn must be safe for concurrent use unless opt.Workers is 1. No goroutine outlives
// MapChunks.
//
// Before the first call of fn, MapChunks returns [ErrKind] if td or fn is nil, shapeops.ErrDim if
// td has no dim opt.Dim, shapeops.ErrShape if a size is negative, both ChunkSize and Chunks are set
// or there would be more than 1<<24 chunks, and the errors of Into in [MapChunksOptions].
// Afterwards it returns context.Cause(ctx), or a [RowsError] that wraps fn's error, its panic as a
// [PanicError], or the errors of shapeops.Cat or, with opt.Into, of SetIndex.
func MapChunks(ctx context.Context, td *TensorDict, fn ChunkFunc, opt MapChunksOptions) (*TensorDict, error) {
	c, err := newChunks("map chunks", td, fn, opt.Dim, opt.ChunkSize, opt.Chunks)
	if err == nil && opt.Into != nil {
		err = c.checkInto(opt.Into)
	}
	if err != nil {
		return nil, failed("map chunks", err)
	}
	m, ctx := &mapping{chunks: c, opt: opt, workers: workers.Count(opt.Workers, c.count), rowLock: noLock{}}, orBackground(ctx)
	if opt.Into == nil {
		m.results = make([]result, c.count)
	} else {
		for _, leaf := range opt.Into.Leaves() { // rows that are more than memory: one goroutine at a time writes them
			k := opsOf(leaf)
			if e := k.elementwise(leaf); !k.passes(leaf) && (e == nil || e.wholeRows()) {
				m.rowLock = new(sync.Mutex)
			}
		}
	}
	if err := workers.Do(ctx, c.count, opt.Workers, func(i int) error { return m.do(ctx, i) }); err != nil {
		return nil, failedRows("map chunks", err)
	}
	return m.result()
}

// orBackground returns ctx, or context.Background if ctx is nil.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// checkInto returns an error unless a destination has as many rows, and writing them is safe.
func (c *chunks) checkInto(into *TensorDict) error {
	if _, err := into.batch.Dim(c.dim); err != nil {
		return fmt.Errorf("into: %w", err)
	}
	if n := into.batch[c.dim]; n != c.rows {
		return fmt.Errorf("into: %w: got %d rows in dim %d, want %d", shapeops.ErrShape, n, c.dim, c.rows)
	}
	var keys []nestedkey.Key
	var to, from []*tensor.Tensor
	for key, x := range into.Tensors() {
		keys, to = append(keys, key), append(to, x)
	}
	for _, x := range c.td.Tensors() {
		from = append(from, x)
	}
	err := tensor.CheckOnto(to, from)
	if err == nil {
		return nil
	}
	first := sort.Search(len(to)-1, func(i int) bool { return tensor.CheckOnto(to[:i+1], from) != nil })
	return fmt.Errorf("into %q: %w", keys[first], err)
}
