package loader

import (
	"fmt"
	"sync"
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

	planning sync.Mutex // held while an epoch is planned
	plans    *plans     // those made last, guarded by planning

	mu      sync.Mutex // guards the fields below
	at      cursor
	within  *plans // of the version of the source that the epoch must keep; nil for any
	busy    bool   // a loop runs
	running *plans // of that loop; nil before they are made
	stats   Stats
}

// A cursor is where a loader stands.
type cursor struct {
	seed  uint64
	epoch uint64
	batch int // of all ranks together, how many have been given
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
	l := &Loader{src: src, opt: opt, pool: pool{limit: opt.AheadBytes}, at: cursor{seed: opt.Seed}}
	if err == nil {
		_, err = l.current(l.at)
	}
	if err != nil {
		return nil, fmt.Errorf("new loader: %w", err)
	}
	return l, nil
}

// Len returns how many batches the epoch that l stands in has for its rank: sampler.NoEnd if it has
// no end, and 0 if it cannot be planned, because the source has changed; [Loader.Batches] says why.
// Where batches have different numbers of rows, epochs may differ in length.
func (l *Loader) Len() int {
	_, p, err := l.here()
	if err != nil {
		return 0
	}
	return l.opt.Share.Count(p.plan.Len())
}

// Left returns how many batches of this epoch are left.
func (l *Loader) Left() int {
	at, p, err := l.here()
	if err != nil {
		return 0
	}
	return p.left(l.opt.Share, at)
}

// Epoch returns the number of the epoch that l stands in, from 0. A training of ten epochs, which
// may have been resumed, runs
//
//	for l.Epoch() < 10 {
//		for batch, err := range l.Batches(ctx) { ... }
//	}
func (l *Loader) Epoch() uint64 { return l.cursor().epoch }

// here returns where l stands, and the batches of the epoch: those of the loop that runs, or of
// what the source is at present.
func (l *Loader) here() (cursor, *plans, error) {
	l.mu.Lock()
	at, p := l.at, l.running
	l.mu.Unlock()
	if p != nil && p.epoch == at.epoch && p.seed == at.seed {
		return at, p, nil
	}
	p, err := l.current(at)
	if err == nil && l.replaced(at, p.version) {
		err = ErrReplaced
	}
	return at, p, err
}

// replaced reports whether the epoch of a cursor began with another version of the source.
func (l *Loader) replaced(at cursor, version string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return at.batch > 0 && l.within != nil && l.within.version != version
}

// cursor returns where l stands.
func (l *Loader) cursor() cursor {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

// move has l stand somewhere in a planned epoch, or, if p is nil, in one that any version of the
// source may begin.
func (l *Loader) move(at cursor, p *plans) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at, l.within = at, p
}
