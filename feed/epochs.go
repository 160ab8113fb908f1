package feed

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/tdict"
)

// maxKept is the largest number of epochs whose snapshots are kept for ranks that are behind. It
// bounds how many replaced datasets stay on disk if a consumer never comes.
const maxKept = 16

// An epochs keeps the snapshot with which each epoch began until all ranks have passed that epoch,
// so that the ranks of an epoch get the same rows. Safe for concurrent use.
type epochs struct {
	src loader.Source

	mu   sync.Mutex
	at   []uint64         // the epoch of each rank
	kept []*epochSnapshot // in the order in which they were taken
}

// An epochSnapshot is the snapshot with which an epoch began.
type epochSnapshot struct {
	epoch uint64
	now   loader.Snapshot
	users int // loops, and one for the list of an epochs
}

// leave ends one use, and releases the snapshot after the last.
func (k *epochSnapshot) leave() error {
	if k.users--; k.users > 0 || k.now.Release == nil {
		return nil
	}
	return k.now.Release()
}

// find returns the snapshot of an epoch, and takes it if it is not kept. The caller holds mu.
func (e *epochs) find(epoch uint64) (*epochSnapshot, error) {
	i := slices.IndexFunc(e.kept, func(k *epochSnapshot) bool { return k.epoch == epoch })
	if i >= 0 {
		return e.kept[i], nil
	}
	now := loader.Snapshot{Source: e.src}
	if s, ok := e.src.(loader.Snapshotter); ok {
		var err error
		if now, err = s.Snapshot(); err != nil {
			return nil, err
		}
	}
	k := &epochSnapshot{epoch, now, 1}
	e.kept = append(e.kept, k)
	return k, nil
}

// use returns the snapshot of an epoch for a loop, which must call drop when it ends.
func (e *epochs) use(epoch uint64) (now loader.Snapshot, drop func() error, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	k, err := e.find(epoch)
	if err != nil {
		return now, nil, err
	}
	k.users++
	return k.now, func() error {
		e.mu.Lock()
		defer e.mu.Unlock()
		return k.leave()
	}, nil
}

// enter records that a rank begins or continues an epoch, and keeps the snapshot of that epoch. It
// forgets the snapshots of epochs that all ranks have passed or that none has reached, and the
// oldest if there are too many.
func (e *epochs) enter(rank int, epoch uint64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, err := e.find(epoch); err != nil {
		return err
	}
	e.at[rank] = epoch
	first, last := slices.Min(e.at), slices.Max(e.at)
	err := e.forget(func(k *epochSnapshot) bool { return k.epoch < first || k.epoch > last })
	more := len(e.kept) - maxKept
	return errors.Join(err, e.forget(func(*epochSnapshot) bool { more--; return more >= 0 }))
}

// renew forgets the snapshot of an epoch, which cannot be used any more since the source was
// replaced.
func (e *epochs) renew(epoch uint64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.forget(func(k *epochSnapshot) bool { return k.epoch == epoch })
}

// close forgets all snapshots.
func (e *epochs) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.forget(func(*epochSnapshot) bool { return true })
}

// forget removes the snapshots for which gone is true from the list. Loops may still use them. The
// caller holds mu.
func (e *epochs) forget(gone func(k *epochSnapshot) bool) (err error) {
	e.kept = slices.DeleteFunc(e.kept, func(k *epochSnapshot) bool {
		if !gone(k) {
			return false
		}
		err = errors.Join(err, k.leave())
		return true
	})
	return err
}

// A rankSource is the source of one rank. Its snapshot belongs to the epoch of the rank. Not safe
// for concurrent use.
type rankSource struct {
	*epochs
	rank  int
	epoch uint64
}

// Len implements [loader.Source].
func (s *rankSource) Len() int { return s.src.Len() }

// Fetch implements [loader.Source].
func (s *rankSource) Fetch(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
	return s.src.Fetch(ctx, rows, dst)
}

// Snapshot implements [loader.Snapshotter].
func (s *rankSource) Snapshot() (loader.Snapshot, error) {
	now, drop, err := s.use(s.epoch)
	now.Release = drop
	return now, err
}

// begin moves the rank to an epoch.
func (s *rankSource) begin(epoch uint64) error {
	s.epoch = epoch
	return s.enter(s.rank, epoch)
}
