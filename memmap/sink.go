package memmap

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/go-tensordict/tensordict/internal/vfs"
)

// A dirSink is a directory that is being written beside the one that it replaces. Nobody sees it
// before commit. All methods but commit and abort are safe for concurrent use.
type dirSink struct {
	disk   vfs.FS
	dir    string // clean and free of links
	noSync bool
	may    replacing

	// Set by make:
	temp  *vfs.Temp
	modes *vfs.Modes
	old   fs.FileInfo // of the directory to replace; nil if nothing is there
}

// make makes the directory, which is to replace old, and calls fill to write it. What k makes gets
// old.modes or, if these are nil, the Modes of ctx. After an error there is nothing to abort.
func (k *dirSink) make(ctx context.Context, old *oldTree, fill func(*dirSink) error) (err error) {
	if k.temp, err = vfs.MakeTemp(k.disk, k.dir); err != nil {
		return err
	}
	k.old, k.modes = old.info, vfs.ModesFor(ctx)
	if old.modes != nil {
		k.modes = old.modes.Else(k.modes)
	}
	if err = k.node(""); err == nil {
		err = fill(k)
	}
	if err != nil {
		return errors.Join(err, k.abort())
	}
	return nil
}

func (k *dirSink) os(at string) string { return filepath.Join(k.temp.New(), filepath.FromSlash(at)) }

// node makes a directory, after the one around it, with the permissions of the old one at the same
// path. make has made the top.
func (k *dirSink) node(at string) error {
	mode := k.modes.Dir(at)
	err := k.disk.Mkdir(k.os(at), mode.Perm())
	if k.modes.Exact && err == nil {
		err = k.disk.Chmod(k.os(at), mode)
	}
	return err
}

