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

// A container is what a Dataset was opened from: a *mapfile.Set, which is a directory, an
// *archive, or a *consolidated.
type container interface {
	// Replaced reports whether opening the path again would open another container. It returns
	// fs.ErrNotExist if there is none.
	Replaced() (bool, error)
	// MapAll maps everything that is not mapped yet.
	MapAll() error
	Closed() bool
	Close() error
	CloseWait(ctx context.Context) error
}

// A lender has the bytes of a leaf. Errors name its path.
type lender interface {
	tensor.Lender
	// Path returns the path below the top of the container, with slashes.
	Path() string
	// Size returns how many bytes the leaf has.
	Size() int
	// Advise tells the system how a part of the leaf will be read.
	Advise(a mapping.Advice, offset, size int) error
}

// container opens what is at the path. touch is the Touch of mapfile.Options.
func (p *place) container(touch func(*mapfile.File) error) (container, error) {
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

// file opens the file at the path: one whose end or name says that it is consolidated, and
// otherwise an archive.
func (p *place) file() (in container, err error) {
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

// containerOr returns in, or nil with an error, rather than an interface of a nil pointer.
func containerOr[C container](in C, err error) (container, error) {
	if err != nil {
		return nil, err
	}
	return in, nil
}

// toDirectory returns ErrUnsupported for what only a directory can do.
func toDirectory() error {
	return unsupported("a single file is not changed in place: work in a directory; memmap.Copy converts both ways")
}

// checkDirectory returns ErrUnsupported if a single file of a dictionary is at a path, or nothing
// is and its name is that of one.
func checkDirectory(at string) error {
	is, err := formAt(at)
	if _, missing := os.Stat(at); is > Directory || errors.Is(missing, fs.ErrNotExist) && namedForm(at) > Directory {
		return toDirectory()
	}
	return err
}
