package loader

import (
	"fmt"
	"sync"
)

// A Loader makes batches of the rows of a source, epoch after epoch. Its position is an epoch and a
// batch, at first the beginning of epoch 0. A loop over [Loader.Batches] moves it to the beginning
// of the next epoch.
//
// Len, Left, Epoch, State and Stats are safe for concurrent use with all methods; the other methods
// are not safe for concurrent use.
type Loader struct {
	src  Source
	opt  Options
	pool pool

	planning sync.Mutex // held while an epoch is planned
	plans    *plans     // the latest; guarded by planning

	mu      sync.Mutex // guards the fields below
	at      cursor
	within  *plans // plans of the current epoch, whose version must not change; nil for any version
	busy    bool   // a loop runs
	running *plans // plans of that loop; nil until made
	stats   Stats
}

// A cursor is the position of a loader.
type cursor struct {
	seed  uint64
	epoch uint64
	batch int // number of batches already given, counted over all ranks
}

// New returns a loader of the rows of a source. It returns [ErrSource] if src is nil,
// sampler.ErrSize for a batch size below 1, sampler.ErrRank for a rank outside the world,
// [ErrOptions] for other invalid options, and the errors of the sampler and the batching for the
// current rows of the source.
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

// Len returns the number of batches of the current epoch for this rank. It is sampler.NoEnd if the
// epoch has no end, and 0 if the epoch cannot be planned because the source has changed; then
// [Loader.Batches] returns the error. If batches differ in their number of rows, epochs may differ
// in length.
func (l *Loader) Len() int {
	_, p, err := l.here()
	if err != nil {
		return 0
	}
	return l.opt.Share.Count(p.plan.Len())
}

// Left returns the number of batches left in the current epoch, for this rank.
func (l *Loader) Left() int {
	at, p, err := l.here()
	if err != nil {
		return 0
	}
	return p.left(l.opt.Share, at)
}

// Epoch returns the number of the current epoch, from 0. A training of ten epochs, which may have
// been resumed, is
//
//	for l.Epoch() < 10 {
//		for batch, err := range l.Batches(ctx) { ... }
//	}
func (l *Loader) Epoch() uint64 { return l.cursor().epoch }

// here returns the position of l, and the plans of its epoch: the plans of the running loop, or
// plans for the current state of the source.
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

// replaced reports whether the epoch of a cursor began with a version of the source other than
// version.
func (l *Loader) replaced(at cursor, version string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return at.batch > 0 && l.within != nil && l.within.version != version
}

// cursor returns the position of l.
func (l *Loader) cursor() cursor {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

// move sets the position of l. p are the plans of the epoch; nil means that the epoch may begin
// with any version of the source.
func (l *Loader) move(at cursor, p *plans) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at, l.within = at, p
}
