package tdict

import (
	"context"
	"fmt"
	"sort"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A ChunkFunc makes a dictionary of a chunk of another one, or nil, if nothing is to come of it.
// Where the chunk is a view, its structure is its own, but writing to its elements writes to the
// dictionary that it was cut from. A function that takes long should end when ctx does.
type ChunkFunc func(ctx context.Context, chunk *TensorDict) (*TensorDict, error)

// MapOptions say how [Map] cuts, and where results go. The zero value is the default.
type MapOptions struct {
	// Dim is the batch dim that is cut; a negative one counts from the end.
	Dim int
	// ChunkSize is how many rows a chunk has; the last may have fewer.
	ChunkSize int
	// Chunks is how many chunks of equal size there are, as shapeops.Chunk says: the last may be
	// smaller, and there may be fewer. If neither is said, there are 64, or more, so that the
	// tensors of a chunk hold at most 64 MiB, as long as it has several rows.
	Chunks int

	// Into, if not nil, is where results are written, each to the rows of its chunk, when it comes:
	// then it can be dropped. Dim Dim of it must have as many rows as the dictionary that is cut,
	// which it may be: a tensor of Into may share elements with one that is cut, or with another
	// one of Into, only if both are the same view of them, under whatever key. Then each chunk is
	// written to its own rows.
	Into *TensorDict

	// Workers is how many chunks are worked on at the same time; 0 means GOMAXPROCS. With 1, they
	// are worked on in order, by the calling goroutine.
	Workers int
	// Progress, if not nil, is called after each chunk with the rows done and their number, by one
	// goroutine at a time.
	Progress func(done, total int)
}

// Map cuts td into chunks along a batch dim, which are views, calls fn with each, and returns the
// results laid side by side along that dim, in the order of the chunks, as shapeops.Cat does:
//
//	[A N B] -> fn of [A ni B] -> [... mi ...] -> [... m1+m2+... ...]
//
// A result may have more or fewer rows than its chunk, and other keys, dtypes and dims, as long as
// all results go together; one that is nil adds no rows. If all are nil, the result has td's batch
// shape but no rows, and no entries. If td has no rows, fn is called once, with a chunk that has
// none. The result is a copy, that is not locked; it and all results of fn are in memory at the
// same time.
//
// With opt.Into, results are written there, as [TensorDict.SetIndex] does, and Map returns it. Each
// must have the batch shape of the part that it goes to. Keys that a result lacks, and rows for
// which fn returns nil, stay as they are; structure does, so that Into may be locked. No more
// results are in memory than there are workers. After an error, rows that have been written stay
// so; no chunk is written in part.
//
// Map stops at the first error, of the chunks in order, and finishes those that it has begun. It
// returns the cause of ctx, or a [RowsError]: fn's error, its panic as a [PanicError], or what is
// wrong with a result: the errors of shapeops.Cat if it does not go with those before it, and, with
// opt.Into, shapeops.ErrShape for another batch shape, and the errors of SetIndex. Before fn is
// called, it returns [ErrKind] if td or fn is nil, shapeops.ErrDim if td has no such dim, or Into
// has not, shapeops.ErrShape if a size is negative, both ChunkSize and Chunks are said, Into has
// other rows than td, or there would be more than 1<<24 chunks, and tensor.ErrOverlap if a tensor
// of Into shares elements otherwise than [MapOptions] say, or if that takes too long to find out.
//
// fn must be safe for concurrent use unless opt.Workers is 1. No goroutine outlives Map.
func Map(ctx context.Context, td *TensorDict, fn ChunkFunc, opt MapOptions) (*TensorDict, error) {
	c, err := newChunks("map", td, fn, opt.Dim, opt.ChunkSize, opt.Chunks)
	if err == nil && opt.Into != nil {
		err = c.checkInto(opt.Into)
	}
	if err != nil {
		return nil, failed("map", err)
	}
	m, ctx := newMapping(c, opt), orBackground(ctx)
	if err := workers.Do(ctx, c.count, opt.Workers, func(i int) error { return m.do(ctx, i) }); err != nil {
		return nil, failedRows("map", err)
	}
	return m.result()
}

// orBackground returns ctx, or one that never ends.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// checkInto returns an error unless there are the same rows in a destination.
func (c *chunks) checkInto(into *TensorDict) error {
	if _, err := into.batch.Dim(c.dim); err != nil {
		return fmt.Errorf("into: %w", err)
	}
	if n := into.batch[c.dim]; n != c.rows {
		return fmt.Errorf("into: %w: got %d rows in dim %d, want %d", shapeops.ErrShape, n, c.dim, c.rows)
	}
	return c.checkOnto(into)
}

// checkOnto returns an error if writing a row of a destination may change another one, or one that
// is read.
func (c *chunks) checkOnto(into *TensorDict) error {
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
