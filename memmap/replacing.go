package memmap

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/shapeops"
)

// A replacing says what a saver may replace.
type replacing uint8

const (
	replaceSaved   replacing = iota // a saved dictionary
	replaceEmpty                    // an empty directory
	replaceNothing                  // nothing
)

// look is replaceable for a saver that may not replace all of that. What comes to dir later,
// publishing refuses.
func (r replacing) look(dir string, batch shapeops.Shape) (*oldTree, error) {
	taken := r.taken(dir)
	if taken != nil && r == replaceNothing {
		return nil, taken
	}
	old, err := replaceable(dir, batch) // which may have a stronger reason
	if err != nil && r == replaceNothing {
		return nil, cmp.Or(r.taken(dir), err) // something came meanwhile
	}
	if err == nil && taken != nil {
		old.unlock()
		return nil, taken
	}
	return old, err
}

// taken returns fs.ErrExist if what is at dir must stay.
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
	if found, err := vfs.ReadDir(dir); err != nil || len(found) > 0 {
		return fmt.Errorf("%w: set Replace to replace a dataset", fs.ErrExist)
	}
	return nil
}
