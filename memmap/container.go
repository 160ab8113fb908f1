package memmap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/tensor"
)

// A container is the directory or file that a Dataset was opened from: a *mapfile.Set, an *archive
// or a *consolidated.
type container interface {
	// Replaced reports whether opening the path again would open another container. It returns
	// fs.ErrNotExist if nothing is there.
	Replaced() (bool, error)
	// MapAll maps all files that are not mapped yet.
	MapAll() error
	Closed() bool
	Close() error
	CloseWait(ctx context.Context) error
}

// A lender owns the bytes of a leaf. Its errors name the path of the leaf.
type lender interface {
	tensor.Lender
	// Path returns the path below the top of the container, with slashes.
	Path() string
	// Size returns the size of the leaf in bytes.
	Size() int
	// Advise tells the system how a part of the leaf will be read.
	Advise(a mapping.Advice, offset, size int) error
}

// container opens the directory or file of p. touch is the Touch of mapfile.Options.
func (p *opening) container(touch func(*mapfile.File) error) (container, error) {
	info, err := os.Stat(p.at)
	if err == nil && info.Mode().IsRegular() {
		in, err := p.file()
		return in, p.failAt("", err)
	}
	set, err := mapfile.Open(p.at, mapfile.Options{Writable: p.opt.Writable, Name: p.named, Touch: touch})
	if err != nil && info != nil && !info.IsDir() {
		err = &absent{fmt.Errorf("%w: got a file of %d bytes, want a directory or an archive", ErrForeign, info.Size()), bare(err)}
	}
	if err != nil {
		return nil, p.failAt("", err)
	}
	return set, nil
}

// file opens the file of p: as a consolidated file if it ends like one or has the name of one, and
// otherwise as an archive.
func (p *opening) file() (in container, err error) {
	file, err := mapfile.OpenSingle(p.at, p.named)
	if err != nil {
		return nil, err
	}
	if tdc.Ends(file, int64(file.Size())) || namedForm(p.at) == Consolidated {
		in, err = containerOr(p.consolidated(file))
	} else {
		in, err = containerOr(p.archive(file))
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return in, nil
}

// containerOr returns in, or a nil container with an error. A nil *archive would be a container
// that is not nil.
func containerOr[C container](in C, err error) (container, error) {
	if err != nil {
		return nil, err
	}
	return in, nil
}

// toDirectory returns ErrUnsupported for an operation that only a directory has.
func toDirectory() error {
	return unsupported("an archive or a consolidated file is not changed in place: memmap.Copy it to a directory first")
}

// checkDirectory returns ErrUnsupported if a single file of a dictionary is at a path, or if
// nothing is there and a single file has such a name.
func checkDirectory(at string) error {
	is, err := formAt(at)
	if _, missing := os.Stat(at); is > Directory || errors.Is(missing, fs.ErrNotExist) && namedForm(at) > Directory {
		return toDirectory()
	}
	return err
}
