package workers

import (
	"context"
	"errors"
	"runtime"
)

// errGoexit is the error of an item that called runtime.Goexit.
var errGoexit = errors.New("item ended its goroutine: runtime.Goexit was called")

// Count returns the number of goroutines that [Do] uses: workers, or GOMAXPROCS if workers is not
// positive, but at most items. Safe for concurrent use.
func Count(workers, items int) int {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return max(0, min(workers, items))
}

// Do calls fn(0) to fn(items-1) on [Count] goroutines, and returns when all calls that were started
// have ended. If one goroutine is enough, it is the caller's. Items are started in order; none is
// started after a failure or after ctx ended.
//
// Do returns the error of the lowest-numbered item that failed, as fn returned it; a panic is a
// [*PanicError]. If no item failed but ctx ended before all were started, Do returns the cause of
// ctx.
//
// fn must be safe for concurrent use unless workers is 1. Safe for concurrent use.
func Do(ctx context.Context, items, workers int, fn func(item int) error) error {
	if ctx == nil {
		ctx = context.Background()
	}
	n := Count(workers, items)
	if n <= 1 {
		return inOrder(ctx, items, fn)
	}
	return NewCrew(fn).run(ctx, items, n)
}

// inOrder is Do on the calling goroutine.
func inOrder(ctx context.Context, items int, fn func(item int) error) error {
	for item := range items {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := call(fn, item); err != nil {
			return err
		}
	}
	return nil
}
