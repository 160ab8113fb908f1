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

const (
	storePrefix = "gen-"     // of the directory of a store; the generation follows
	recordsName = ".samples" // in the directory of a store
	newStore    = newPrefix + "store"
	oldStore    = ".old-store" // a store that is being removed
)

// storeName returns the name of the directory with room for the samples and the records of a
// generation.
func storeName(generation uint64) string { return fmt.Sprintf("%s%010d", storePrefix, generation) }

// parseStore returns the generation of a store with a name.
func parseStore(name string) (generation uint64, ok bool) {
	digits, ok := strings.CutPrefix(name, storePrefix)
	generation, err := strconv.ParseUint(digits, 10, 31)
	return generation, ok && err == nil && storeName(generation) == name
}

// A storeList is the list of all stores of a cache. The lock is held while it is used.
//
// Create makes stores for the first 2 + Retain generations. Later the store of a generation that is
// not retained any more is renamed, and so given to the next generation, unless somebody reads it.
// A store keeps its name as long as it is read.
type storeList struct {
	*session
	m    *manifest // the present MANIFEST
	list []uint64  // generations, in order
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
		if id, ok := parseStore(e.Name()); ok && e.IsDir() {
			sl.list = append(sl.list, id)
		}
	}
	return sl, errors.Join(os.RemoveAll(s.path(newStore)), os.RemoveAll(s.path(oldStore)))
}

// next returns the next generation to be filled.
func (sl *storeList) next() uint64 { return sl.m.Latest + 1 }

// ready reports whether the next generation has a store.
func (sl *storeList) ready() bool { return slices.Contains(sl.list, sl.next()) }

// provide gives the next generation a store, if it has none: of a retired generation that nobody
// reads, or a new one, unless too many are read. It removes other retired stores that nobody reads.
//
// needed reports whether a group needs a generation, even if no process reads it now.
func (sl *storeList) provide(needed func(generation uint64) bool) (err error) {
	for _, id := range slices.Clone(sl.list) {
		if sl.m.retired(id) && !needed(id) {
			err = errors.Join(err, sl.retire(id))
		}
	}
	if !sl.ready() && len(sl.list) < 2+sl.m.retain()+sl.m.maxHeld() {
		err = errors.Join(err, sl.add(sl.next()))
	}
	return err
}

// retire gives a store that nobody reads to the next generation, or removes it if that has one.
func (sl *storeList) retire(id uint64) error {
	lock, err := vfs.TryLock(sl.path(storeName(id)), vfs.Exclusive)
	if errors.Is(err, vfs.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }() // a reader that locks it afterwards sees that it was renamed
	crashPoint("retired")
	if sl.ready() || !sl.reusable(id) {
		return sl.remove(id)
	}
	if err := os.Rename(sl.path(storeName(id)), sl.path(storeName(sl.next()))); err != nil {
		return err
	}
	crashPoint("store renamed")
	sl.list[slices.Index(sl.list, id)] = sl.next()
	return sl.m.syncDir(sl.at)
}

// reusable reports whether a store can be filled again: it is whole, and no kept dataset shares its
// files.
func (sl *storeList) reusable(id uint64) bool {
	ds, err := sl.openStore(id)
	if err != nil || ds.Close() != nil {
		return false
	}
	records, err := sl.mapRecords(id, mapping.ReadOnly)
	if err != nil {
		return false
	}
	b, err := records.Pin()
	kept := err != nil || b[keptAt] != 0
	return records.Close() == nil && !kept
}

// remove removes a store.
func (sl *storeList) remove(id uint64) error {
	old := sl.path(oldStore)
	if err := os.Rename(sl.path(storeName(id)), old); err != nil {
		return err
	}
	crashPoint("store put away")
	sl.list = slices.DeleteFunc(sl.list, func(other uint64) bool { return other == id })
	return os.RemoveAll(old)
}

// add makes a store with room for samples and records.
func (sl *storeList) add(id uint64) error {
	at := sl.path(newStore)
	if err := sl.make(at); err != nil {
		return errors.Join(err, os.RemoveAll(at))
	}
	crashPoint("store made")
	if err := os.Rename(at, sl.path(storeName(id))); err != nil {
		return err
	}
	sl.list = append(sl.list, id)
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
