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

// The errors of this package. All but ErrClosed and ErrLimit are about a directory, a file or a
// key.
var (
	// ErrCorrupt says that a directory or file breaks the rules of its format.
	ErrCorrupt = fileformat.ErrCorrupt
	// ErrUnsupported says one of two things: a saved dictionary, or a dictionary to be saved, holds
	// a value that this module does not read or write; or an operation cannot be used on a saved
	// dictionary of this form.
	ErrUnsupported = fileformat.ErrUnsupported
	// ErrName says that the format has no name for a key.
	ErrName = fileformat.ErrName
	// ErrForeign says that the path to open is not a saved dictionary, or that the path to save to
	// is not a whole one: it holds files that are not part of the format, or lies within another
	// saved dictionary.
	ErrForeign = errors.New("not a saved dictionary")
	// ErrReplaced says that a directory was replaced (by Save, for example) after it was opened.
	// Either a leaf that was not mapped yet was used, or elements were written that are lost to
	// every reader of the new version. Leaves that were mapped before stay readable. To read the
	// new version, open the directory again, or use [Live].
	ErrReplaced = mapfile.ErrReplaced
	// ErrBusy says that a directory cannot be written or replaced now:
	//
	//   - A [Writer] has it open.
	//   - It was to be opened Writable, but a Writer has not finished it.
	//   - A Writer was to append to it, but a Dataset has it open Writable.
	//   - Another process has been setting checksums in it, or changing a meta.json in it, for
	//     longer than [OpenOptions].Wait.
	//   - Another process has been replacing it or, if [AppendMember] returns ErrBusy, changing
	//     its meta.json, for longer than ten seconds.
	ErrBusy = errors.New("in use by a writer")
	// ErrDone says that an operation has done its work, although it returned an error. The error
	// says what is not as it should be: a crash may bring the old state back, since the disk could
	// not be synced, or something that is no longer needed was not removed.
	//
	// After an error of [Save], [SaveRows], [Copy], [AppendMember] or [Dataset.AddLeaf], everything
	// is as before, unless errors.Is finds ErrDone in the error; then everything is as after
	// success. The same holds for the functions of package forms. There are two exceptions:
	// directories around the path that were missing may be there; and where two directories cannot
	// be exchanged in one step, an error whose text says that the old tree was moved aside. For a
	// [Writer] see [Writer.Commit].
	ErrDone = vfs.ErrDone
	// ErrClosed says that a dictionary, a [Writer] or a [Live] was used after its Close, or was
	// never opened.
	ErrClosed = mapping.ErrClosed
	// ErrLimit says that the process has reached its limit of mapped files, which is half of
	// vm.max_map_count on Linux. Close other datasets, or raise vm.max_map_count; see
	// [OpenOptions].
	ErrLimit = mapping.ErrLimit
	// ErrFault says that mapped memory could not be read, most likely because another process
	// truncated the file.
	ErrFault = mapping.ErrFault
)

// A DatasetError is an error about one file of a saved dictionary.
type DatasetError struct {
	Op   string // "save", "open", "read", "copy", "flush", "close", "create", "add", "append", "verify" ...
	Dir  string // the directory or file of the dictionary, as the caller named it
	Path string // relative to Dir, with slashes; "" for the directory itself
	Err  error
}

// maxText bounds the text of an error, in bytes; a few more may be added.
const maxText = 900

// Error returns the operation, the directory, the path and the reason. A very long text, which
// names in a damaged file can cause, is cut in the middle.
func (e *DatasetError) Error() string {
	text := e.Op + " " + e.Dir + ": "
	if e.Path != "" && e.Path != "." {
		text += printable(e.Path) + ": "
	}
	return errtext.Cut(text+fmt.Sprint(e.Err), maxText)
}

// printable returns a path in which control characters are escaped, because terminals obey them.
func printable(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strings.Trim(strconv.Quote(path), `"`)
	}
	return path
}

// Unwrap returns the reason.
func (e *DatasetError) Unwrap() error { return e.Err }

// fileError returns err as a DatasetError; nil stays nil, and an error that is a DatasetError stays
// as it is, so that no file is named twice.
func fileError(op, dir, path string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*DatasetError](err); ok {
		return err
	}
	if e, ok := errors.AsType[*fileformat.Error](err); ok { // about an entry of an archive
		return &DatasetError{op, dir, e.Name, e.Err}
	}
	return &DatasetError{op, dir, path, bare(err)}
}

// bare returns the reason of an error of the system without its paths, which the caller adds.
func bare(err error) error {
	if e, ok := err.(*vfs.PublishError); ok {
		state := e.State.String()
		if e.Left != "" {
			state += fmt.Sprintf(" (old tree: %s)", e.Left)
		}
		if errors.Is(e, vfs.ErrDone) {
			return vfs.Done(state, bare(e.Err))
		}
		return fmt.Errorf("%s: %w", state, bare(e.Err))
	}
	return errtext.Bare(err)
}

var corrupt, unsupported = fileformat.Corrupt, fileformat.Unsupported

// quote quotes a name that was read from a file.
func quote(name string) string { return errtext.Quote(name) }

// unfinished returns ErrBusy for an operation on a dataset that a Writer has not finished.
func unfinished() error {
	return fmt.Errorf("%w: a Writer has not finished it: call NewWriter, then Finish", ErrBusy)
}
