package loader

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// LiveOptions are options for the moment when the dataset of a [FromLive] is replaced. With the
// zero value the epoch ends with an error.
type LiveOptions struct {
	// With Finish, a loop uses one dataset until the loop ends: the dataset that was current when
	// the loop began, even if that dataset is replaced meanwhile. That dataset stays mapped and on
	// disk until then, and its views stay valid until then.
	//
	// By default an epoch ends with [ErrReplaced] when its dataset is replaced or gets more rows or
	// leaves, for example by memmap.Writer.Commit. With Finish there is one case of ErrReplaced: a
	// loop ends before its epoch does, the dataset is replaced, and another loop continues the
	// epoch. After ErrReplaced, l.Seek(l.Epoch()+1, 0) continues with the next epoch, of the new
	// dataset.
	Finish bool
	// Keys are the entries that rows have; nil means all entries. If a dataset lacks one of them,
	// a loop over it returns tdict.ErrMissing before the first batch.
	Keys []nestedkey.Key
}

// FromLive returns a source of the current dataset of a memmap.Live. Each epoch has the rows that
// the dataset has when the epoch begins. FromLive returns [ErrSource] if live is nil.
func FromLive(live *memmap.Live, opt LiveOptions) (Source, error) {
	if live == nil {
		return nil, fmt.Errorf("from live: %w: got nil", ErrSource)
	}
	return &liveSource{live: live, opt: opt}, nil
}

// A liveSource is a source of the current dataset of a [memmap.Live].
type liveSource struct {
	live *memmap.Live
	opt  LiveOptions

	mu      sync.Mutex
	last    *memmap.Dataset // dataset of the last snapshot
	changes int             // number of times that last has changed
}

// acquire returns the current dataset and a version, which differs from the version of any earlier
// dataset.
func (s *liveSource) acquire() (ds *memmap.Dataset, version string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ds, err = s.live.Acquire(); err != nil {
		return nil, "", fmt.Errorf("live dataset: %w", err)
	}
	if ds != s.last {
		s.last, s.changes = ds, s.changes+1
	}
	return ds, strconv.Itoa(s.changes), nil
}

// rows returns the rows of a dataset, with the entries of the options.
func (s *liveSource) rows(ds *memmap.Dataset) (dict, error) {
	td := ds.TensorDict
	if s.opt.Keys != nil {
		var err error
		if td, err = td.Select(s.opt.Keys...); err != nil {
			return dict{}, fmt.Errorf("live dataset: %w", err)
		}
	}
	return newDict(td)
}

// with calls fn with the current dataset.
func (s *liveSource) with(fn func(ds *memmap.Dataset) error) (err error) {
	ds, err := s.live.Acquire()
	if err != nil {
		return fmt.Errorf("live dataset: %w", err)
	}
	defer func() { err = cmp.Or(err, s.live.Release(ds)) }()
	return fn(ds)
}

// Len implements [Source]. It is 0 once the Live is closed.
func (s *liveSource) Len() (n int) {
	_ = s.with(func(ds *memmap.Dataset) error { // Fetch returns the error
		if d, err := s.rows(ds); err == nil {
			n = d.n
		}
		return nil
	})
	return n
}

// Fetch implements [Source].
func (s *liveSource) Fetch(ctx context.Context, rows []int, dst *tdict.TensorDict) (out *tdict.TensorDict, err error) {
	err = s.with(func(ds *memmap.Dataset) error {
		d, err := s.rows(ds)
		if err == nil {
			out, err = d.Fetch(ctx, rows, dst)
		}
		return err
	})
	return out, err
}

// Describe implements [Describer].
func (s *liveSource) Describe() (about Description, err error) {
	err = s.with(func(ds *memmap.Dataset) error {
		d, err := s.rows(ds)
		if err == nil {
			about, err = d.Describe()
		}
		return err
	})
	return about, err
}

// Snapshot implements [Snapshotter].
func (s *liveSource) Snapshot() (Snapshot, error) {
	ds, version, err := s.acquire()
	if err != nil {
		return Snapshot{}, err
	}
	d, err := s.rows(ds)
	if err != nil {
		return Snapshot{}, cmp.Or(err, s.live.Release(ds))
	}
	now := Snapshot{Source: mapped{d, ds}, Version: version}
	if !s.opt.Finish {
		now.Source = unreplaced{mapped{d, ds}, s}
	}
	now.Release = func() error { return s.live.Release(ds) }
	return now, nil
}

// An unreplaced is the dataset with which an epoch began. Its Fetch returns ErrReplaced once the
// dataset has been replaced. It is not a Slicer, since views would remain valid after that.
type unreplaced struct {
	held mapped
	from *liveSource
}

// Len implements [Source].
func (u unreplaced) Len() int { return u.held.n }

// Fetch implements [Source].
func (u unreplaced) Fetch(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
	err := u.from.with(func(ds *memmap.Dataset) error {
		if ds != u.held.ds {
			return ErrReplaced
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return u.held.Fetch(ctx, rows, dst)
}

// Describe implements [Describer].
func (u unreplaced) Describe() (Description, error) { return u.held.Describe() }

// Prefetch implements [Prefetcher].
func (u unreplaced) Prefetch(rows ...int) error { return u.held.Prefetch(rows...) }
