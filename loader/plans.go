package loader

import (
	"cmp"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/loader/sampler"
)

// plans is the plan of the batches of an epoch, and the occasion for which it was made.
type plans struct {
	occasion
	plan sampler.Plan
}

// An occasion is everything that the batches of an epoch depend on, besides options.
type occasion struct {
	seed, epoch uint64
	version     string // of the source
	rows        int    // of the source
	about       Description
}

// left returns the number of batches from a cursor to the end of the epoch, for one rank.
func (p *plans) left(share sampler.Share, at cursor) int {
	if p.plan.Len() == sampler.NoEnd {
		return sampler.NoEnd
	}
	return share.Count(max(0, p.plan.Len()-at.batch))
}

// maxBatch is the last batch of an endless epoch to which a loader can be moved. Row positions of
// later batches might not fit an int.
const maxBatch = 1 << 40

// check returns ErrSeek if a cursor is not in the epoch.
func (p *plans) check(at cursor) error {
	last := p.plan.Len()
	if last == sampler.NoEnd {
		last = maxBatch
	}
	if at.batch < 0 || at.batch > last {
		return fmt.Errorf("%w: got batch %d, want one from 0 to %d", ErrSeek, at.batch, last)
	}
	return nil
}

// current returns the plans of the epoch of a cursor, for the current state of the source.
func (l *Loader) current(at cursor) (p *plans, err error) {
	now, err := snapshot(l.src)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, now.release()) }()
	return l.planned(now, at)
}

// planned returns the plans of the epoch of a cursor, for a snapshot of the source.
func (l *Loader) planned(now Snapshot, at cursor) (*plans, error) {
	l.planning.Lock()
	defer l.planning.Unlock()
	about, err := describe(now.Source)
	if err != nil {
		return nil, err
	}
	p := occasion{at.seed, at.epoch, now.Version, now.Source.Len(), about}
	if l.plans != nil && l.plans.occasion == p {
		return l.plans, nil
	}
	var plan sampler.Plan
	err = workers.Call(func() (err error) {
		plan, err = l.opt.plan(p)
		return err
	})
	if err != nil {
		return nil, err
	}
	l.plans = &plans{p, plan}
	return l.plans, nil
}

// plan returns the plan of an epoch.
func (o *Options) plan(p occasion) (sampler.Plan, error) {
	if p.rows < 0 {
		return nil, fmt.Errorf("%w: got %d rows", ErrSource, p.rows)
	}
	units, err := o.Batching.Units(p.rows)
	if err != nil {
		return nil, err
	}
	order, err := o.Sampler.Order(sampler.Epoch{
		Units: units, UnitBytes: perRow(float64(p.about.RowBytes)*float64(p.rows), units),
		Seed: p.seed, Number: p.epoch,
	})
	if err != nil {
		return nil, err
	}
	if order == nil || order.Len() < 0 {
		return nil, fmt.Errorf("%w: sampler %v returned no order", ErrOptions, o.Sampler)
	}
	plan, err := o.Batching.Plan(order, p.rows)
	if err == nil && (plan == nil || plan.Len() < 0) {
		err = fmt.Errorf("%w: batching %v returned no plan", ErrOptions, o.Batching)
	}
	return plan, err
}
