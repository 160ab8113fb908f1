package dircache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
)

// A store is a directory with room for the samples and the records of a generation. Its name says
// its present role:
//
//   - gen-: the generation is being filled, published or retained
//   - held-: the generation is kept only because it is held
//   - spare-: no generation has used it yet
type store struct {
	role role
	id   uint64 // the generation; of a spare store, any number
}

type role string

const (
	generationRole role = "gen-"
	heldRole       role = "held-"
	spareRole      role = "spare-"
)

const (
	recordsName = ".samples" // in the directory of a store
	newStore    = newPrefix + "store"
	oldStore    = ".old-store" // a store that is being removed
)

func (st store) name() string { return fmt.Sprintf("%s%010d", st.role, st.id) }

// parseStore returns the store with a name.
func parseStore(name string) (st store, ok bool) {
	for _, r := range []role{generationRole, heldRole, spareRole} {
		if digits, found := strings.CutPrefix(name, string(r)); found {
			id, err := strconv.ParseUint(digits, 10, 31)
			st = store{r, id}
			return st, err == nil && st.name() == name
		}
	}
	return st, false
}

// A storeList is the list of all stores of a cache. The lock is held while it is used.
type storeList struct {
	*session
	m    *manifest // the present MANIFEST, or the one that is being published
	list []store   // sorted by name
}

// listStores returns the stores of the cache. It removes what processes left that were killed while
// they made or removed a store.
func (s *session) listStores(m *manifest) (*storeList, error) {
	entries, err := os.ReadDir(s.at)
	if err != nil {
		return nil, err
	}
	sl := &storeList{session: s, m: m}
	for _, e := range entries {
		if vfs.Reserved(e.Name()) { // left by a process that was killed
			if err := vfs.Sweep(s.at); err != nil {
				return nil, err
			}
		}
		if st, ok := parseStore(e.Name()); ok && e.IsDir() {
			sl.list = append(sl.list, st)
		}
	}
	return sl, errors.Join(os.RemoveAll(s.path(newStore)), os.RemoveAll(s.path(oldStore)))
}

// has reports whether st exists.
func (sl *storeList) has(st store) bool { return slices.Contains(sl.list, st) }

// rename renames a store.
func (sl *storeList) rename(from, to store) error {
	if err := os.Rename(sl.path(from.name()), sl.path(to.name())); err != nil {
		return err
	}
	crashPoint("store renamed")
	sl.list[slices.Index(sl.list, from)] = to
	return sl.m.syncDir(sl.at)
}

// add makes a store with room for samples and records.
func (sl *storeList) add(st store) error {
	at := sl.path(newStore)
	if err := sl.make(at); err != nil {
		return errors.Join(err, os.RemoveAll(at))
	}
	crashPoint("store made")
	if err := os.Rename(at, sl.path(st.name())); err != nil {
		return err
	}
	sl.list = append(sl.list, st)
	return sl.m.syncDir(sl.at)
}

// make makes the directory and the records of a store.
func (sl *storeList) make(at string) error {
	prototype, err := sl.m.dict(sl.m.Config.Samples)
	if err != nil {
		return err
	}
	durable := sl.m.Config.Durable
	// A process that was killed may have left a store there.
	ds, err := memmap.Create(at, prototype, memmap.CreateOptions{Replace: true, NoSums: true, NoSync: !durable})
	if err == nil {
		err = ds.Close()
	}
	if err != nil {
		return err
	}
	records := filepath.Join(at, recordsName)
	f, err := vfs.OS.Create(records, 0o666)
	if err != nil {
		return err
	}
	if err = errors.Join(f.Reserve(int64(sl.m.recordsSize())), f.Close()); err == nil {
		err = writeAt(records, sl.m.recordsHead(), 0, durable)
	}
	if err == nil {
		err = sl.share(at)
	}
	if err == nil {
		err = sl.m.syncDir(at) // again, for the records
	}
	return err
}

// share gives a new store the permissions of the directory of the cache.
func (sl *storeList) share(at string) error {
	mode := sl.place.Mode()
	return filepath.WalkDir(at, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.Chmod(path, mode&(fs.ModePerm|fs.ModeSetgid))
		}
		return os.Chmod(path, mode.Perm()&0o666)
	})
}

