package memmap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/vfs"
)

// lockName is the name of the file that a Writer holds locked while it is at work in a directory.
const lockName = ".lock"

// An oldTree is the directory that a save replaces.
type oldTree struct {
	info  fs.FileInfo // of the directory; nil if there is none
	dir   *vfs.Root   // open, so that no other directory gets its inode number
	modes *vfs.Modes  // of it; nil if there is none
	lock  *vfs.Lock   // keeps Writers out; nil if the directory has no lockName
}

func (o *oldTree) unlock() {
	if o.lock != nil {
		_ = o.lock.Unlock() // nothing was written
	}
	if o.dir != nil {
		_ = o.dir.Close() // nothing was written
	}
}

// replaceable returns the tree at dir, an absolute path without links, if a save may replace it:
// nothing, an empty directory, or a whole saved dictionary in which no Writer is at work.
func replaceable(dir string) (*oldTree, error) {
	if holdsWorkingDir(dir) {
		return nil, fmt.Errorf("%w: the working directory is the directory to replace, or below it: change to another one first", fs.ErrInvalid)
	}
	if err := checkAround(dir); err != nil {
		return nil, err
	}
	old, err := scanOld(dir)
	if err != nil {
		return nil, err
	}
	old.lock, err = vfs.TryLock(filepath.Join(dir, lockName), vfs.Exclusive)
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, errors.ErrUnsupported):
		return old, nil
	case errors.Is(err, vfs.ErrHeld):
		err = fmt.Errorf("%w: a Writer has it open (Finish or Close it first), or another save is replacing it", ErrBusy)
	}
	old.unlock()
	return nil, err
}

// checkAround returns ErrForeign if what is to be saved at a path would be in a saved dictionary,
// or below a directory in one.
func checkAround(at string) error {
	for above := filepath.Dir(at); above != at; at, above = above, filepath.Dir(above) {
		if _, err := readNode(above); err == nil {
			return fmt.Errorf("%w: it is within the dictionary in %s: save that as a whole, add to it with AddLeaf, or save elsewhere", ErrForeign, above)
		}
	}
	return nil
}

// scanOld returns the old tree at dir. If another save replaces it meanwhile, scanOld starts again.
func scanOld(dir string) (*oldTree, error) {
	for try := 0; ; try++ {
		before, err := os.Lstat(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err != nil {
			return &oldTree{}, nil
		}
		if !before.IsDir() { // such as a symbolic link, which came meanwhile
			return nil, fmt.Errorf("%w: got %s, want a directory to replace; save elsewhere", ErrForeign, kind(before))
		}
		old := &oldTree{info: before, modes: &vfs.Modes{Exact: true}}
		if err = old.open(dir); err == nil {
			return old, nil
		}
		old.unlock()
		after, _ := os.Lstat(dir)
		if try == 100 || os.SameFile(before, after) && !errors.Is(err, ErrReplaced) {
			return nil, err
		}
	}
}

// open opens the directory at dir and scans it. It returns ErrReplaced if that is not the directory
// of o.info. The path is used only once: two directories may change places there and back.
func (o *oldTree) open(dir string) (err error) {
	if o.dir, err = vfs.OpenRoot(dir); err != nil {
		return fmt.Errorf(".: %w", bare(err))
	}
	if is, err := o.dir.Lstat("."); err != nil || !os.SameFile(is, o.info) {
		return ErrReplaced
	}
	return o.scan(o.dir, "")
}

// scan records the permissions in a directory of the old tree, whose path there is at. It returns
// ErrForeign unless the directory is empty, or has a meta.json and no file that others than writers
// of this format make.
func (o *oldTree) scan(dir *vfs.Root, at string) error {
	info, err := dir.Lstat(".")
	var found []fs.DirEntry
	if err == nil {
		found, err = dir.ReadDir()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path.Join(at, "."), bare(err))
	}
	o.modes.Note(at, info)
	saved := slices.ContainsFunc(found, func(d fs.DirEntry) bool { return d.Name() == metaName })
	for _, d := range found {
		inner := path.Join(at, d.Name())
		switch {
		case litter(d.Name()):
		case saved && d.IsDir() && dir.Ours(d.Name()): // an addition that is under way
		case saved && d.IsDir():
			err = o.scanInner(dir, d.Name(), inner)
		case saved && d.Type().IsRegular() && ours(d.Name()) && (at == "" || d.Name() != lockName):
			if info, failed := dir.Lstat(d.Name()); failed == nil {
				o.modes.Note(inner, info)
			}
		case saved:
			err = fmt.Errorf("%w: %s would be lost; save elsewhere", ErrForeign, inner)
		default:
			err = fmt.Errorf("%w: %s would be lost, and no meta.json is beside it; save elsewhere", ErrForeign, inner)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// scanInner scans an inner directory. One of an addition may get its mark, or go, meanwhile.
func (o *oldTree) scanInner(dir *vfs.Root, name, at string) error {
	inner, err := dir.OpenRoot(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		err = fmt.Errorf("%s: %w", at, bare(err))
	default:
		err = o.scan(inner, at)
		_ = inner.Close() // nothing was written
	}
	if err == nil || !vfs.Reserved(name) {
		return err
	}
	if _, gone := dir.Lstat(name); dir.Ours(name) || errors.Is(gone, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ours reports whether writers of this format make files of that name.
func ours(name string) bool {
	return name == metaName || name == lockName || name == "other.pickle" || name == "pickle.pkl" ||
		name == tempMeta || name == addingName || strings.HasSuffix(name, leafExt)
}

// litter reports whether file managers leave files of that name in directories.
func litter(name string) bool {
	return name == ".DS_Store" || name == "Thumbs.db" || name == "desktop.ini" || strings.HasPrefix(name, "._")
}

// makeParent makes the directory that dir is in, and those around it, durably, if they are missing.
func makeParent(dir string) error {
	parent := filepath.Dir(dir)
	if _, err := os.Stat(parent); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := makeParent(parent); err != nil {
		return err
	}
	if err := os.Mkdir(parent, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return vfs.OS.SyncDir(filepath.Dir(parent))
}
