package loader

import (
	"fmt"
	"sync"

	"github.com/go-tensordict/tensordict/loader/sampler"
)

// A Loader makes batches of the rows of a source, epoch after epoch. It stands somewhere in an
// epoch, at first at the beginning of epoch 0; a loop over [Loader.Batches] takes it to the
// beginning of the next.
//
// Len, Left, Epoch, State and Stats may be called at any time, also by other goroutines; all else
// is not safe for concurrent use.
type Loader struct {
	src  Source
	opt  Options
	pool pool

	mu    sync.Mutex // guards the fields below
	at    cursor
	plans plans
	busy  bool // a loop runs
	stats Stats

	version *string // of the source when the epoch that l stands in began; nil if l was put there
}

// A cursor is where a loader stands.
type cursor struct {
	seed  uint64
	epoch uint64
	batch int // of all ranks together, how many have been given
}

// plans has the batches of the epoch that was planned last.
type plans struct {
	of     cursor // seed and epoch
	rows   int    // of the source
	schema string // of the source, as a State has it
	plan   sampler.Plan
}

// New returns a loader of the rows of a source. It returns [ErrSource] if src is nil;
// sampler.ErrSize for a batch size below 1, sampler.ErrRank for a rank outside the world, and
// [ErrOptions] for other options that cannot be used; and the errors of the sampler and the
// batching about the rows of the source as it is now.
func New(src Source, opt Options) (*Loader, error) {
	if src == nil {
		return nil, fmt.Errorf("new loader: %w: got nil", ErrSource)
	}
	err := opt.check()
	if err == nil {
		err = opt.fill()
	}
	l := &Loader{src: src, opt: opt, at: cursor{seed: opt.Seed}}
	if err == nil {
		_, err = l.current()
	}
	if err != nil {
		return nil, fmt.Errorf("new loader: %w", err)
	}
	return l, nil
}

// current returns the batches of the epoch that l stands in, of what the source is at present.
func (l *Loader) current() (plan sampler.Plan, err error) {
	now, err := snapshot(l.src)
	if err != nil {
		return nil, err
	}
	defer func() { err = first(err, now.release()) }()
	return l.planned(now.Source)
}

// planned returns the batches of the epoch that l stands in, of the rows that src has.
func (l *Loader) planned(src Source) (sampler.Plan, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, of := src.Len(), cursor{seed: l.at.seed, epoch: l.at.epoch}
	if l.plans.plan != nil && l.plans.of == of && l.plans.rows == n {
		return l.plans.plan, nil
	}
	about, err := describe(src)
	if err != nil {
		return nil, err
	}
	plan, err := l.opt.plan(about, n, of)
	if err != nil {
		return nil, err
	}
	l.plans = plans{of, n, sum(about.Schema), plan}
	return plan, nil
}

// plan returns the batches of an epoch of a source of n rows.
func (o *Options) plan(about Description, n int, at cursor) (sampler.Plan, error) {
	units, err := o.Batching.Units(n)
	if err != nil {
		return nil, err
	}
	order, err := o.Sampler.Order(sampler.Epoch{
		Units: units, UnitBytes: perRow(float64(about.RowBytes)*float64(n), units),
		Seed: at.seed, Number: at.epoch,
	})
	if err != nil {
		return nil, err
	}
	return o.Batching.Plan(order, n)
}

// Len returns how many batches the epoch that l stands in has for its rank: sampler.NoEnd if it has
// no end, and 0 if it cannot be planned, because the source has changed; [Loader.Batches] says why.
// Where batches have different numbers of rows, epochs may differ in length.
func (l *Loader) Len() int {
	plan, err := l.current()
	if err != nil {
		return 0
	}
	return l.opt.Share.Count(plan.Len())
}

// Left returns how many of them have yet to come.
func (l *Loader) Left() int {
	plan, err := l.current()
	if err != nil {
		return 0
	}
	return l.left(plan, l.cursor())
}

// left returns how many batches of a plan come from a cursor on, for the rank of l.
func (l *Loader) left(plan sampler.Plan, at cursor) int {
	if plan.Len() == sampler.NoEnd {
		return sampler.NoEnd
	}
	return l.opt.Share.Count(max(0, plan.Len()-at.batch))
}

// cursor returns where l stands.
func (l *Loader) cursor() cursor {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

// move has l stand somewhere else.
func (l *Loader) move(at cursor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = at
}

// Epoch returns the number of the epoch that l stands in, from 0. A training of ten epochs, which
// may have been resumed, runs
//
//	for l.Epoch() < 10 {
//		for batch, err := range l.Batches(ctx) { ... }
//	}
func (l *Loader) Epoch() uint64 { return l.cursor().epoch }
