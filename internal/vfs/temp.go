package vfs

import (
	"errors"
	"io/fs"
	"path/filepath"
)

const (
	markName = ".saving" // a file in each directory of MakeTemp, until Remove
	newName  = "new"     // the tree or file to move to its place
)

// A Temp is a directory in which a saver makes the tree or file to be moved to its place. Only
// [Temp.New] is moved. Not safe for concurrent use.
type Temp struct {
	fsys    FS
	dir     string
	made    string // path of the new tree or file, in dir
	release func() error
}

// MakeTemp makes a directory beside dir, and holds it until Remove or Release, so that no [Sweep]
// removes it. Its name has 16 bytes, whatever the length of dir's name. Nobody but its owner may
// enter it, whatever is in it.
//
// On [OS], the first call of a process for a parent directory sweeps it. Leftovers that cannot be
// removed do not prevent the save.
func MakeTemp(fsys FS, dir string) (*Temp, error) {
	parent := filepath.Dir(filepath.Clean(dir))
	if fsys == OS && firstIn(parent) {
		_ = Sweep(parent)
	}
	for {
		t := newTemp(fsys, filepath.Join(parent, newTempName()), nil)
		err := fsys.Mkdir(t.dir, 0o700)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err = t.mark(); err == nil {
			return t, nil
		}
		if !errors.Is(err, ErrHeld) && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		} // a Sweep removed it before it was held and marked: try again
	}
}

func newTemp(fsys FS, dir string, release func() error) *Temp {
	return &Temp{fsys, dir, filepath.Join(dir, newName), release}
}

// mark holds the directory and marks it. After an error the directory is removed.
func (t *Temp) mark() (err error) {
	if t.release, err = t.fsys.Hold(t.dir); err != nil {
		return errors.Join(err, t.fsys.RemoveAll(t.dir))
	}
	f, err := t.fsys.Create(filepath.Join(t.dir, markName), 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return errors.Join(err, t.Remove())
	}
	return nil
}

// New returns the path at which to make the tree or file.
func (t *Temp) New() string { return t.made }

// Remove removes the directory with its content.
func (t *Temp) Remove() error {
	err := t.fsys.RemoveAll(t.New())
	if err == nil { // otherwise the mark stays, for a Sweep
		err = t.fsys.RemoveAll(t.dir)
	}
	return errors.Join(err, t.Release())
}

// Release stops holding the directory, so that a Sweep may remove it.
func (t *Temp) Release() error { return t.release() }
