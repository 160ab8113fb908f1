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
// its role at present:
//
//   - gen-: the generation is being filled, published or retained
//   - held-: the generation is kept only because it is held
//   - spare-: no generation has used it yet
type store struct {
	role role
	id   uint64 // of the generation; of a spare, any number
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

// parseStore returns the store of a directory's name.
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

// A shelf is the list of all stores of a cache. The lock is held while it is used.
type shelf struct {
	*session
	m    *manifest // the present one, or the one that is being published
	list []store   // sorted by name
}

// lookAt returns the stores of the cache. It removes the leftovers of processes that were killed
// while they made or removed a store.
func (s *session) lookAt(m *manifest) (*shelf, error) {
	entries, err := os.ReadDir(s.at)
	if err != nil {
		return nil, err
	}
	sh := &shelf{session: s, m: m}
	for _, e := range entries {
		if vfs.Reserved(e.Name()) { // a store that was being made
			if err := vfs.Sweep(s.at); err != nil {
				return nil, err
			}
		}
		if st, ok := parseStore(e.Name()); ok && e.IsDir() {
			sh.list = append(sh.list, st)
		}
	}
	return sh, errors.Join(os.RemoveAll(s.path(newStore)), os.RemoveAll(s.path(oldStore)))
}

// has reports whether there is a store.
func (sh *shelf) has(st store) bool { return slices.Contains(sh.list, st) }

// rename gives a store another name.
func (sh *shelf) rename(from, to store) error {
	if err := os.Rename(sh.path(from.name()), sh.path(to.name())); err != nil {
		return err
	}
	passing("store renamed")
	sh.list[slices.Index(sh.list, from)] = to
	return sh.m.syncDir(sh.at)
}

// add makes a store: room for samples and for records.
func (sh *shelf) add(st store) error {
	at := sh.path(newStore)
	if err := sh.make(at); err != nil {
		return errors.Join(err, os.RemoveAll(at))
	}
	passing("store made")
	if err := os.Rename(at, sh.path(st.name())); err != nil {
		return err
	}
	sh.list = append(sh.list, st)
	return sh.m.syncDir(sh.at)
}

// make makes the directory and the records of a store.
func (sh *shelf) make(at string) error {
	prototype, err := sh.m.dict(sh.m.Config.Samples)
	if err != nil {
		return err
	}
	durable := sh.m.Config.Durable
	// An earlier one, whose process was killed, may be there still.
	ds, err := memmap.Create(at, prototype, memmap.CreateOptions{Replace: true, NoSums: true, NoSync: !durable})
	if err == nil {
		err = ds.Close()
	}
	if err != nil {
		return err
	}
	records := filepath.Join(at, recordsName)
	f, err := vfs.OS.Create(records)
	if err != nil {
		return err
	}
	if err = errors.Join(f.Reserve(int64(sh.m.recordsSize())), f.Close()); err == nil {
		err = writeAt(records, sh.m.recordsHead(), 0, durable)
	}
	if err == nil {
		err = sh.share(at)
	}
	if err == nil {
		err = sh.m.syncDir(at) // which memmap.Create has synced without the records
	}
	return err
}

// share gives a new store the permissions of the directory of the cache.
func (sh *shelf) share(at string) error {
	mode := sh.place.Mode()
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

// writeAt writes bytes into a file.
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
func (sh *shelf) remove(st store) error {
	old := sh.path(oldStore)
	if err := os.Rename(sh.path(st.name()), old); err != nil {
		return err
	}
	passing("store put away")
	sh.list = slices.DeleteFunc(sh.list, func(other store) bool { return other == st })
	return os.RemoveAll(old)
}

// provide gives the next generation a store, if it has none and not too many are held: a retired
// one, a spare one, or a new one. It puts aside other retired stores that are held, and removes the
// rest.
//
// held reports whether a group needs a generation, even if no process reads it at the moment.
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

// retired reports whether a store holds a generation that is not retained any more.
func (sh *shelf) retired(st store) bool {
	return st.role == heldRole ||
		st.role == generationRole && st.id+uint64(sh.m.retain()) < sh.m.Latest
}

// retire puts a store aside if it is held. Otherwise it gives the store to the next generation, or
// removes it if that has one.
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
	defer func() { _ = lock.Unlock() }() // a reader that locks it now finds that it was renamed
	passing("retired")
	if sh.has(sh.next()) || !sh.reusable(st) {
		return sh.remove(st)
	}
	return sh.rename(st, sh.next())
}

// putAside renames a store that is held, so that its readers keep it.
func (sh *shelf) putAside(st store) error {
	if st.role == heldRole {
		return nil
	}
	return sh.rename(st, store{heldRole, st.id})
}

// reusable reports whether a store can be filled again: it is whole, and no kept dataset shares its
// files.
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

// point makes the link named current lead to the generation published last. It returns fs.ErrExist
// if a directory has that name.
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
