package loader

import (
	"context"
	"iter"
	"time"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/tdict"
)

// Batches returns an iterator over the remaining batches of the current epoch. After the last batch
// the loader is at the beginning of the next epoch; if the sampler is random, that epoch has
// another order. If a loop ends early, the loader keeps its position, and ranging again continues
// with the next batch.
//
// A batch is valid until the loop asks for the next one or ends; then its memory is reused, unless
// Options.Own is set. The loop may change the entries of a batch. If a batch is a view of the
// source, the loop must not write to its elements. With sampler.Sequential and a source that is a
// Slicer, batches are views, unless Options.Own is set or Collate or Transform copies.
//
// On an error Batches yields (nil, err) and stops; the loader's position is before the batch that
// failed. err is
//
//   - a [BatchError] with the error of the source, of Collate or of Transform; with a
//     tdict.PanicError if one of them panicked; or with [ErrSource] if the source returned rows
//     that were not requested
//   - context.Cause(ctx), if ctx has ended
//   - [ErrBusy] within another loop
//   - before the first batch: an error of the source's Snapshot; [ErrReplaced] if the position is
//     within an epoch that began with another version of the source; or, for the current rows of
//     the source, an error of its Describe, of the sampler or of the batching, as from [New]
//   - after the last batch: an error of the Release of the source's snapshot
//
// With Workers, the next batches are made while the loop uses the current one. They are the same
// for any number of workers, and no goroutine outlives the loop.
func (l *Loader) Batches(ctx context.Context) iter.Seq2[*tdict.TensorDict, error] {
	if ctx == nil {
		ctx = context.Background()
	}
	return func(yield func(*tdict.TensorDict, error) bool) {
		if err := l.loop(ctx, yield); err != nil {
			yield(nil, err)
		}
	}
}

// loop yields the batches. It returns an error that the caller must still yield.
func (l *Loader) loop(ctx context.Context, yield func(*tdict.TensorDict, error) bool) (err error) {
	if err := l.begin(); err != nil {
		return err
	}
	defer l.end()
	began := time.Now()
	now, err := snapshot(l.src)
	if err != nil {
		return err
	}
	done := false
	defer func() { // runs even if the body of the loop panics
		if failed := now.release(); err == nil && done {
			err = failed // after a break there is no way to return it
		}
	}()
	p, err := l.resumed(now)
	if err == nil {
		done, err = newRun(l, now, p, began).loop(ctx, yield)
	}
	return err
}

// resumed returns the plans of the current epoch for a snapshot of the source. The snapshot must be
// of the version with which the epoch began.
func (l *Loader) resumed(now Snapshot) (*plans, error) {
	at := l.cursor()
	if l.replaced(at, now.Version) {
		return nil, ErrReplaced
	}
	p, err := l.planned(now, at)
	if err != nil {
		return nil, err
	}
	l.move(at, p)
	l.mu.Lock()
	l.running = p
	l.mu.Unlock()
	return p, p.check(at)
}

// begin records that a loop runs.
func (l *Loader) begin() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy {
		return ErrBusy
	}
	l.busy, l.stats = true, Stats{}
	return nil
}

// end records that the loop has ended.
func (l *Loader) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy, l.running = false, nil
}

// A run is one loop over the batches of an epoch. Its steps number the batches of this rank.
type run struct {
	*maker
	l      *Loader
	steps  int
	budget *budget
	ahead  *readAhead
	mark   time.Time // when the loop last asked for a batch or got one
}

func newRun(l *Loader, now Snapshot, p *plans, began time.Time) *run {
	m := newMaker(l, now.Source, p)
	steps := p.left(l.opt.Share, m.at)
	return &run{
		maker: m, l: l, steps: steps, mark: began,
		budget: newBudget(l.opt.AheadBytes),
		ahead:  newReadAhead(m, steps),
	}
}

// loop yields the batches. done reports whether the loop body got all of them and did not break.
func (r *run) loop(ctx context.Context, yield func(*tdict.TensorDict, error) bool) (done bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer r.ahead.wait()
	defer cancel()
	r.ahead.start(ctx)
	step := 0
	for s, err := range r.all(ctx) {
		if err != nil {
			return false, err
		}
		r.hand(s, step)
		more := yield(s.batch, nil)
		r.back(s, step)
		if step++; !more && step < r.steps {
			return false, nil
		}
		done = more
	}
	r.l.move(cursor{seed: r.at.seed, epoch: r.at.epoch + 1}, nil)
	return done || step == 0, nil
}

// all returns an iterator over the batches, made by workers or, without workers, by the loop.
func (r *run) all(ctx context.Context) iter.Seq2[*slot, error] {
	if r.opt.Workers > 0 {
		return workers.Stream(ctx, r.steps, r.opt.Workers, r.opt.Ahead, r.makeAhead)
	}
	return func(yield func(*slot, error) bool) {
		for step := range r.steps {
			s, err := r.make(ctx, step)
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// makeAhead makes a batch as soon as the budget allows one more.
func (r *run) makeAhead(ctx context.Context, step int) (*slot, error) {
	if err := r.budget.enter(ctx, step); err != nil {
		return nil, err
	}
	began := time.Now()
	s, err := r.make(ctx, step)
	if err == nil {
		s.took = time.Since(began)
		r.budget.made(s.bytes)
	}
	return s, err
}

// hand records that the loop gets a batch.
func (r *run) hand(s *slot, step int) {
	now := time.Now()
	waited, worked := now.Sub(r.mark), s.took
	if r.opt.Workers == 0 {
		worked = waited
	}
	r.mark = now
	r.budget.leave(s.bytes, step)
	r.ahead.reached(step)
	r.l.handed(r.after(step), Stats{
		Batches: 1, Rows: len(s.rows.Rows), Bytes: s.bytes, Waited: waited, Worked: worked,
	})
}

// back records that the loop has finished with a batch, and returns its slot to the pool.
func (r *run) back(s *slot, step int) {
	now := time.Now()
	stats := r.l.used(now.Sub(r.mark))
	r.mark = now
	if r.opt.Poison {
		s.poison()
	}
	r.pool.put(s)
	if r.opt.Progress != nil {
		r.opt.Progress(Progress{Epoch: r.at.epoch, Done: step + 1, Total: r.steps, Stats: stats})
		r.mark = time.Now()
	}
}
