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

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A store is a directory with room for a generation, and for its records in a file of its own. Its
// name says what it is at present: a generation that is filled, published or retained, one that is
// kept only because it is held, or a spare one.
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
	oldStore    = ".old-store" // what is being removed
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

// A shelf is all stores of a cache. It is looked at, and changed, with the lock held.
type shelf struct {
	dir    string
	mode   fs.FileMode // of the directory, which others may be allowed to change
	m      *manifest
	stores []store // sorted by name
}

// lookAt returns the stores of the cache. It removes what a process that was killed was making or
// removing.
func (s *session) lookAt(m *manifest) (*shelf, error) {
	entries, err := os.ReadDir(s.at)
	if err != nil {
		return nil, err
	}
	sh := &shelf{dir: s.at, mode: s.place.Mode(), m: m}
	for _, e := range entries {
		if vfs.Reserved(e.Name()) { // a store that was being made
			if err := vfs.Sweep(s.at); err != nil {
				return nil, err
			}
		}
		if st, ok := parseStore(e.Name()); ok && e.IsDir() {
			sh.stores = append(sh.stores, st)
		}
	}
	return sh, errors.Join(os.RemoveAll(filepath.Join(s.at, newStore)), os.RemoveAll(filepath.Join(s.at, oldStore)))
}

// at returns the path of a store's directory.
func (sh *shelf) at(st store) string { return filepath.Join(sh.dir, st.name()) }

// has reports whether there is a store.
func (sh *shelf) has(st store) bool { return slices.Contains(sh.stores, st) }

// rename gives a store another name.
func (sh *shelf) rename(from, to store) error {
	if err := os.Rename(sh.at(from), sh.at(to)); err != nil {
		return err
	}
	passing("store renamed")
	sh.stores[slices.Index(sh.stores, from)] = to
	return sh.m.syncDir(sh.dir)
}

// add makes a store: room for samples and for records.
func (sh *shelf) add(st store) error {
	at := filepath.Join(sh.dir, newStore)
	prototype, err := sh.m.prototype()
	if err != nil {
		return err
	}
	if err := sh.make(at, prototype); err != nil {
		return errors.Join(err, os.RemoveAll(at))
	}
	passing("store made")
	if err := os.Rename(at, sh.at(st)); err != nil {
		return err
	}
	sh.stores = append(sh.stores, st)
	return sh.m.syncDir(sh.dir)
}

// make makes the directory and the records of a store.
func (sh *shelf) make(at string, prototype *tdict.TensorDict) error {
	// An earlier one, whose process was killed, may be there still.
	ds, err := memmap.Create(at, prototype, memmap.CreateOptions{Replace: true, NoSums: true, NoSync: !sh.m.Config.Durable})
	if err == nil {
		err = ds.Close()
	}
	if err != nil {
		return err
	}
	samples, leaves := sh.m.Config.Samples, len(sh.m.Schema)
	var header [recordsHeader]byte
	putRecordsHeader(header[:], samples, leaves)
	if err := reservedFile(filepath.Join(at, recordsName), header[:], recordsSize(samples, leaves), sh.m.Config.Durable); err != nil {
		return err
	}
	return sh.share(at)
}

// share lets others do with a new store what they may do with the directory of the cache.
func (sh *shelf) share(at string) error {
	return filepath.WalkDir(at, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.Chmod(path, sh.mode&(fs.ModePerm|fs.ModeSetgid))
		}
		return os.Chmod(path, sh.mode.Perm()&0o666)
	})
}

// reservedFile makes a file of so many bytes, for which there is room on the disk: first those
// given, then zeros.
func reservedFile(path string, first []byte, size int, sync bool) error {
	f, err := vfs.OS.Create(path)
	if err != nil {
		return err
	}
	if err = errors.Join(f.Reserve(int64(size)), f.Close()); err != nil {
		return err
	}
	return writeAt(path, first, 0, sync)
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
	old := filepath.Join(sh.dir, oldStore)
	if err := os.Rename(sh.at(st), old); err != nil {
		return err
	}
	passing("store put away")
	if err := os.RemoveAll(old); err != nil {
		return err
	}
	sh.stores = slices.DeleteFunc(sh.stores, func(other store) bool { return other == st })
	return nil
}

// prototype returns what a generation is like.
func (m *manifest) prototype() (*tdict.TensorDict, error) {
	td := tdict.New(m.Config.Samples)
	for _, l := range m.Schema {
		zero, err := tensor.New(l.dtype)
		if err == nil {
			zero, err = zero.Expand(slices.Concat(shapeops.Shape{m.Config.Samples}, l.Shape)...)
		}
		if err == nil {
			err = td.Set(l.Key, zero)
		}
		if err != nil {
			return nil, err
		}
	}
	return td, nil
}
