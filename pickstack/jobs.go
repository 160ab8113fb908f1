package pickstack

import "github.com/go-tensordict/tensordict/internal/vector"

// A job is a part of the gradient of an input, for each batch element.
type job struct {
	n                 int  // the input
	lo, hi            int  // range of the rows that the plan uses
	final             bool // includes all rows after the range
	first, end        int  // range of rows of the output
	channel, channels int
}

// gradient sets the gradients of the inputs, or adds to them, job by job.
func (c *call[E, T, K]) gradient() error {
	c.plan.invert()
	c.jobs = c.jobs[:0]
	numbers := 0
	for n, dx := range c.dst {
		if dx != nil && dx.Size() > 0 {
			c.addJobs(n)
			numbers += c.channels[n] * (c.plan.tables[n].size() + c.plan.tables[n].width)
		}
	}
	return c.run(len(c.jobs)*c.batch, c.bytes(numbers), c.part)
}

// addJobs adds the jobs of input n.
func (c *call[E, T, K]) addJobs(n int) {
	v := c.plan.inverses[n]
	if c.plan.tables[n].linear {
		step, count := tiles(v.rows, c.channels[n]*c.width())
		for i := range count {
			c.jobs = append(c.jobs, job{n: n, lo: i * step, hi: min(v.rows, (i+1)*step), final: i == count-1, channels: c.channels[n]})
		}
		return
	}
	for i, hi := range v.bounds[1:] {
		step := stripChannels(hi - v.bounds[i])
		for channel := 0; channel < c.channels[n]; channel += step {
			c.jobs = append(c.jobs, job{
				n: n, lo: v.bounds[i], hi: hi, final: i == len(v.bounds)-2,
				first: c.plan.problems[i], end: c.plan.problems[i+1],
				channel: channel, channels: min(step, c.channels[n]-channel),
			})
		}
	}
}

// gradientJob runs one job for one batch element.
func (w *worker[E, T, K]) gradientJob(task int) {
	b, j := task/len(w.jobs), w.jobs[task%len(w.jobs)]
	if w.plan.tables[j.n].linear {
		w.gatherTile(j, b)
		return
	}
	w.scatterStrip(j, b)
}

// gatherTile sets rows of a gradient that does not depend on its input: each is the sum of rows of
// the output's gradient.
func (w *worker[E, T, K]) gatherTile(j job, b int) {
	v := w.plan.inverses[j.n]
	m := move[E, T]{
		table: v.table, used: v.used, src: &w.from[0], dst: &w.to[j.n], channels: j.channels,
		fold: vector.AddRows[T], add: w.add,
	}
	m.from, m.to = b*m.src.batch+w.offsets[j.n]*m.src.channel, b*m.dst.batch
	if t := &w.plan.tables[j.n]; t.splits != nil && w.plan.rule.Reduction == Mean {
		m.shares = t
	}
	w.move(&m, j.lo, j.hi)
	if !w.add {
		w.clearUnused(j, m.dst, m.to)
	}
}

// clearUnused sets the rows that the plan does not use to zeros: those before and between the rows
// of a job, and, if it is the final job, those after them.
func (w *worker[E, T, K]) clearUnused(j job, dx *slab[E, T], to int) {
	v := w.plan.inverses[j.n]
	if v.identity() {
		return // all are used
	}
	row := 0
	if j.lo > 0 {
		row = v.used[j.lo-1] + 1
	}
	for _, used := range v.used[j.lo:j.hi] {
		for ; row < used; row++ {
			dx.clearRow(to+row*dx.row, j.channels)
		}
		row = used + 1
	}
	for width := w.plan.tables[j.n].width; j.final && row < width; row++ {
		dx.clearRow(to+row*dx.row, j.channels)
	}
}
