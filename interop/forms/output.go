package forms

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
)

// checkOutput returns the resolved path of an output, or says why it must not be written: it
// overlaps an input, a memmap.Writer is at work in it or around it, something is there, or no
// directory is around it.
func checkOutput(to string, from []string, force bool) (string, error) {
	at, err := vfs.Resolve(to)
	if err != nil {
		return "", failed("save", to, err)
	}
	for _, path := range from {
		if err := checkApart(at, path); err != nil {
			return "", failed("save", to, err)
		}
	}
	if err := checkIdle(at); err != nil {
		return "", failed("save", to, err)
	}
	if _, err := os.Lstat(at); err == nil && !force {
		return "", failed("save", to, fmt.Errorf("%w: set Force to replace it", fs.ErrExist))
	}
	if _, err := os.Stat(filepath.Dir(at)); err != nil {
		return "", err
	}
	return at, nil
}

// checkApart returns [ErrOverlap] unless an output and an input, links resolved, lie apart.
func checkApart(at, from string) error {
	in, err := vfs.Resolve(from)
	if err != nil {
		return failed("open", from, err)
	}
	switch {
	case sameFile(at, in):
		return fmt.Errorf("%w: it is the input %s", ErrOverlap, from)
	case within(at, in):
		return fmt.Errorf("%w: it lies in the input %s", ErrOverlap, from)
	case within(in, at):
		return fmt.Errorf("%w: the input %s lies in it", ErrOverlap, from)
	case strings.HasSuffix(in, indexSuffix) && sameFile(filepath.Dir(in), filepath.Dir(at)) && filepath.Ext(at) == ".safetensors":
		return fmt.Errorf("%w: it may be a file of the set %s", ErrOverlap, from)
	}
	return nil
}

// within reports whether a path lies below another.
func within(path, above string) bool {
	for up := filepath.Dir(path); up != path; path, up = up, filepath.Dir(up) {
		if sameFile(up, above) {
			return true
		}
	}
	return false
}

// sameFile reports whether two paths are one file or directory, as hard links are, and names that
// differ in case where the system ignores it.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// lockName is the file that a memmap.Writer holds locked in a directory while it is at work.
const lockName = ".lock"

// checkIdle returns memmap.ErrBusy if a Writer is at work in a directory or in a dataset around it.
func checkIdle(at string) error {
	for {
		l, err := vfs.TryLock(filepath.Join(at, lockName), vfs.Exclusive)
		if errors.Is(err, vfs.ErrHeld) {
			return fmt.Errorf("%w: in %s", memmap.ErrBusy, at)
		}
		if err == nil {
			_ = l.Unlock() // it was only asked for
		}
		above := filepath.Dir(at)
		if _, err := os.Lstat(filepath.Join(above, "meta.json")); err != nil || above == at {
			return nil
		}
		at = above
	}
}
