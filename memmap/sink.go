package memmap

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/shapeops"
)

// A sink is a container that is written. Nothing of it is seen before commit. Its methods, but for
// commit and abort, are safe for concurrent use.
type sink interface {
	// node makes a node, after the one around it.
	node(at string) error
	// file makes a file in a node and has fill write it. It returns a function, which must be
	// called, that makes what was written durable: that takes long, and many can be under way.
	file(at string, fill func(vfs.File) error) (syncClose func() error, err error)
	// link gives an existing file, which is on the same disk, a second name; of is its Lstat. It
	// returns ErrReplaced if another file has the first name by now.
	link(from string, of fs.FileInfo, at string) error
	// copy is link, but makes a file of its own.
	copy(from string, of fs.FileInfo, at string) error
	// seal makes a node durable, after all that is in it.
	seal(at string) error
	// commit makes it all appear, a dictionary of that batch shape. After an error there is nothing
	// to abort.
	commit(batch shapeops.Shape) error
	// abort removes what was written.
	abort() error
}

// A dirSink is a directory beside the one that it replaces, as a sink.
type dirSink struct {
	disk   vfs.FS
	dir    string // clean and free of links
	temp   *vfs.Temp
	modes  modes
	noSync bool
	old    fs.FileInfo // of what it replaces; nil for nothing
	firm   bool        // whatever else is there by then is not replaced
	may    replacing
}

// newDirSink makes the directory that is to become dir, in place of old.
func newDirSink(disk vfs.FS, dir string, old *oldTree, noSync bool) (*dirSink, error) {
	temp, err := vfs.MakeTemp(disk, dir, 0o777)
	if err != nil {
		return nil, err
	}
	k := &dirSink{disk: disk, dir: dir, temp: temp, old: old.info, modes: old.modes, noSync: noSync}
	if err := k.makeNode(""); err != nil {
		return nil, errors.Join(err, k.abort())
	}
	return k, nil
}

func (k *dirSink) os(at string) string { return filepath.Join(k.temp.New(), filepath.FromSlash(at)) }

func (k *dirSink) node(at string) error {
	if at == "" {
		return nil
	}
	return k.makeNode(at)
}

// makeNode makes a directory, with the permissions of the one that it replaces.
func (k *dirSink) makeNode(at string) error {
	err := k.disk.Mkdir(k.os(at), 0o777)
	if mode, ok := k.modes.dir(at); ok && err == nil {
		err = k.disk.Chmod(k.os(at), mode)
	}
	return err
}

