package tdict

import (
	"context"
	"iter"

	"github.com/go-tensordict/tensordict/internal/workers"
)

// IterChunksOptions are the options of [IterChunks]. The zero value is the default.
type IterChunksOptions struct {
	// Dim, ChunkSize and Chunks are as in [MapChunksOptions].
	Dim, ChunkSize, Chunks int

	// Workers is the number of chunks that are worked on at the same time; 0 means GOMAXPROCS. With
	// 1, they are worked on in order. At most Workers results are in memory in addition to the one
	// that the body of the loop has.
	Workers int
}

// IterChunks returns an iterator over the results of fn for chunks of td, in the order of the
// chunks. Unlike [MapChunks] it does not join them. Nil results are skipped. While the body of the
// loop runs, up to opt.Workers further results are computed in the background. If td has no rows,
// there are no chunks.
//
// Chunks are views. For rows in another order, Index the dictionary with ix.Take of row numbers
// first, or use package loader, which shuffles without a copy of all rows. After an error
// IterChunks yields (nil, err) and stops. The error is context.Cause(ctx), a [RowsError], or an
// error that [MapChunks] returns before the first call of fn. When the loop ends early, the context
// of fn ends, and IterChunks waits for fn to return: no goroutine outlives the loop. A second loop
// begins again, in the same order. td must not be changed during the iteration.
//
// Calls of fn run concurrently with the body of the loop and, unless opt.Workers is 1, with each
// other. fn must be safe for both.
func IterChunks(ctx context.Context, td *TensorDict, fn ChunkFunc, opt IterChunksOptions) iter.Seq2[*TensorDict, error] {
	return func(yield func(*TensorDict, error) bool) {
		c, err := newChunks("iter chunks", td, fn, opt.Dim, opt.ChunkSize, opt.Chunks)
		if err != nil {
			yield(nil, failed("iter chunks", err))
			return
		}
		if c.rows == 0 {
			return
		}
		n := workers.Count(opt.Workers, c.count)
		for out, err := range workers.Stream(ctx, c.count, n, n, c.make) {
			if err != nil {
				yield(nil, failedRows("iter chunks", err))
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
		chunk, err := c.td.Index(c.index(i)...)
		if err == nil {
			out, err = c.fn(ctx, chunk)
		}
		return err
	})
	return out, c.failed(i, err)
}
