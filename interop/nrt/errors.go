package nrt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/safetensors"
)

// What can be wrong with a file or a collection.
var (
	// ErrCorrupt says that a file does not hold what its format demands.
	ErrCorrupt = safetensors.ErrCorrupt
	// ErrUnsupported says that a file holds something that this package does not read, or that a
	// collection to be saved has something for which the format has no place.
	ErrUnsupported = safetensors.ErrUnsupported
	// ErrClosed says that a [File] was used after its Close, or was never opened.
	ErrClosed = mapping.ErrClosed
	// ErrLimit says that the process has as many mapped files as it may: half of vm.max_map_count on
	// Linux. Closing others, or raising that, makes room; files of up to 64 KiB are read instead.
	ErrLimit = mapping.ErrLimit
	// ErrFault says that mapped memory could not be read, most likely since another process cut the
	// file.
	ErrFault = mapping.ErrFault
)

// A FileError says which file is at fault, and where in it.
type FileError struct {
	Op   string // "open", "read", "save", "write" or "close"
	Path string // as it was given; "" for what is not a file
	Name string // of an array, "dim1/bounds"; "" for the whole
	Err  error
}

// maxText is how many bytes the text of a reason has at most, but for a few.
const maxText = 700

// Error returns the text: operation, path, array, reason. A reason that is very long, as names in a
// damaged file can make it, is cut in the middle.
func (e *FileError) Error() string {
	text := e.Op
	if e.Path != "" {
		text += " " + e.Path
	}
	if e.Name != "" {
		text += ": " + quote(e.Name)
	}
	return text + ": " + cut(fmt.Sprint(e.Err))
}

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Err }

// cut returns a text that is not very long, without its middle if need be.
func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText/2]+" ... "+text[len(text)-maxText/2:], "")
}

// quote quotes a name that comes from a file, cut if it is long.
func quote(name string) string {
	const most = 100
	if len(name) > most {
		return strconv.Quote(strings.ToValidUTF8(name[:most], "")) + "..."
	}
	return strconv.Quote(name)
}

// fileError returns err, if there is one, as a FileError, which it may be already.
func fileError(op, path, name string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*FileError](err); ok {
		return err
	}
	return &FileError{op, path, name, bare(err)}
}

// bare returns the reason of an error of the system, whose paths the caller adds.
func bare(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	}
	return err
}

// corrupt returns ErrCorrupt with what is wrong.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)
}

// unsupported returns ErrUnsupported with what it is that is not supported.
func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUnsupported}, args...)...)
}
