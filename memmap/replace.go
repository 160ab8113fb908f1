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
	"github.com/go-tensordict/tensordict/shapeops"
)

// lockName is the name of the file that a Writer holds locked while it is at work in a directory.
const lockName = ".lock"

// An oldTree is the directory that a save replaces.
type oldTree struct {
	info  fs.FileInfo // of the directory; nil if there is none
	dir   *os.File    // open, so that no other directory gets its inode number
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

// replaceable returns the tree at dir, an absolute path without links, if a dictionary of the given
// batch shape may replace it, and otherwise an error.
func replaceable(dir string, batch shapeops.Shape) (*oldTree, error) {
	if holdsWorkingDir(dir) {
		return nil, fmt.Errorf("%w: the working directory is the directory to replace, or below it: change to another one first", fs.ErrInvalid)
	}
	if err := checkAround(dir, batch); err != nil {
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
		err = fmt.Errorf("%w: a Writer has it open: Finish or Close it first", ErrBusy)
	}
	old.unlock()
	return nil, err
}

// scanOld returns the old tree at dir. If another save replaces it meanwhile, scanOld starts again.
func scanOld(dir string) (*oldTree, error) {
	for try := 0; ; try++ {
		before, _ := os.Lstat(dir)
		old := &oldTree{info: before}
		if before != nil && before.IsDir() {
			old.modes = &vfs.Modes{Exact: true}
			old.dir, _ = vfs.OpenFile(dir, os.O_RDONLY, 0) // scan returns the error
		}
		err := old.scan(dir, "")
		if err == nil {
			return old, nil
		}
		old.unlock()
		if try == 100 {
			return nil, err
		}
		after, _ := os.Lstat(dir)
		if before == nil || after == nil || os.SameFile(before, after) {
			return nil, err
		}
	}
}

// scan records the permissions in a directory of the old tree. It returns ErrForeign for a file
// that no writer of this format makes, and for files without a meta.json.
func (o *oldTree) scan(dir, at string) error {
	info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(at)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	found, err := vfs.ReadDir(filepath.Join(dir, filepath.FromSlash(at)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path.Join(at, "."), bare(err))
	}
	if o.modes != nil {
		o.modes.Note(at, info)
	}
	if err := o.checkRemovable(dir, at, found); err != nil {
		return err
	}
	saved := slices.ContainsFunc(found, func(d fs.DirEntry) bool { return d.Name() == metaName })
	for _, d := range found {
		inner := path.Join(at, d.Name())
		switch {
		case d.IsDir():
			err = o.scanInner(dir, inner)
		case litter(d.Name()):
		case saved && d.Type().IsRegular() && ours(d.Name()):
			if info, failed := d.Info(); failed == nil && o.modes != nil {
				o.modes.Note(inner, info)
			}
		default:
			err = fmt.Errorf("%w: %s would be lost; save elsewhere", ErrForeign, inner)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// scanInner scans an inner directory, unless it belongs to an addition that is under way: such a
// directory may get its mark, or go, during the scan.
func (o *oldTree) scanInner(dir, at string) error {
	path := filepath.Join(dir, filepath.FromSlash(at))
	if vfs.Ours(path) {
		return nil
	}
	err := o.scan(dir, at)
	if err == nil || !vfs.Reserved(filepath.Base(path)) {
		return err
	}
	if _, gone := os.Lstat(path); vfs.Ours(path) || errors.Is(gone, fs.ErrNotExist) {
		return nil
	}
	return err
}

// checkRemovable returns ErrForeign for a directory of directories without a meta.json, which may
// be anybody's datasets, and ErrBusy if a Writer is at work in a directory below the top.
func (o *oldTree) checkRemovable(dir, at string, found []fs.DirEntry) error {
	saved := false
	for _, d := range found {
		saved = saved || d.Name() == metaName
		if d.Name() != lockName || at == "" {
			continue
		}
		l, err := vfs.TryLock(filepath.Join(dir, filepath.FromSlash(at), lockName), vfs.Exclusive)
		if errors.Is(err, vfs.ErrHeld) {
			return fmt.Errorf("%w: a Writer has %s open: Finish or Close it first", ErrBusy, at)
		}
		if err == nil {
			_ = l.Unlock() // nothing was written
		}
	}
	for _, d := range found {
		if !saved && at == "" && d.IsDir() {
			return fmt.Errorf("%w: it has no meta.json, and %s in it would be lost; save elsewhere", ErrForeign, d.Name())
		}
	}
	return nil
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

// checkAround returns ErrForeign if dir is an entry of a saved dictionary around it in which a
// dictionary of the given batch shape would not fit.
func checkAround(dir string, batch shapeops.Shape) error {
	if err := checkMember(dir); err != nil {
		return err
	}
	above := filepath.Dir(dir)
	m, err := readNode(above)
	if err != nil { // no dictionary around it
		return nil
	}
	name := filepath.Base(dir)
	if m.isPool() {
		return fmt.Errorf("%w: it would be in a ragged leaf, %s: save elsewhere", ErrForeign, above)
	}
	if m.instance != nil && name == classDir {
		return fmt.Errorf("%w: it is the dictionary of %s, a %s: save the %[3]s as a whole", ErrForeign, above, quote(m.class))
	}
	if dictClasses[m.class] && m.old() { // such a meta.json lists no dictionaries: all in it are entries
		if err := batch.CheckPrefix(m.shape); err != nil {
			return fmt.Errorf("%w: it would be an entry of %s: %w", ErrForeign, above, err)
		}
	}
	for i := range m.entries {
		e := &m.entries[i]
		if !e.isNode() || fileName(e.name) != name && e.name != name {
			continue
		}
		if !dictClasses[e.class] {
			return fmt.Errorf("%w: it is an entry of %s, a %s: save %[2]s as a whole", ErrForeign, above, quote(e.class))
		}
		if is, err := readNode(dir); err == nil && is.isPool() {
			return fmt.Errorf("%w: it is a ragged leaf of %s: save %[2]s as a whole", ErrForeign, above)
		}
		if err := batch.CheckPrefix(m.shape); err != nil {
			return fmt.Errorf("%w: it is an entry of %s: %w", ErrForeign, above, err)
		}
	}
	return nil
}

// checkMember returns ErrForeign if dir is a member of a lazy stack, or an entry in one: its values
// must be of the kinds that the other members have.
func checkMember(dir string) error {
	for at, above := dir, filepath.Dir(dir); above != at; at, above = above, filepath.Dir(above) {
		m, err := readNode(above)
		name := filepath.Base(at)
		switch {
		case err != nil:
			return nil
		case m.class == lazyClass && strings.Trim(name, "0123456789") == "":
			return fmt.Errorf("%w: it is in the lazy stack in %s, as a member or within one: save the stack as a whole", ErrForeign, above)
		case m.instance != nil && name == classDir: // of the instance in above
		case m.number(name) < 0:
			return nil
		}
	}
	return nil
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
