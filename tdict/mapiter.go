package tdict

import (
	"context"
	"iter"

	"github.com/go-tensordict/tensordict/internal/workers"
)

// MapIterOptions are the options of [MapIter]. The zero value is the default.
type MapIterOptions struct {
	// Dim, ChunkSize and Chunks are as in [MapOptions].
	Dim, ChunkSize, Chunks int

	// Shuffle puts the rows in a random order before they are cut into chunks. It takes 8 bytes for
	// each row. There may be at most 1<<32 rows.
	Shuffle bool
	// Seed determines the order of shuffled rows. It is the same on every machine.
	Seed uint64

	// Workers is the number of chunks that are worked on at the same time; 0 means GOMAXPROCS. With
	// 1, they are worked on in order. At most Workers results are in memory in addition to the one
	// that the body of the loop has.
	Workers int
}

// MapIter returns an iterator over the results of fn for chunks of td, in the order of the chunks.
// Unlike [Map] it does not join them. Nil results are skipped. While the body of the loop runs, up
// to opt.Workers further results are computed in the background. If td has no rows, there are no
// chunks.
//
// Chunks are views, or copies with opt.Shuffle. After an error MapIter yields (nil, err) and stops.
// The error is context.Cause(ctx), a [RowsError], an error that [Map] returns before the first call
// of fn, or shapeops.ErrShape if opt.Shuffle is set and there are more than 1<<32 rows. When the
// loop ends early, the context of fn ends, and MapIter waits for fn to return: no goroutine
// outlives the loop. A second loop begins again, in the same order. td must not be changed during
// the iteration.
//
// Calls of fn run concurrently with the body of the loop and, unless opt.Workers is 1, with each
// other. fn must be safe for both.
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
