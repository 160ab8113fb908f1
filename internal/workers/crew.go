package workers

import (
	"context"
	"sync"
)

// A Crew repeats [Do] with one function. After the first time it allocates nothing. Not safe for
// concurrent use.
type Crew struct {
	fn   func(item int) error
	work func() // method value doItems, made once
	wg   sync.WaitGroup

	ctx   context.Context
	items int

	mu     sync.Mutex // guards the fields below
	next   int        // the next item to start
	stop   bool       // no further item may be started
	failed int        // the lowest item that failed, if err is not nil
	err    error      // of an item, or the cause of ctx
}

// NewCrew returns a Crew for fn, which must be safe for concurrent use unless workers is 1 in each
// Do.
func NewCrew(fn func(item int) error) *Crew {
	c := &Crew{fn: fn}
	c.work = c.doItems
	return c
}

// Do is [Do] with the crew's function.
func (c *Crew) Do(ctx context.Context, items, workers int) error {
	if ctx == nil {
		ctx = context.Background()
	}
	n := Count(workers, items)
	if n <= 1 {
		return inOrder(ctx, items, c.fn)
	}
	return c.run(ctx, items, n)
}

// run does all items on n goroutines.
func (c *Crew) run(ctx context.Context, items, n int) error {
	c.ctx, c.items, c.next, c.stop, c.failed, c.err = ctx, items, 0, false, 0, nil
	c.wg.Add(n)
	for range n {
		go c.work()
	}
	c.wg.Wait()
	err := c.err
	c.ctx, c.err = nil, nil
	return err
}

// doItems does items until there are no more to start.
func (c *Crew) doItems() {
	defer c.wg.Done()
	for item, ok := c.start(); ok; item, ok = c.start() {
		c.do(item)
	}
}

// start returns the next item to do, if there is one. An item that was started must be done,
// whatever happens to later ones: otherwise the lowest failure could be missed.
func (c *Crew) start() (item int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop || c.next == c.items {
		return 0, false
	}
	if c.ctx.Err() != nil {
		c.stop, c.failed, c.err = true, c.items, context.Cause(c.ctx)
		return 0, false
	}
	c.next++
	return c.next - 1, true
}

// do does one item and records its error.
func (c *Crew) do(item int) {
	err := errGoexit // replaced if call returns
	defer func() { c.end(item, err) }()
	err = call(c.fn, item)
}

// end records the error of an item, if the item is the lowest that failed so far.
func (c *Crew) end(item int, err error) {
	if err == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil || item < c.failed {
		c.stop, c.failed, c.err = true, item, err
	}
}
