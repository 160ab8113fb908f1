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

// checkOutput returns the resolved path of an output. It returns an error if the output overlaps an
// input, exists, has no parent directory, or if a memmap.Writer is writing it or a dataset that
// contains it.
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

// checkApart returns [ErrOverlap] if an output and an input, with links resolved, overlap.
func checkApart(at, from string) error {
	in, err := vfs.Resolve(from)
	if err != nil {
		return failed("open", from, err)
	}
	switch {
	case sameFile(at, in):
		return fmt.Errorf("%w: it is the input %s", ErrOverlap, from)
	case within(at, in):
		return fmt.Errorf("%w: it is inside the input %s", ErrOverlap, from)
	case within(in, at):
		return fmt.Errorf("%w: it contains the input %s", ErrOverlap, from)
	case strings.HasSuffix(in, indexSuffix) && sameFile(filepath.Dir(in), filepath.Dir(at)) && filepath.Ext(at) == ".safetensors":
		return fmt.Errorf("%w: it may belong to the set of files %s", ErrOverlap, from)
	}
	return nil
}

// within reports whether path is inside another.
func within(path, above string) bool {
	for up := filepath.Dir(path); up != path; path, up = up, filepath.Dir(up) {
		if sameFile(up, above) {
			return true
		}
	}
	return false
}

// sameFile reports whether two paths are one file or directory: hard links, or names that differ in
// case on a system that ignores case.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// lockName is the file in a directory that a memmap.Writer keeps locked.
const lockName = ".lock"

// checkIdle returns memmap.ErrBusy if a Writer is writing a directory or a dataset that contains
// it.
func checkIdle(at string) error {
	for {
		l, err := vfs.TryLock(filepath.Join(at, lockName), vfs.Exclusive)
		if errors.Is(err, vfs.ErrHeld) {
			return fmt.Errorf("%w: in %s", memmap.ErrBusy, at)
		}
		if err == nil {
			_ = l.Unlock() // nothing was done under it
		}
		above := filepath.Dir(at)
		if _, err := os.Lstat(filepath.Join(above, "meta.json")); err != nil || above == at {
			return nil
		}
		at = above
	}
}
