package vfs

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	tempPrefix = ".saving-"
	tempRandom = 8 // letters and digits after it
)

// MakeTemp makes an empty directory beside dir, to be filled and handed to [Publish], and holds it
// until release: no [Sweep] takes it for a leftover. Its name has 16 bytes, whatever that of dir.
func MakeTemp(fsys FS, dir string, perm fs.FileMode) (tmp string, release func() error, err error) {
	for {
		tmp = filepath.Join(filepath.Dir(filepath.Clean(dir)), tempPrefix+rand.Text()[:tempRandom])
		err = fsys.Mkdir(tmp, perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		release, err = fsys.Hold(tmp)
		if err == nil {
			if _, err = fsys.Lstat(tmp); err == nil {
				return tmp, release, nil
			}
			err = errors.Join(err, release())
		}
		if !errors.Is(err, ErrHeld) && !errors.Is(err, fs.ErrNotExist) {
			return "", nil, errors.Join(err, fsys.RemoveAll(tmp))
		} // a Sweep came between: it takes what nobody holds yet
	}
}

// Sweep removes from the directory parent what [MakeTemp] made there for savers that are gone, as
// by kill: what nobody holds. Where directories cannot be locked it removes nothing. What cannot be
// removed does not keep it from the rest.
func Sweep(parent string) error {
	names, err := tempNames(parent)
	for _, name := range names {
		err = errors.Join(err, sweep(filepath.Join(parent, name)))
	}
	return err
}

// tempNames returns the names in the directory parent that MakeTemp may have made. It reads them
// all before any of them is removed, for removing while reading may skip some.
func tempNames(parent string) (temp []string, err error) {
	d, err := OpenFile(parent, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(1024)
		for _, name := range names {
			if tempName(name) {
				temp = append(temp, name)
			}
		}
		if err == io.EOF {
			return temp, nil
		}
		if err != nil {
			return temp, err
		}
	}
}

// Reserved reports whether a name is one that [MakeTemp] or [AsidePath] may give, so that what has
// it may be removed.
func Reserved(name string) bool { return tempName(name) || strings.HasPrefix(name, asidePrefix) }

// tempName reports whether MakeTemp makes such names.
func tempName(name string) bool {
	random, ok := strings.CutPrefix(name, tempPrefix)
	return ok && len(random) == tempRandom && strings.Trim(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// sweep removes a leftover, if it is one.
func sweep(tmp string) error {
	info, err := os.Lstat(tmp)
	if err != nil || !info.IsDir() {
		return nil // gone, or of somebody else
	}
	l, err := TryLock(tmp, Exclusive)
	if err != nil {
		return nil // held, gone, or not to be known
	}
	defer l.Unlock()
	if !l.At(tmp) {
		return nil
	}
	// An old tree that an exchange left here must not go before the exchange is durable.
	if err := syncDir(filepath.Dir(tmp)); err != nil {
		return err
	}
	return removeAll(tmp)
}