// writeAt writes b to a file, at offset at.
func writeAt(path string, b []byte, at int64, sync bool) error {
	f, err := openFile(path, os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, at)
	if err == nil && sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// remove removes a store.
func (sl *storeList) remove(st store) error {
	old := sl.path(oldStore)
	if err := os.Rename(sl.path(st.name()), old); err != nil {
		return err
	}
	crashPoint("store put away")
	sl.list = slices.DeleteFunc(sl.list, func(other store) bool { return other == st })
	return os.RemoveAll(old)
}

// assignNext gives the next generation a store, if it has none and not too many stores are held: a
// retired one, a spare one, or a new one. It renames other retired stores that are held, and
// removes the rest.
//
// held reports whether a group needs a generation, even if no process reads it now.
func (sl *storeList) assignNext(held func(id uint64) bool) (err error) {
	for _, st := range slices.Clone(sl.list) {
		if sl.retired(st) {
			err = errors.Join(err, sl.retire(st, held))
		}
	}
	spare := slices.IndexFunc(sl.list, func(st store) bool { return st.role == spareRole })
	switch {
	case sl.has(sl.next()):
		return err
	case spare >= 0:
		return errors.Join(err, sl.rename(sl.list[spare], sl.next()))
	case len(sl.list) < 2+sl.m.retain()+sl.m.maxHeld():
		return errors.Join(err, sl.add(sl.next()))
	}
	return err
}

// next returns the store of the next generation to be filled.
func (sl *storeList) next() store { return store{generationRole, sl.m.Latest + 1} }

// retired reports whether st has a generation that is not retained any more.
func (sl *storeList) retired(st store) bool {
	return st.role == heldRole ||
		st.role == generationRole && st.id+uint64(sl.m.retain()) < sl.m.Latest
}

// retire renames a store that is held. Otherwise it gives the store to the next generation, or
// removes the store if the next generation has one.
func (sl *storeList) retire(st store, held func(id uint64) bool) error {
	if held(st.id) {
		return sl.setAside(st)
	}
	lock, err := vfs.TryLock(sl.path(st.name()), vfs.Exclusive)
	if errors.Is(err, vfs.ErrHeld) {
		return sl.setAside(st)
	}
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }() // a reader that locks it afterwards sees that it was renamed
	crashPoint("retired")
	if sl.has(sl.next()) || !sl.reusable(st) {
		return sl.remove(st)
	}
	return sl.rename(st, sl.next())
}

// setAside renames a store that is held, so that its readers keep it.
func (sl *storeList) setAside(st store) error {
	if st.role == heldRole {
		return nil
	}
	return sl.rename(st, store{heldRole, st.id})
}

// reusable reports whether a store can be filled again: it is whole, and no kept dataset shares its
// files.
func (sl *storeList) reusable(st store) bool {
	ds, err := sl.openStore(st)
	if err != nil || ds.Close() != nil {
		return false
	}
	records, err := sl.mapRecords(st, mapping.ReadOnly)
	if err != nil {
		return false
	}
	b, err := records.Pin()
	kept := err != nil || b[keptAt] != 0
	return records.Close() == nil && !kept
}

// linkCurrent makes the link "current" point to the generation published last. It returns
// fs.ErrExist if a directory has that name.
func (sl *storeList) linkCurrent() error {
	if sl.m.Latest == 0 {
		return nil
	}
	at, want := sl.path(currentName), store{generationRole, sl.m.Latest}.name()
	if is, err := os.Readlink(at); err == nil && is == want {
		return nil
	}
	if info, err := os.Lstat(at); err == nil && info.IsDir() {
		return fmt.Errorf("%w: got a directory, want a link: remove it", fs.ErrExist)
	}
	next := sl.path(newPrefix + currentName)
	if err := os.RemoveAll(next); err != nil {
		return err
	}
	if err := os.Symlink(want, next); err != nil {
		return err
	}
	crashPoint("link made")
	return os.Rename(next, at)
}