func (k *dirSink) file(at string, fill func(vfs.File) error) (syncClose func() error, err error) {
	f, err := k.disk.Create(k.os(at))
	if err != nil {
		return nil, err
	}
	if err := fill(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error { return k.syncClose(at, f) }, nil
}

// settle makes a file durable and closes it.
func (k *dirSink) syncClose(at string, f vfs.File) error {
	var err error
	if !k.noSync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if mode, ok := k.modes.file(at); ok {
		return k.disk.Chmod(k.os(at), mode)
	}
	return nil
}

// wholeFile is file of a sink, and settle at once.
func wholeFile(k sink, at string, fill func(vfs.File) error) error {
	syncClose, err := k.file(at, fill)
	if err != nil {
		return err
	}
	return syncClose()
}

func (k *dirSink) link(from string, of fs.FileInfo, at string) error {
	err := k.disk.Link(from, k.os(at))
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil { // a file system without hard links
		return k.copy(from, of, at)
	}
	is, err := k.disk.Lstat(k.os(at))
	if err == nil {
		err = checkSame(is, of, from)
	}
	if mode, ok := k.modes.file(at); ok && err == nil && !k.firm { // a Writer's files keep theirs
		err = k.disk.Chmod(k.os(at), mode)
	}
	return err
}

// checkSame returns ErrReplaced unless two infos of the file at a path are of one file.
func checkSame(is, of fs.FileInfo, at string) error {
	if vfs.FileID(is, at) != vfs.FileID(of, at) {
		return ErrReplaced
	}
	return nil
}

func (k *dirSink) copy(from string, of fs.FileInfo, at string) error {
	r, err := vfs.OpenFile(from, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer r.Close()
	is, err := r.Stat()
	if err == nil {
		err = checkSame(is, of, from)
	}
	if err != nil {
		return err
	}
	return wholeFile(k, at, func(w vfs.File) error { _, err := io.Copy(w, r); return err })
}

func (k *dirSink) seal(at string) error {
	if k.noSync {
		return nil
	}
	return k.disk.SyncDir(k.os(at))
}

// publish puts the directory in its place, and reports whether it is there now: then there is
// nothing to abort. If it is not, nothing has changed, and it can be tried again.
func (k *dirSink) publish() (appeared bool, err error) {
	lock, err := k.lockOld()
	if err != nil {
		return false, err
	}
	if lock != nil {
		defer lock.Unlock()
	}
	switch {
	case k.firm:
		err = vfs.PublishOver(k.disk, k.temp.New(), k.dir, k.old)
	case k.may == replaceSaved:
		err = vfs.Publish(k.disk, k.temp.New(), k.dir, k.old)
	default:
		err = vfs.PublishNew(k.disk, k.temp.New(), k.dir, k.may == replaceEmpty)
	}
	e, ok := errors.AsType[*vfs.PublishError](err)
	switch {
	case ok && e.State == vfs.Untouched:
		return false, err
	case ok && e.State == vfs.Leftover:
		err = k.removeOld(e.Left)
	}
	if err != nil { // what is left may be needed
		return true, errors.Join(err, k.temp.Release())
	}
	return true, k.temp.Remove()
}

// lockOld locks the meta.json of the directory to be replaced, while publish looks whether that
// directory is still there and replaces it: of two processes that saw the same directory only one
// replaces it. The lock is nil if the file is gone, may not be opened, or cannot be locked.
func (k *dirSink) lockOld() (*vfs.Lock, error) {
	if k.old == nil || openBlocksRename {
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

// removeOld removes the old tree, in which others may still make files: they have it open.
func (k *dirSink) removeOld(at string) error {
	for try := 0; ; try++ {
		err := k.disk.RemoveAll(at)
		if !errors.Is(err, fs.ErrExist) || try == 100 { // not empty
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// What another has put there since it was looked at is looked at too, and replaced only if it may
// be.
func (k *dirSink) commit(batch shapeops.Shape) error {
	for try := 0; ; try++ {
		appeared, err := k.publish()
		if appeared {
			return err
		}
		another := errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist)
		if another && k.firm {
			err = ErrReplaced
		}
		if !another || k.firm || k.may != replaceSaved || try == 100 {
			return errors.Join(err, k.abort())
		}
		old, err := replaceable(k.dir, batch)
		if err != nil {
			return errors.Join(err, k.abort())
		}
		defer old.unlock()
		k.old = old.info
	}
}

func (k *dirSink) abort() error { return k.temp.Remove() }

// modes are the permissions in a directory that is replaced. New files and directories get those of
// the old ones at the same path, or else of some old leaf, and of the old directory itself.
type modes struct {
	dirs, files map[string]fs.FileMode // by path
	leaf        fs.FileMode            // of some leaf; 0 if there is none
}

func newModes() modes { return modes{map[string]fs.FileMode{}, map[string]fs.FileMode{}, 0} }

func (m modes) dir(at string) (fs.FileMode, bool) {
	if mode, ok := m.dirs[at]; ok {
		return mode, true
	}
	mode, ok := m.dirs[""]
	return mode, ok
}

func (m modes) file(at string) (fs.FileMode, bool) {
	if mode, ok := m.files[at]; ok {
		return mode, true
	}
	if path.Base(at) == metaName {
		mode, ok := m.files[metaName]
		return mode, ok
	}
	return m.leaf, m.leaf != 0
}

// note takes down the permissions of a file or directory of the old tree.
func (m *modes) note(at string, info fs.FileInfo) {
	mode := info.Mode() & (fs.ModePerm | fs.ModeSetgid)
	if info.IsDir() {
		m.dirs[at] = mode
		return
	}
	m.files[at] = mode
	if strings.HasSuffix(at, leafExt) && m.leaf == 0 {
		m.leaf = mode
	}
}
