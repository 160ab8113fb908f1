package workers

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// errGoexit is the failure of an item that ended its goroutine.
var errGoexit = errors.New("item ended its goroutine: runtime.Goexit was called")

// Count returns how many goroutines [Do] uses: workers, or GOMAXPROCS if that is not positive, but
// never more than there are items. Safe for concurrent use.
func Count(workers, items int) int {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return max(0, min(workers, items))
}

// Do calls fn(0) to fn(items-1), on [Count] goroutines, and returns when all calls that were
// started have ended. If that is one goroutine, it is the caller's. Items are started in order, and
// no further one after a failure or after ctx ended.
//
// Do returns the error of the lowest-numbered item that failed, as fn returned it; a panic is a
// [*PanicError]. If none failed but ctx ended before all were started, it returns the cause of
// that.
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
	p := &pool{ctx: ctx, items: items, fn: fn}
	var wg sync.WaitGroup
	for range n {
		wg.Go(p.work)
	}
	wg.Wait()
	return p.err
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

// A pool is one Do on several goroutines.
type pool struct {
	ctx   context.Context
	items int
	fn    func(item int) error

	mu     sync.Mutex // guards the fields below
	next   int        // the item to start
	stop   bool       // no further item may be started
	failed int        // the lowest item that failed, if err is its error
	err    error      // of an item, or the cause of ctx
}

// work does items until there are none to start.
func (p *pool) work() {
	for item, ok := p.start(); ok; item, ok = p.start() {
		p.do(item)
	}
}

// start returns the next item to do, if there is one. Once it has, that item must be done, whatever
// happens to later ones: otherwise the lowest failure could be missed.
func (p *pool) start() (item int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop || p.next == p.items {
		return 0, false
	}
	if p.ctx.Err() != nil {
		p.stop, p.failed, p.err = true, p.items, context.Cause(p.ctx)
		return 0, false
	}
	p.next++
	return p.next - 1, true
}

// do does one item, and notes how it ended.
func (p *pool) do(item int) {
	err := errGoexit // unless call returns
	defer func() { p.end(item, err) }()
	err = call(p.fn, item)
}

// end notes the failure of an item, if it is the lowest so far.
func (p *pool) end(item int, err error) {
	if err == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil || item < p.failed {
		p.stop, p.failed, p.err = true, item, err
	}
}
