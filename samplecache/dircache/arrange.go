package dircache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/vfs"
)

// provide gives the next generation a store to be filled, if it has none and not too many are held: a
// retired one, a spare one, or a new one. Other stores that are retired are put aside if they are
// held, and removed if not.
//
// held reports whether a group needs a generation that no process reads at the moment.
func (sh *shelf) provide(held func(id uint64) bool) (err error) {
	for _, st := range slices.Clone(sh.list) {
		if sh.retired(st) {
			err = errors.Join(err, sh.retire(st, held))
		}
	}
	spare := slices.IndexFunc(sh.list, func(st store) bool { return st.role == spareRole })
	switch {
	case sh.has(sh.next()):
		return err
	case spare >= 0:
		return errors.Join(err, sh.rename(sh.list[spare], sh.next()))
	case len(sh.list) < 2+sh.m.retain()+sh.m.maxHeld():
		return errors.Join(err, sh.add(sh.next()))
	}
	return err
}

// next returns the store of the generation that is to be filled.
func (sh *shelf) next() store { return store{generationRole, sh.m.Latest + 1} }

// retired reports whether a store holds a generation that is not kept any more.
func (sh *shelf) retired(st store) bool {
	return st.role == heldRole ||
		st.role == generationRole && st.id+uint64(sh.m.retain()) < sh.m.Latest
}

// retire uses a store again if nobody holds it: for the next generation, if that has none. Else it
// is put aside.
func (sh *shelf) retire(st store, held func(id uint64) bool) error {
	if held(st.id) {
		return sh.putAside(st)
	}
	lock, err := vfs.TryLock(sh.path(st.name()), vfs.Exclusive)
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

// reusable reports whether a store can be filled again: it is whole, and its files are its own.
func (sh *shelf) reusable(st store) bool {
	ds, err := sh.openStore(st)
	if err != nil || ds.Close() != nil {
		return false
	}
	records, err := sh.mapRecords(st, mapping.ReadOnly)
	if err != nil {
		return false
	}
	b, err := records.Pin()
	kept := err != nil || b[keptAt] != 0
	return records.Close() == nil && !kept
}

// point has the link named current lead to the generation published last. What others have put there
// stays if it is a directory.
func (sh *shelf) point() error {
	if sh.m.Latest == 0 {
		return nil
	}
	at, want := sh.path(currentName), store{generationRole, sh.m.Latest}.name()
	if is, err := os.Readlink(at); err == nil && is == want {
		return nil
	}
	if info, err := os.Lstat(at); err == nil && info.IsDir() {
		return fmt.Errorf("%w: got a directory, want a link: remove it", fs.ErrExist)
	}
	next := sh.path(newPrefix + currentName)
	if err := os.RemoveAll(next); err != nil {
		return err
	}
	if err := os.Symlink(want, next); err != nil {
		return err
	}
	passing("link made")
	return os.Rename(next, at)
}
