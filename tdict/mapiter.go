package tdict

import (
	"context"
	"errors"
	"iter"
	"sync"

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
		ahead := make(chan *pending, workers.Count(opt.Workers, c.count))
		s := stream{chunks: c, ctx: orBackground(ctx), ahead: ahead}
		s.run(yield)
	}
}

// A stream is one loop over a [MapIter].
type stream struct {
	*chunks
	ctx     context.Context
	next    int           // the chunk to be begun
	ahead   chan *pending // results that are on their way, in order; only the loop uses it
	running sync.WaitGroup
}

// A pending result is there once done is closed.
type pending struct {
	chunk int
	td    *TensorDict
	err   error
	done  chan struct{}
}

var errGoexit = errors.New("the function ended its goroutine: runtime.Goexit was called")

// run yields the results.
func (s *stream) run(yield func(*TensorDict, error) bool) {
	ctx, cancel := context.WithCancel(s.ctx)
	defer s.running.Wait()
	defer cancel()
	for s.next < s.count || len(s.ahead) > 0 {
		s.fill(ctx)
		out, err := s.take()
		if err != nil {
			cancel()
			yield(nil, failedRows("map iter", err))
			return
		}
		s.fill(ctx) // the workers need not wait for the loop
		if out != nil && !yield(out, nil) {
			return
		}
	}
}

// fill begins as many chunks as there may be, unless ctx ended.
func (s *stream) fill(ctx context.Context) {
	for ; s.next < s.count && len(s.ahead) < cap(s.ahead) && ctx.Err() == nil; s.next++ {
		p := &pending{chunk: s.next, err: errGoexit, done: make(chan struct{})}
		s.ahead <- p
		s.running.Go(func() {
			defer close(p.done)
			p.err = workers.Call(func() error { return s.make(ctx, p) })
		})
	}
}

// make calls the function.
func (s *stream) make(ctx context.Context, p *pending) error {
	chunk, err := s.chunk(p.chunk)
	if err == nil {
		p.td, err = s.fn(ctx, chunk)
	}
	return err
}

// take waits for the next result.
func (s *stream) take() (*TensorDict, error) {
	if s.ctx.Err() != nil {
		return nil, context.Cause(s.ctx)
	}
	p := <-s.ahead
	<-p.done
	if s.ctx.Err() != nil {
		return nil, context.Cause(s.ctx)
	}
	return p.td, s.failed(p.chunk, p.err)
}
