package dircache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"sync/atomic"
	"time"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A rows is a published generation that the session has locked, by a shared lock on its directory,
// and mapped. It implements engine.Rows.
type rows struct {
	s      *session
	id     uint64
	lock   *vfs.Lock
	ds     *memmap.Dataset
	store  *writer       // mapped; ds has the names of its files
	lapsed chan struct{} // nil without [engine.Config.MaxHold]
	timer  *time.Timer   // nil without MaxHold
	over   atomic.Bool
}

func (s *session) Open(ctx context.Context, id uint64) (engine.Rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	return callValue(s, func() (engine.Rows, error) {
		if err := s.kept(id); err != nil {
			return nil, err
		}
		crashPoint("generation found")
		r, err := s.hold(id)
		if errors.Is(err, fs.ErrNotExist) {
			err = engine.ErrGenerationGone
		}
		return r, err
	})
}

// kept returns [engine.ErrGenerationGone] if a generation was not published yet, has no store any
// more, or was retired too long ago.
func (s *session) kept(id uint64) error {
	latest, err := s.words.sealed(latestWord)
	switch {
	case err != nil:
		return err
	case id == 0 || id > latest:
		return fmt.Errorf("%w: it was not published yet", engine.ErrGenerationGone)
	case s.holdLeft(id) <= 0:
		return fmt.Errorf("%w: it was retired more than %v ago", engine.ErrGenerationGone, s.fixed.Config.MaxHold)
	}
	if err := s.present(); err != nil {
		return fmt.Errorf("%w: %w", engine.ErrGenerationGone, err)
	}
	if _, err = os.Lstat(s.path(storeName(id))); err != nil {
		return engine.ErrGenerationGone
	}
	return nil
}

// holdLeft returns how much longer a generation may be held. Without [engine.Config.MaxHold] it
// returns math.MaxInt64.
func (s *session) holdLeft(id uint64) time.Duration {
	limit := s.fixed.Config.MaxHold
	if limit == 0 {
		return math.MaxInt64
	}
	return limit - time.Duration(s.words.retiredFor(id))*time.Millisecond
}

// hold locks a generation and maps it. It returns fs.ErrNotExist if no store has its name any
// more: a store that nobody reads is renamed, and no store gets the old name again.
func (s *session) hold(id uint64) (engine.Rows, error) {
	at := s.path(storeName(id))
	lock, err := vfs.TryLock(at, vfs.Shared)
	if errors.Is(err, vfs.ErrHeld) {
		return nil, engine.ErrGenerationGone // its store is being filled again
	}
	if err != nil {
		return nil, err
	}
	crashPoint("generation locked")
	r := &rows{s: s, id: id, lock: lock}
	err = r.mapAll()
	if !lock.At(at) { // the store was renamed, or is another one
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, errors.Join(err, r.end())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[r] = true
	if s.fixed.Config.MaxHold > 0 {
		r.lapsed = make(chan struct{})
		r.timer = time.AfterFunc(s.holdLeft(id), r.lapse)
	}
	return r, nil
}

// mapAll maps all files of the store. Mostly an earlier generation has mapped them.
func (r *rows) mapAll() (err error) {
	if r.ds, err = r.s.openStore(r.id); err != nil {
		return err
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if len(r.s.read) > 2+r.s.fixed.retain() { // more were made for generations that were held
		if err := r.s.dropStores(); err != nil {
			return err
		}
	}
	w, err := r.s.mapped(r.id, r.s.read, mapping.ReadOnly)
	if err == nil {
		err = w.mapLeaves(r.ds, mapping.ReadOnly)
	}
	if err == nil {
		r.store = w
		w.users++
	}
	return err
}

// lapse closes r.lapsed if the generation may not be held any longer. Otherwise it resets the
// timer.
func (r *rows) lapse() {
	_ = r.s.call(func() error { // another call will return the same error
		r.s.mu.Lock()
		defer r.s.mu.Unlock()
		left := r.s.holdLeft(r.id)
		if left <= 0 {
			close(r.lapsed)
		} else if r.s.open[r] {
			r.timer.Reset(left)
		}
		return nil
	})
}

func (r *rows) Lapsed() <-chan struct{} { return r.lapsed }

func (r *rows) Info(row int) (info engine.Info, err error) {
	if uint(row) >= uint(r.s.samples()) {
		return info, fmt.Errorf("%w: got row %d of %d", shapeops.ErrIndex, row, r.s.samples())
	}
	b, err := r.store.records.Acquire()
	if err != nil {
		return info, err
	}
	defer r.store.records.Release()
	failed := mapping.Guard(func() {
		rec := rowRecord(b, row, len(r.s.fixed.Schema))
		if !rec.sound(r.id) {
			err = fmt.Errorf("%w: the record is damaged", engine.ErrChecksum)
			return
		}
		info = rec.info(len(r.s.fixed.Schema))
	})
	if fault, _ := failed.(*mapping.FaultError); fault != nil {
		fault.File = r.s.path(recordsPath(r.id)) // it had another name when it was mapped
		err = fmt.Errorf("read the record: %w", fault)
	}
	if err != nil {
		return engine.Info{}, &engine.RowError{Generation: r.id, Row: row, Err: err}
	}
	return info, nil
}

func (r *rows) Place(leaf int) (tensor.Lender, int) {
	l := r.s.fixed.Schema[leaf]
	f, err := leafFile(r.ds, l)
	if err != nil || l.bytes == 0 {
		return nil, 0
	}
	return &lent{f, r.store.files[leaf], r}, 0
}

// A lent lends a leaf of a generation until that is closed. The mapping stays for later ones.
type lent struct {
	*mapfile.File // names it
	kept          *place
	of            *rows
}

func (l *lent) Borrow() ([]byte, error) {
	if l.of.over.Load() {
		return nil, l.of.s.fail(l.Path(), engine.ErrClosed)
	}
	return l.kept.Borrow()
}

func (l *lent) Return() { l.kept.Return() }

func (l *lent) Pin() ([]byte, error) {
	if _, err := l.Borrow(); err != nil {
		return nil, err
	}
	defer l.Return()
	return l.kept.Pin()
}

func (l *lent) Intact() error {
	if err := l.kept.Intact(); err != nil {
		return failed("read", l.String(), "", err)
	}
	return nil
}

func (r *rows) Read(context.Context, []int, int, []byte) error {
	return fmt.Errorf("%w: all leaves are in memory", errors.ErrUnsupported)
}

func (r *rows) Close() error {
	if r.over.Swap(true) {
		return engine.ErrClosed
	}
	return r.s.call(func() error {
		r.s.mu.Lock()
		delete(r.s.open, r)
		r.s.mu.Unlock()
		err := r.end()
		r.s.searchAgain()
		return errors.Join(err, r.s.raise())
	})
}

// end unlocks the generation. Its leaves stay mapped, for later generations.
func (r *rows) end() (err error) {
	if r.timer != nil {
		r.timer.Stop()
	}
	if r.store != nil {
		r.s.mu.Lock()
		r.store.users--
		r.s.mu.Unlock()
	}
	if r.ds != nil {
		err = r.ds.Close()
	}
	return errors.Join(err, r.lock.Unlock())
}
