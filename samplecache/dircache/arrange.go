package dircache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// provide gives the next generation a store to be filled, if it has none: a retired one, a spare
// one, or a new one. It returns [engine.ErrBlocked] if there is none because too many are
// held.
//
// held reports whether a group needs a generation that no process reads at the moment.
func (sh *shelf) provide(held func(id uint64) bool) error {
	next := sh.next()
	for _, st := range slices.Clone(sh.stores) {
		if sh.has(next) {
			return nil
		}
		if sh.retired(st) {
			if err := sh.retire(st, held); err != nil {
				return err
			}
		}
	}
	if sh.has(next) {
		return nil
	}
	for _, st := range sh.stores {
		if st.role == spareRole {
			return sh.rename(st, next)
		}
	}
	if len(sh.stores) >= 2+sh.m.retain()+sh.m.maxHeld() {
		n := sh.count(heldRole)
		return &engine.BlockedError{Why: func() string {
			return fmt.Sprintf("one of the %d generations that are still read but not retained any more", n)
		}}
	}
	return sh.add(next)
}

// clear puts the stores aside that are retired and held, and removes those that nobody needs.
func (sh *shelf) clear(held func(id uint64) bool) error {
	for _, st := range slices.Clone(sh.stores) {
		if sh.retired(st) && sh.has(sh.next()) {
			if err := sh.retire(st, held); err != nil {
				return err
			}
		}
	}
	return nil
}

// next returns the store of the generation that is to be filled.
func (sh *shelf) next() store { return store{generationRole, sh.m.Latest + 1} }

// retired reports whether a store holds a generation that is not kept any more.
func (sh *shelf) retired(st store) bool {
	return st.role == heldRole ||
		st.role == generationRole && st.id+uint64(sh.m.retain()) < sh.m.Latest
}

// count returns how many stores have a role.
func (sh *shelf) count(r role) (n int) {
	for _, st := range sh.stores {
		if st.role == r {
			n++
		}
	}
	return n
}

// retire uses a store again if nobody holds it: for the next generation, if that has none. Else it
// is put aside.
func (sh *shelf) retire(st store, held func(id uint64) bool) error {
	if held(st.id) {
		return sh.putAside(st)
	}
	lock, err := vfs.TryLock(sh.at(st), vfs.Exclusive)
	if errors.Is(err, vfs.ErrHeld) {
		return sh.putAside(st)
	}
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }() // who asks for it now finds another name
	passing("retired")
	if sh.has(sh.next()) || !sh.reusable(st) {
		return sh.remove(st)
	}
	return sh.rename(st, sh.next())
}

// putAside keeps a store for those who hold it.
func (sh *shelf) putAside(st store) error {
	if st.role == heldRole {
		return nil
	}
	return sh.rename(st, store{heldRole, st.id})
}

// keptAt is where the records say that the files of the store belong to a dataset, too.
const keptAt = 32

// reusable reports whether a store can be filled again: it is whole, and its files are its own.
func (sh *shelf) reusable(st store) bool {
	ds, err := memmap.Open(sh.at(st))
	if err != nil || ds.Close() != nil {
		return false
	}
	f, err := openFile(filepath.Join(sh.at(st), recordsName), os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	var b [recordsHeader]byte
	_, err = f.ReadAt(b[:], 0)
	info, failed := f.Stat()
	samples, leaves := sh.m.Config.Samples, len(sh.m.Schema)
	return errors.Join(err, failed, checkRecordsHeader(b[:], samples, leaves)) == nil &&
		b[keptAt] == 0 && info.Size() == int64(recordsSize(samples, leaves))
}

// point has the link named current lead to the generation published last.
func (sh *shelf) point() error {
	if sh.m.Latest == 0 {
		return nil
	}
	at, want := filepath.Join(sh.dir, currentName), store{generationRole, sh.m.Latest}.name()
	if is, err := os.Readlink(at); err == nil && is == want {
		return nil
	}
	next := filepath.Join(sh.dir, newPrefix+currentName)
	if err := os.RemoveAll(next); err != nil {
		return err
	}
	if err := os.Symlink(want, next); err != nil {
		return err
	}
	passing("link made")
	return os.Rename(next, at)
}
