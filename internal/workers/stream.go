package workers

import (
	"context"
	"iter"
	"runtime"
	"sync"
)

// Stream returns an iterator over the results of make for the items 0 to items-1, in order. [Count]
// goroutines make them ahead of the loop: besides the loop's current result, at most ahead results,
// or 1 if ahead is less, are made or being made. Items are begun in order.
//
// After an error Stream yields it and stops. It is the error of the lowest-numbered item that
// failed, as make returned it or, after a panic, as [Call] returns it; or the cause of ctx. When
// the loop ends, early or not, the context of make ends, and Stream waits for make to return: no
// goroutine outlives the loop. Ranging again begins again at item 0.
//
// make must be safe for concurrent use with the body of the loop and, unless workers is 1, with
// itself. Stream is safe for concurrent use.
func Stream[T any](ctx context.Context, items, workers, ahead int, make func(ctx context.Context, item int) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if items <= 0 {
			return
		}
		if ctx == nil {
			ctx = context.Background()
		}
		inner, cancel := context.WithCancel(ctx)
		s := newStream(inner, items, max(1, min(ahead, items)), make)
		for range Count(workers, items) {
			s.running.Go(s.work)
		}
		defer s.running.Wait()
		defer cancel()
		s.run(ctx, yield)
	}
}

// A stream is one loop over a [Stream].
type stream[T any] struct {
	ctx   context.Context
	items int
	make  func(ctx context.Context, item int) (T, error)

	begun   chan struct{}    // holds one element for each item that was begun and not yet taken
	results []chan result[T] // result of item i at index i modulo the length; each has capacity 1
	running sync.WaitGroup

	mu   sync.Mutex // guards next
	next int        // the next item to begin; equal to items to begin no more
}

type result[T any] struct {
	value T
	err   error
}

func newStream[T any](ctx context.Context, items, ahead int, fn func(ctx context.Context, item int) (T, error)) *stream[T] {
	s := &stream[T]{
		ctx: ctx, items: items, make: fn,
		begun: make(chan struct{}, ahead), results: make([]chan result[T], ahead),
	}
	for i := range s.results {
		s.results[i] = make(chan result[T], 1)
	}
	return s
}

// run yields the results.
func (s *stream[T]) run(ctx context.Context, yield func(T, error) bool) {
	for item := range s.items {
		r := s.take(ctx, item)
		if !yield(r.value, r.err) || r.err != nil {
			return
		}
	}
}

// take waits for the result of an item.
func (s *stream[T]) take(ctx context.Context, item int) (r result[T]) {
	made := s.results[item%len(s.results)]
	waitAWhile(ctx, made)
	if ctx.Err() == nil {
		select {
		case r = <-made:
			<-s.begun
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return result[T]{err: context.Cause(ctx)}
	}
	return r
}

// looks is the number of times that a loop polls for a result before it sleeps. That takes some ten
// microseconds, in which a small item is made; waking a sleeping goroutine may take longer.
const looks = 200

// waitAWhile returns when there is a result, or after looks polls.
func waitAWhile[T any](ctx context.Context, made chan result[T]) {
	for i := 0; i < looks && len(made) == 0 && ctx.Err() == nil; i++ {
		runtime.Gosched()
	}
}

// work makes items until there are no more to begin.
func (s *stream[T]) work() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case s.begun <- struct{}{}:
		}
		item, ok := s.start()
		if !ok {
			return
		}
		s.do(item)
	}
}

// start returns the next item to begin, if there is one.
func (s *stream[T]) start() (item int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == s.items || s.ctx.Err() != nil {
		return 0, false
	}
	s.next++
	return s.next - 1, true
}

// do makes an item and sends its result.
func (s *stream[T]) do(item int) {
	r := result[T]{err: errGoexit} // replaced if Call returns
	defer func() {
		if r.err != nil {
			s.stop()
		}
		s.results[item%len(s.results)] <- r
	}()
	r.err = Call(func() (err error) {
		r.value, err = s.make(s.ctx, item)
		return err
	})
}

// stop prevents further items from being begun. All items before the caller's have been begun.
func (s *stream[T]) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = s.items
}
