package vfs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Publish makes the finished directory tmp appear at dir, whole or not at all, in place of the
// directory that old describes, nil for nothing. After it returned nil the new tree is at dir,
// durably; the old one, if there was any, is gone, and so is tmp.
//
// tmp must be [Temp.New] of a [MakeTemp] beside dir, or lie beside dir itself, with the parent
// directory spelled the same way. All files in it, and all directories below it, must have been
// synced. dir is a directory or absent; anything else,
// such as a symbolic link, is refused with [fs.ErrExist].
//
// # Crashes
//
// A crash at any moment leaves at dir the complete old tree (or nothing, if there was none) or the
// complete new one, and perhaps a tree nobody needs at tmp or [AsidePath](dir). There is one
// exception, on systems that cannot exchange two directories in one step: between two renames dir
// is absent, and the complete old tree is at AsidePath(dir). Renaming it back is the remedy;
// publishing again works too.
//
// # Errors
//
// Another directory than old is not replaced: that is [fs.ErrExist], and [fs.ErrNotExist] if old is
// gone; the State is [Untouched]. Look at what is there, and publish again to replace it. What comes
// to dir in the very moment of the switch is replaced all the same; see [PublishOver].
//
// Every error is a [*PublishError], whose State says what the disk holds. Whatever it is, the old
// tree is complete somewhere or the new one is durable. The old tree may now be at tmp, so after an
// error remove tmp only if the State is [Untouched] or [Leftover].
//
// Not safe for concurrent use on one dir. Readers may open dir at any time, subject to the
// exception.
func Publish(fsys FS, tmp, dir string, old fs.FileInfo) error {
	return publication{fsys: fsys, tmp: filepath.Clean(tmp), dir: filepath.Clean(dir), old: old}.publish()
}

// PublishOver is [Publish] where whatever comes to dir just before the exchange must stay, too: it
// is seen after it, and exchanged back. A crash between the two leaves it at tmp, complete, but to
// be taken by a [Sweep]. It is for directories of which others do not say that they are at work.
func PublishOver(fsys FS, tmp, dir string, old fs.FileInfo) error {
	return publication{fsys: fsys, tmp: filepath.Clean(tmp), dir: filepath.Clean(dir), old: old, firm: true}.publish()
}

func (p publication) publish() error {
	info, err := p.prepare()
	if err == nil {
		err = p.checkOld(info)
	}
	if err != nil {
		return p.fail(Untouched, "", err)
	}
	was, err := p.swap(info != nil)
	if err != nil {
		return err
	}
	return p.settle(was)
}

// PublishNew is [Publish] where nothing is replaced, whoever else publishes at the same time: it
// returns [fs.ErrExist], and the State is [Untouched], if anything is at dir, unless that is an
// empty directory and overEmpty is set, or if a crash has left an old tree at [AsidePath](dir).
// Safe for concurrent use on one dir: of several calls one succeeds.
func PublishNew(fsys FS, tmp, dir string, overEmpty bool) error {
	p := publication{fsys: fsys, tmp: filepath.Clean(tmp), dir: filepath.Clean(dir)}
	_, err := p.prepare()
	if err == nil {
		err = p.noneAside()
	}
	if err == nil {
		err = fsys.RenameNew(p.tmp, p.dir, overEmpty)
	}
	if err != nil {
		return p.fail(Untouched, "", err)
	}
	return p.settle("")
}

// noneAside returns fs.ErrExist if a crash has left an old tree aside.
func (p publication) noneAside() error {
	aside := AsidePath(p.dir)
	info, err := p.lookup(aside)
	if info != nil {
		return fmt.Errorf("%w: a crash has left it at %s", fs.ErrExist, aside)
	}
	return err
}

const asidePrefix = ".aside-"

// AsidePath returns the name, beside dir, under which the old tree waits while [Publish] replaces
// it without Exchange. The name belongs to Publish: what a crash left there is removed by a later
// Publish. It has 23 bytes, whatever that of dir, which may be as long as names can be: ".aside-"
// and the first 8 bytes, in hexadecimal, of the SHA-256 of the name of dir.
func AsidePath(dir string) string {
	parent, name := filepath.Split(filepath.Clean(dir))
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(parent, asidePrefix+hex.EncodeToString(sum[:8]))
}

// A publication is one call of Publish.
type publication struct {
	fsys     FS
	tmp, dir string      // clean
	old      fs.FileInfo // of what is to be replaced, nil for nothing
	firm     bool        // also what comes in the moment of the switch is to stay
}

// fail returns the error of a publication that ends in state s.
func (p publication) fail(s State, left string, err error) error {
	return &PublishError{Dir: p.dir, State: s, Left: left, Err: err}
}

func (p publication) parent() string { return filepath.Dir(p.dir) }

// prepare does what must come before the switch and describes what is at dir, nil if nothing is.
func (p publication) prepare() (fs.FileInfo, error) {
	if err := p.checkPaths(); err != nil {
		return nil, err
	}
	if err := p.fsys.SyncDir(p.tmp); err != nil {
		return nil, err
	}
	info, err := p.lookup(p.dir) // last, since others may be at work
	if info != nil && !info.IsDir() {
		err = fmt.Errorf("%w and is no directory", fs.ErrExist)
	}
	return info, err
}

// checkOld returns an error unless info describes what is to be replaced.
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

// checkPaths reports why tmp and dir cannot be switched by renaming entries of one directory.
func (p publication) checkPaths() error {
	name := filepath.Base(p.dir)
	switch {
	case name == "." || name == ".." || p.parent() == p.dir:
		return fmt.Errorf("%w: the directory has no name of its own", fs.ErrInvalid)
	case filepath.Dir(p.tmp) != p.parent() && !p.inTemp():
		return fmt.Errorf("%w: %s is not in the same directory", fs.ErrInvalid, p.tmp)
	case p.tmp == p.dir || p.tmp == AsidePath(p.dir):
		return fmt.Errorf("%w: %s is taken", fs.ErrInvalid, p.tmp)
	}
	return nil
}

// inTemp reports whether tmp is in a directory of MakeTemp beside dir.
func (p publication) inTemp() bool {
	above, name := filepath.Split(filepath.Dir(p.tmp))
	return tempName(name) && filepath.Clean(above) == p.parent()
}

// lookup returns the description of path, nil if it does not exist.
func (p publication) lookup(path string) (fs.FileInfo, error) {
	info, err := p.fsys.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return info, err
}

// settle makes the switch durable, and only then removes the old tree: removed earlier, a crash
// could bring back a tree of which half is gone.
func (p publication) settle(old string) error {
	if err := p.fsys.SyncDir(p.parent()); err != nil {
		return p.fail(Unsynced, old, err)
	}
	if old == "" {
		return nil
	}
	if err := p.fsys.RemoveAll(old); err != nil {
		return p.fail(Leftover, old, err)
	}
	return nil
}