// file makes a file and calls fill to write it. The caller must call syncClose, which makes the
// file durable and closes it. That takes long, so the caller runs many at a time.
func (k *dirSink) file(at string, fill func(vfs.File) error) (syncClose func() error, err error) {
	f, err := k.disk.Create(k.os(at), k.modes.File(at))
	if err != nil {
		return nil, err
	}
	if err := fill(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error { return k.syncClose(at, f) }, nil
}

// syncClose makes a file durable and closes it.
func (k *dirSink) syncClose(at string, f vfs.File) error {
	var err error
	if !k.noSync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if k.modes.ExactFiles() {
		return k.disk.Chmod(k.os(at), k.modes.File(at))
	}
	return nil
}

// wholeFile makes a file, as file does, and makes it durable.
func (k *dirSink) wholeFile(at string, fill func(vfs.File) error) error {
	syncClose, err := k.file(at, fill)
	if err != nil {
		return err
	}
	return syncClose()
}

// An existing is a file on the same disk that is taken over.
type existing struct {
	path   string
	info   fs.FileInfo // of its Lstat
	copied bool        // not linked
}

// take gives a second name to an existing file, or copies it. It returns ErrReplaced if another
// file is at its path by now.
func (k *dirSink) take(f *existing, at string) error {
	if f.copied {
		return k.copy(f, at)
	}
	err := k.disk.Link(f.path, k.os(at))
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil { // a file system without hard links
		return k.copy(f, at)
	}
	is, err := k.disk.Lstat(k.os(at))
	if err == nil {
		err = f.check(is)
	}
	if err != nil || k.may == replaceOld { // files of a Writer keep their permissions
		return err
	}
	return k.chmod(at, is)
}

// chmod gives the permissions of k.modes to a file that has others.
func (k *dirSink) chmod(at string, is fs.FileInfo) error {
	mode := k.modes.File(at)
	if !k.modes.ExactFiles() {
		mode &= is.Mode() // the umask applied to it
	}
	if mode == is.Mode().Perm() {
		return nil
	}
	return k.disk.Chmod(k.os(at), mode)
}

// check returns ErrReplaced unless is describes the file f.
func (f *existing) check(is fs.FileInfo) error {
	if vfs.FileID(is, f.path) != vfs.FileID(f.info, f.path) {
		return ErrReplaced
	}
	return nil
}

// copy copies an existing file.
func (k *dirSink) copy(f *existing, at string) error {
	r, err := os.OpenFile(f.path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer r.Close()
	is, err := r.Stat()
	if err == nil {
		err = f.check(is)
	}
	if err != nil {
		return err
	}
	return k.wholeFile(at, func(w vfs.File) error { _, err := io.Copy(w, r); return err })
}

// seal makes a directory durable, after everything in it.
func (k *dirSink) seal(at string) error {
	if k.noSync {
		return nil
	}
	return k.disk.SyncDir(k.os(at))
}

// publish puts the directory in its place. appeared reports whether it has left the temporary
// directory, or must stay there for a person to move it, so that there is nothing to abort.
// Otherwise nothing has changed, and publish can be called again.
func (k *dirSink) publish() (appeared bool, err error) {
	lock, err := k.lockOld()
	if err != nil {
		return false, err
	}
	if lock != nil {
		defer lock.Unlock()
	}
	switch k.may {
	case replaceSaved, replaceOld:
		err = vfs.Publish(k.disk, k.temp.New(), k.dir, k.old)
	default:
		err = vfs.PublishNew(k.disk, k.temp.New(), k.dir, k.may == replaceEmpty)
	}
	if e, ok := errors.AsType[*vfs.PublishError](err); ok && e.State == vfs.Untouched {
		return false, err
	}
	if err != nil { // the rest of the old tree may be needed
		return true, errors.Join(err, k.temp.Release())
	}
	return true, vfs.Done("the new tree is in place, but a temporary directory was not removed", k.temp.Remove())
}

// lockOld locks the meta.json of the directory to be replaced, while publish checks that the
// directory is still there and replaces it: of two processes that saw the same directory only one
// replaces it. The lock is nil if the file is missing, may not be opened, or cannot be locked.
func (k *dirSink) lockOld() (*vfs.Lock, error) {
	if k.old == nil {
		return nil, nil
	}
	opt := OpenOptions{Wait: 10 * time.Second}
	l, err := opt.await(func() (*vfs.Lock, error) {
		return vfs.TryLock(filepath.Join(k.dir, metaName), vfs.Exclusive)
	})
	for _, none := range []error{fs.ErrNotExist, fs.ErrPermission, errors.ErrUnsupported} {
		if errors.Is(err, none) {
			return nil, nil
		}
	}
	return l, err
}

// commit puts the directory in its place. If another process has put a directory there meanwhile,
// commit checks that one too, and replaces it only if that is allowed. After an error there is
// nothing to abort.
func (k *dirSink) commit() error {
	for try := 0; ; try++ {
		appeared, err := k.publish()
		if appeared {
			return err
		}
		another := errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist)
		if another && k.may == replaceOld {
			err = ErrReplaced
		}
		if !another || k.may != replaceSaved || try == 100 {
			return errors.Join(err, k.abort())
		}
		old, err := replaceable(k.dir)
		if err != nil {
			return errors.Join(err, k.abort())
		}
		defer old.unlock()
		if err := k.replaces(old); err != nil {
			return errors.Join(err, k.abort())
		}
	}
}

// replaces makes k replace old, with the permissions of old.
func (k *dirSink) replaces(old *oldTree) error {
	k.old = old.info
	if old.modes == nil {
		return nil
	}
	k.modes = old.modes.Else(k.modes)
	top := k.temp.New()
	return filepath.WalkDir(top, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, at)
		if err != nil {
			return err
		}
		rel = path.Clean("/" + filepath.ToSlash(rel))[1:]
		if d.IsDir() {
			return k.disk.Chmod(at, k.modes.Dir(rel))
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return k.chmod(rel, info)
	})
}

// abort removes what was written.
func (k *dirSink) abort() error { return k.temp.Remove() }
