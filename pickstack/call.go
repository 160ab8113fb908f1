package pickstack

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/internal/vector"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/tensor"
)

// A call is one use of a plan. It is kept for the next use, with all its memory.
type call[E stored, T number, K key] struct {
	operands
	plan    *Plan
	fold    folder[T]
	neutral T // the initial value of a fold: neutral, or MinValue for Max
	floor   T // MinValue, if there is one
	empty   T // the result for an empty pool
	order   order[T, K]
	lowest  K // lowest to highest: keys of extremes that MinValue replaces
	highest K
	spread  func(w *worker[E, T, K]) // distributes the gradient of a pool to its entries

	tile, part func(w *worker[E, T, K], task int) // tasks of forward and gradient

	tasks int
	do    func(w *worker[E, T, K], task int)
	next  atomic.Int64 // the next task
	jobs  []job        // for one batch element

	crew    *workers.Crew
	workers []*worker[E, T, K]
}

// An anyCall is a call of any types.
type anyCall interface {
	tensors() *operands
	// forward sets dst to the output for the inputs src.
	forward() error
	// gradient sets dst to the gradients, or adds them. src begins with the gradient of the output.
	gradient() error
}

func newCall[E stored, T number, K key](p *Plan) *call[E, T, K] {
	c := &call[E, T, K]{plan: p, order: orderOf[T, K](p.rule.Reduction == Min)}
	c.fold, c.neutral = folderOf[T](p.rule.Reduction)
	if p.rule.MinValue != nil {
		c.floor = T(rounded(*p.rule.MinValue, tensor.DTypeOf[E]()))
		if p.rule.Reduction == Max {
			c.neutral = c.floor
		}
	}
	c.empty = T(rounded(p.rule.emptyResult(), tensor.DTypeOf[E]()))
	switch c.lowest, c.highest = 1, 0; {
	case p.rule.MinValue == nil:
	case p.rule.Reduction == Min:
		c.lowest, c.highest = c.order.key(c.floor)+1, c.order.nan-1
	default:
		c.lowest, c.highest = c.order.below, c.order.key(c.floor)-1
	}
	switch p.rule.Reduction {
	case Max, Min:
		c.spread = (*worker[E, T, K]).spreadExtreme
	case LogSumExp:
		c.spread = (*worker[E, T, K]).spreadLogSumExp
	default:
		c.spread = (*worker[E, T, K]).spreadSum
	}
	c.tile, c.part = (*worker[E, T, K]).forwardTile, (*worker[E, T, K]).gradientJob
	c.crew = workers.NewCrew(func(i int) error { return c.workers[i].run() })
	return c
}

// taskBytes is the approximate size of the result of a task. workerBytes is the size for which
// another goroutine pays.
const (
	taskBytes   = 64 << 10
	workerBytes = 1 << 20
)

// run runs the given number of tasks, which access about bytes bytes in all, on as many goroutines
// as that is worth.
func (c *call[E, T, K]) run(tasks, bytes int, do func(w *worker[E, T, K], task int)) error {
	c.tasks, c.do = tasks, do
	c.next.Store(0)
	n := c.plan.rule.Workers
	if n <= 0 {
		n = workers.Count(0, bytes/workerBytes+1)
	}
	n = max(1, min(n, tasks)) // even without tasks, memory is borrowed and checked
	for len(c.workers) < n {
		w := &worker[E, T, K]{call: c}
		w.open = w.opened
		c.workers = append(c.workers, w)
	}
	return c.crew.Do(context.Background(), n, n)
}

// grown returns s with n elements of undefined value.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

// tiles returns the number of rows of a task, given the bytes of a row, and the number of tasks for
// all rows, at least one.
func tiles(rows, rowBytes int) (step, count int) {
	step = max(1, taskBytes/max(1, rowBytes))
	return step, max(1, (rows+step-1)/step)
}

// A folder folds rows of x into d, one after another. The rows begin at elements at, and are as
// long as d.
type folder[T number] func(d, x []T, at []int)

// folderOf returns the folder of a reduction, and the initial value of d, which is neutral. The
// folder of LogSumExp finds the greatest exponent.
func folderOf[T number](r Reduction) (f folder[T], begin T) {
	switch r {
	case Max, LogSumExp:
		f, begin = vector.MaximumRows[T], T(math.Inf(-1))
	case Min:
		f, begin = vector.MinimumRows[T], T(math.Inf(1))
	default:
		f, begin = vector.AddRows[T], T(math.Copysign(0, -1)) // -0 + -0 is -0
	}
	return f, begin
}
