package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Sweep removes from the directory parent the directories that [MakeTemp] made for savers that are
// gone, for example because they were killed: directories that nobody holds and that have the mark
// of MakeTemp, or a name from MakeTemp and no content. It keeps those with the old tree of a
// [Publish] that ended between two renames. Where directories cannot be locked it removes nothing.
// If one cannot be removed, Sweep continues with the others.
func Sweep(parent string) error {
	names, err := tempNames(parent)
	for _, name := range names {
		err = errors.Join(err, sweep(filepath.Join(parent, name)))
	}
	return err
}

// swept has the directories that this process has swept.
var swept struct {
	sync.Mutex
	parents map[string]bool
}

// firstIn reports whether this is the first call with this directory. It forgets all directories
// when there are many.
func firstIn(parent string) bool {
	parent, err := filepath.Abs(parent)
	if err != nil {
		return false
	}
	swept.Lock()
	defer swept.Unlock()
	if swept.parents == nil || len(swept.parents) == 1<<12 {
		swept.parents = map[string]bool{}
	}
	first := !swept.parents[parent]
	swept.parents[parent] = true
	return first
}

// tempNames returns the names in parent that MakeTemp may have made. It reads all names before any
// is removed, since removing while reading may skip some.
func tempNames(parent string) (temp []string, err error) {
	d, err := os.OpenFile(parent, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(1024)
		for _, name := range names {
			if Reserved(name) {
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

// marked reports whether a directory has the mark of MakeTemp.
func marked(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, markName))
	return err == nil && info.Mode().IsRegular()
}

// sweep removes tmp if it is a leftover.
func sweep(tmp string) error {
	info, err := os.Lstat(tmp)
	if err != nil || !info.IsDir() || !marked(tmp) && !given(tmp) {
		return nil // gone, or not from MakeTemp
	}
	l, err := TryLock(tmp, Exclusive)
	if err != nil {
		return nil // held, gone, or cannot be locked
	}
	if !l.At(tmp) {
		return l.Unlock()
	}
	if !marked(tmp) {
		_ = os.Remove(tmp) // removes it only if it is empty: the saver was killed before the mark or during Remove
		return l.Unlock()
	}
	if _, err := os.Lstat(filepath.Join(tmp, newName+oldSuffix)); !errors.Is(err, fs.ErrNotExist) {
		return l.Unlock() // perhaps the only copy
	}
	// An old tree that an exchange left here must not be removed before the exchange is durable.
	if err := syncDir(filepath.Dir(tmp)); err != nil {
		return errors.Join(err, l.Unlock())
	}
	return newTemp(OS, tmp, l.Unlock).Remove()
}
