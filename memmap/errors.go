package memmap

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/vfs"
)

// What can be wrong with a directory, a file or a key.
var (
	// ErrCorrupt says that a directory does not hold what its format demands.
	ErrCorrupt = fileformat.ErrCorrupt
	// ErrUnsupported says that a directory, or a dictionary to be saved, holds something that this
	// module does not read or write, or does not in the way that was asked for.
	ErrUnsupported = fileformat.ErrUnsupported
	// ErrName says that a key has no name in the format.
	ErrName = fileformat.ErrName
	// ErrForeign says that what is to be opened is not a saved dictionary, or that a directory to
	// be replaced holds files that no dictionary wrote, or is part of a dictionary around it that
	// it would not fit any more.
	ErrForeign = errors.New("not a saved dictionary")
	// ErrReplaced says that a directory was replaced after it was opened, as by Save: a leaf was
	// wanted for the first time, or what was written will be seen by nobody. What was mapped before
	// stays; to read what is there now, open the directory again, or use [Live].
	ErrReplaced = mapfile.ErrReplaced
	// ErrBusy says that another has a directory to itself: a [Writer] that has not finished, a
	// process that sets checksums in it for longer than [OpenOptions].Wait, or one that replaces it
	// for longer than ten seconds.
	ErrBusy = errors.New("in use by a writer")
	// ErrClosed says that a dictionary, a [Writer] or a [Live] was used after its Close, or was
	// never opened.
	ErrClosed = mapping.ErrClosed
	// ErrLimit says that the process has as many mapped files as it may: half of vm.max_map_count
	// on Linux. Closing others, or raising that, makes room; see [OpenOptions].
	ErrLimit = mapping.ErrLimit
	// ErrFault says that mapped memory could not be read, most likely since another process cut the
	// file.
	ErrFault = mapping.ErrFault
)

// A FileError says which file of a saved dictionary is at fault.
type FileError struct {
	Op   string // "save", "open", "read", "copy", "flush", "close", "create", "add", "append", "verify" ...
	Dir  string // the directory or archive, as it was given
	Path string // relative to Dir, with slashes; "" for the directory itself
	Err  error
}

// maxText is how many bytes the text of an error has at most, but for a few.
const maxText = 900

// Error returns the text: operation, directory, path, reason. One that is very long, as names in a
// damaged file can make it, is cut in the middle.
func (e *FileError) Error() string {
	text := e.Op + " " + e.Dir + ": "
	if e.Path != "" && e.Path != "." {
		text += printable(e.Path) + ": "
	}
	return errtext.Cut(text+fmt.Sprint(e.Err), maxText)
}

// printable returns a path in which what a terminal would obey, and not show, is escaped.
func printable(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strings.Trim(strconv.Quote(path), `"`)
	}
	return path
}

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Err }

// fileError returns err as a FileError, which it may be already, without naming a file twice.
func fileError(op, dir, path string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*FileError](err); ok {
		return err
	}
	if e, ok := errors.AsType[*fileformat.Error](err); ok { // about an entry of an archive
		return &FileError{op, dir, e.Name, e.Err}
	}
	return &FileError{op, dir, path, bare(err)}
}

// bare returns the reason of an error of the system, whose paths the caller adds.
func bare(err error) error {
	if e, ok := err.(*vfs.PublishError); ok {
		if e.Left != "" {
			return fmt.Errorf("%v (old tree: %s): %w", e.State, e.Left, bare(e.Err))
		}
		return fmt.Errorf("%v: %w", e.State, bare(e.Err))
	}
	return errtext.Bare(err)
}

var corrupt, unsupported = fileformat.Corrupt, fileformat.Unsupported

// quote quotes a name that comes from a file.
func quote(name string) string { return errtext.Quote(name) }

// unfinished returns ErrBusy for what only a Writer can go on with.
func unfinished() error {
	return fmt.Errorf("%w: a Writer has not finished it: go on with NewWriter, and Finish", ErrBusy)
}
