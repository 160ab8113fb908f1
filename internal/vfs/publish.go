package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"
)

// Publish makes the finished directory tmp appear at dir, whole or not at all. It replaces the
// directory that old describes, or nothing if old is nil. After it returned nil, the new tree is at
// dir, durably, and the old one and tmp are gone.
//
// tmp must be [Temp.New] of a [MakeTemp] beside dir, or be beside dir itself, with the parent
// directory spelled the same way. All files in it, and all directories below it, must have been
// synced. dir is a directory or absent; anything else, such as a symbolic link, is [fs.ErrExist].
//
// # Crashes
//
// After a crash at any time, dir is the complete old tree (or nothing, if there was none) or the
// complete new one, and an unneeded tree may be at tmp. There is one exception, on file systems
// that cannot exchange two directories in one step, such as NFS: between two renames dir is absent,
// and the complete old tree is at tmp with ".old" behind it. Renaming it back repairs that. A
// [Sweep] never removes it.
//
// # Errors
//
// If another directory than old is at dir, Publish returns [fs.ErrExist] and does not replace it;
// if old is gone, [fs.ErrNotExist]. A directory that comes just before the exchange is noticed
// after it, and exchanged back; a crash between the two leaves it at tmp, complete, but a [Sweep]
// may remove it. Every error is a [*PublishError].
//
// Not safe for concurrent use on one dir. Readers may open dir at any time, with the exception
// above.
func Publish(fsys FS, tmp, dir string, old fs.FileInfo) error {
	p := publication{fsys: fsys, tmp: filepath.Clean(tmp), dir: filepath.Clean(dir), old: old}
	info, err := p.prepare()
	if err == nil {
		err = p.checkOld(info)
	}
	if err == nil && info != nil {
		err = keepGroup(p.tmp, info)
	}
	if err != nil {
		return p.fail(Untouched, "", err)
	}
	was, err := p.swap(info != nil)
	if err != nil {
		return err
	}
	return p.complete(was)
}

// PublishNew is [Publish] that never replaces anything, whoever else publishes at the same time. It
// returns [fs.ErrExist], with State [Untouched], if anything is at dir, unless it is an empty
// directory and overEmpty is set. Safe for concurrent use on one dir: one of several calls
// succeeds.
func PublishNew(fsys FS, tmp, dir string, overEmpty bool) error {
	p := publication{fsys: fsys, tmp: filepath.Clean(tmp), dir: filepath.Clean(dir)}
	_, err := p.prepare()
	if err == nil {
		err = fsys.RenameNew(p.tmp, p.dir, overEmpty)
	}
	if err != nil {
		return p.fail(Untouched, "", err)
	}
	return p.complete("")
}

// A publication is one call of Publish.
type publication struct {
	fsys     FS
	tmp, dir string      // clean
	old      fs.FileInfo // of the directory to replace, or nil
}

// fail returns the error of a publication that ends in state s.
func (p publication) fail(s State, left string, err error) error {
	return &PublishError{Dir: p.dir, State: s, Left: left, Err: err}
}

func (p publication) parent() string { return filepath.Dir(p.dir) }

// prepare does the steps before the switch. It returns the description of dir, or nil if dir is
// absent.
func (p publication) prepare() (fs.FileInfo, error) {
	if err := p.checkPaths(); err != nil {
		return nil, err
	}
	if err := p.fsys.SyncDir(p.tmp); err != nil {
		return nil, err
	}
	info, err := p.lookup(p.dir) // last, since others may change it
	if info != nil && !info.IsDir() {
		err = fmt.Errorf("%w and is not a directory", fs.ErrExist)
	}
	return info, err
}

// checkOld returns an error unless info describes the directory to replace.
func (p publication) checkOld(info fs.FileInfo) error {
	switch {
	case info == nil && p.old == nil:
		return nil
	case info == nil:
		return fs.ErrNotExist
	case p.old == nil || FileID(info, p.dir) != FileID(p.old, p.dir):
		return fs.ErrExist
	}
	return nil
}

// checkPaths returns an error if tmp and dir cannot be switched by renaming entries of one
// directory.
func (p publication) checkPaths() error {
	name := filepath.Base(p.dir)
	switch {
	case name == "." || name == ".." || p.parent() == p.dir:
		return fmt.Errorf("%w: the path does not end in a name", fs.ErrInvalid)
	case filepath.Dir(p.tmp) != p.parent() && !p.inTemp():
		return fmt.Errorf("%w: %s is not in the same directory", fs.ErrInvalid, p.tmp)
	case p.tmp == p.dir:
		return fmt.Errorf("%w: %s is taken", fs.ErrInvalid, p.tmp)
	}
	return nil
}

// inTemp reports whether tmp is in a directory of MakeTemp beside dir.
func (p publication) inTemp() bool {
	above, name := filepath.Split(filepath.Dir(p.tmp))
	return Reserved(name) && filepath.Clean(above) == p.parent()
}

// lookup returns the description of path, or nil if it does not exist.
func (p publication) lookup(path string) (fs.FileInfo, error) {
	info, err := p.fsys.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return info, err
}

// complete makes the switch durable, and only then removes the old tree: if it were removed before,
// a crash could bring back a tree with parts missing.
func (p publication) complete(old string) error {
	if err := p.fsys.SyncDir(p.parent()); err != nil {
		return p.fail(Unsynced, old, err)
	}
	if old == "" {
		return nil
	}
	err := p.fsys.RemoveAll(old)
	for try := 0; errors.Is(err, fs.ErrExist) && try < 100; try++ { // not empty: who has it open makes files in it
		time.Sleep(time.Millisecond)
		err = p.fsys.RemoveAll(old)
	}
	if err != nil {
		return p.fail(Leftover, old, err)
	}
	return nil
}
