package memmap

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// A replacing says which directories may be replaced.
type replacing uint8

const (
	replaceSaved   replacing = iota // a saved dictionary
	replaceEmpty                    // an empty directory
	replaceNothing                  // nothing
	replaceOld                      // only the directory that a Writer has locked
)

// look returns the tree at dir if a saver may replace it, as replaceable does, and fs.ErrExist if r
// forbids that. Publishing refuses directories that come later.
func (r replacing) look(dir string) (*oldTree, error) {
	taken := r.taken(dir)
	if taken != nil && r == replaceNothing {
		return nil, taken
	}
	old, err := replaceable(dir) // its error goes before taken
	if err != nil && r == replaceNothing {
		return nil, cmp.Or(r.taken(dir), err) // a directory came meanwhile
	}
	if err == nil && taken != nil {
		old.unlock()
		return nil, taken
	}
	return old, err
}

// taken returns fs.ErrExist if r forbids to replace the directory at dir.
func (r replacing) taken(dir string) error {
	_, err := os.Lstat(dir)
	switch {
	case r == replaceSaved || errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case r == replaceNothing:
		return fmt.Errorf("%w: NoReplace is set", fs.ErrExist)
	}
	if found, err := os.ReadDir(dir); err != nil || len(found) > 0 {
		return fmt.Errorf("%w: set Replace to replace a dataset", fs.ErrExist)
	}
	return nil
}
