package tdict

import (
	"context"
	"iter"

	"github.com/go-tensordict/tensordict/internal/workers"
)

// MapIterOptions say how [MapIter] cuts, and in which order. The zero value is the default.
type MapIterOptions struct {
	// Dim, ChunkSize and Chunks are those of [MapOptions].
	Dim, ChunkSize, Chunks int

	// Shuffle gives each chunk rows from anywhere, in a random order; each row is in one chunk. It
	// takes 8 bytes a row, of which there may be at most 1<<32.
	Shuffle bool
	// Seed is what the order of shuffled rows is drawn from: the same seed gives the same order,
	// everywhere.
	Seed uint64

	// Workers is how many chunks are worked on at the same time; 0 means GOMAXPROCS. With 1, they
	// are worked on in order. It also is how many results there may be besides the one that the
	// loop has.
	Workers int
}

// MapIter returns an iterator over what fn makes of chunks of td, as [Map] does, without laying
// them side by side: in the order of the chunks, with those that are nil passed over. While the
// loop deals with one result, the next opt.Workers are made. If td has no rows, there are no
// chunks.
//
// Chunks are views, or, with opt.Shuffle, copies. After an error MapIter yields (nil, err) and
// stops: the cause of ctx, a [RowsError], one that [Map] returns before it calls fn, or, with
// opt.Shuffle, shapeops.ErrShape for more than 1<<32 rows. When the loop ends early, the context
// that fn was given ends, and MapIter waits for fn to return: no goroutine outlives the loop.
// Ranging again begins again, in the same order. td must not be changed meanwhile.
//
// fn must be safe for concurrent use unless opt.Workers is 1, and with the body of the loop.
func MapIter(ctx context.Context, td *TensorDict, fn ChunkFunc, opt MapIterOptions) iter.Seq2[*TensorDict, error] {
	return func(yield func(*TensorDict, error) bool) {
		c, err := newChunks("map iter", td, fn, opt.Dim, opt.ChunkSize, opt.Chunks)
		if err == nil && opt.Shuffle {
			err = c.checkShuffle()
		}
		if err != nil {
			yield(nil, failed("map iter", err))
			return
		}
		if c.rows == 0 {
			return
		}
		if opt.Shuffle {
			c.shuffle(opt.Seed)
		}
		n := workers.Count(opt.Workers, c.count)
		for out, err := range workers.Stream(ctx, c.count, n, n, c.make) {
			if err != nil {
				yield(nil, failedRows("map iter", err))
				return
			}
			if out != nil && !yield(out, nil) {
				return
			}
		}
	}
}

// make calls the function with chunk i.
func (c *chunks) make(ctx context.Context, i int) (out *TensorDict, err error) {
	err = workers.Call(func() (err error) {
		chunk, err := c.chunk(i)
		if err == nil {
			out, err = c.fn(ctx, chunk)
		}
		return err
	})
	return out, c.failed(i, err)
}
