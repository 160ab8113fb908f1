package vfs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// Sweep removes from the directory parent what [MakeTemp] made there for savers that are gone, as
// by kill: what has its mark, or its name and nothing in it, and nobody holds. Where directories
// cannot be locked it removes nothing. What cannot be removed does not keep it from the rest.
func Sweep(parent string) error {
	names, err := tempNames(parent)
	for _, name := range names {
		err = errors.Join(err, sweep(filepath.Join(parent, name)))
	}
	return err
}

// swept are the directories that this process has swept.
var swept struct {
	sync.Mutex
	parents map[string]bool
}

// firstIn reports whether it was not called before with this directory. It forgets them all when
// there are many.
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

// marked reports whether a directory has the mark of MakeTemp.
func marked(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, markName))
	return err == nil && info.Mode().IsRegular()
}

// sweep removes a leftover, if it is one.
func sweep(tmp string) error {
	info, err := os.Lstat(tmp)
	if err != nil || !info.IsDir() || !marked(tmp) && !given(tmp) {
		return nil // gone, or of somebody else
	}
	l, err := TryLock(tmp, Exclusive)
	if err != nil {
		return nil // held, gone, or not to be known
	}
	if !l.At(tmp) {
		return l.Unlock()
	}
	if !marked(tmp) {
		_ = os.Remove(tmp) // the saver had no time for more, or was removing it; if it is empty
		return l.Unlock()
	}
	// An old tree that an exchange left here must not go before the exchange is durable.
	if err := syncDir(filepath.Dir(tmp)); err != nil {
		return errors.Join(err, l.Unlock())
	}
	return newTemp(OS, tmp, l.Unlock).Remove()
}
