package forms

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/zipfile"
)

// A Form is how a dataset lies on disk. The zero Form stands for a choice that a function makes.
type Form uint8

// The forms.
const (
	Directory    Form = iota + 1 // a directory of mapped files, see package memmap
	Archive                      // such a directory in one file, NAME.tdz
	Npy                          // one array, NAME.npy; opened also structured arrays
	Npz                          // arrays with names, NAME.npz
	Safetensors                  // tensors with names, NAME.safetensors; opened also NAME.index.json
	NRT                          // ragged tensors of one tree, NAME.nrt
	CSV                          // a table of comma-separated values, NAME.csv
	JSONL                        // a JSON object on each line, NAME.jsonl
	Consolidated                 // such a directory in one buffer, as Python's consolidate writes it, NAME.tdc
)

var names = []string{"", "directory", "tdz", "npy", "npz", "safetensors", "nrt", "csv", "jsonl", "tdc"}

// What can be wrong with an input or an output.
var (
	// ErrForm says that neither a name nor a file tells a form.
	ErrForm = errors.New("unknown form")
	// ErrLoss says that a form cannot hold all of a dataset; see [LossError].
	ErrLoss = errors.New("the form cannot hold all of it")
	// ErrOverlap says that an output is an input, or lies in one, or around it.
	ErrOverlap = errors.New("output overlaps an input")
)

func (f Form) isTable() bool   { return f == CSV || f == JSONL }
func (f Form) isDataset() bool { return f == Directory || f == Archive || f == Consolidated }

// String returns the name of the form: "directory", or the suffix of a file without its dot.
func (f Form) String() string {
	if f == 0 || int(f) >= len(names) {
		return fmt.Sprintf("Form(%d)", uint8(f))
	}
	return names[f]
}

// UnmarshalText sets f to the form of a name that String returns. It returns [ErrForm], with a list
// of the names, for another text.
func (f *Form) UnmarshalText(text []byte) error {
	i := slices.Index(names[1:], strings.ToLower(string(text)))
	if i < 0 {
		return fmt.Errorf("%w: got %s, want %s", ErrForm, errtext.Quote(string(text)), list())
	}
	*f = Form(i + 1)
	return nil
}

// list returns the names of all forms.
func list() string {
	last := len(names) - 1
	return strings.Join(names[1:last], ", ") + " or " + names[last]
}

// For returns the form of an output by its name: a suffix in any case, as .csv, or [Directory] for
// a name that has none or ends in a slash. It returns [ErrForm], with a list of the forms, for an
// empty name and for any other suffix.
func For(path string) (f Form, err error) {
	suffix := filepath.Ext(path)
	switch {
	case path == "":
	case os.IsPathSeparator(path[len(path)-1]), suffix == "", strings.Trim(filepath.Base(path), ".") == "":
		return Directory, nil
	case f.UnmarshalText([]byte(suffix[1:])) == nil && f != Directory:
		return f, nil
	case strings.HasSuffix(path, indexSuffix):
		return Safetensors, nil
	}
	return 0, fmt.Errorf("%w: got %s, want a name that ends in %s, or one without a dot for a directory",
		ErrForm, errtext.Quote(path), "."+strings.Join(names[2:], ", ."))
}

// indexSuffix ends the name of the index of a set of safetensors files.
const indexSuffix = ".index.json"

// Of returns the form of a file or directory. It looks at the first bytes and the last ones, and at
// the suffix where they do not tell, as for text, for .nrt, which are safetensors files too, and
// for a .tdz that another program has zipped. It returns [ErrForm] if neither tells or the path is
// neither a directory nor a regular file, and errors of the system, such as fs.ErrNotExist.
func Of(path string) (Form, error) {
	info, err := stat(path)
	if err != nil {
		return 0, err
	} else if info.IsDir() {
		return Directory, nil
	}
	file, err := vfs.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return 0, err
	}
	defer file.Close() // it was only read
	byName, unnamed := For(path)
	if f := sniff(file); f != 0 && !(f == Safetensors && byName == NRT) && !(f == Npz && byName == Archive) {
		return f, nil
	}
	if suffix := strings.ToLower(filepath.Ext(path)); suffix == ".tsv" || suffix == ".txt" {
		return 0, fmt.Errorf("%w: %s may be csv: say so, with its separator", ErrForm, errtext.Quote(path))
	}
	if unnamed != nil || byName == Directory {
		return 0, fmt.Errorf("%w: neither the bytes nor the name of %s tell it: say one of %s", ErrForm, errtext.Quote(path), list())
	}
	return byName, nil
}

// stat returns a FileInfo of an input, and [ErrForm] for a pipe or a device, which cannot be read
// twice.
func stat(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%w: it is neither a directory nor a regular file: save it to a file first", ErrForm)}
	}
	return info, err
}

// sniff returns the form that the first bytes of a file tell, or the last ones, or 0.
func sniff(file *os.File) Form {
	if info, err := file.Stat(); err == nil && tdc.Ends(file, info.Size()) {
		return Consolidated
	}
	head := make([]byte, 9)
	n, _ := io.ReadFull(io.NewSectionReader(file, 0, int64(len(head))), head)
	head = head[:n]
	const maxHeader = 100 << 20 // of safetensors
	switch {
	case strings.HasPrefix(string(head), "\x93NUMPY"):
		return Npy
	case strings.HasPrefix(string(head), "PK\x03\x04"), strings.HasPrefix(string(head), "PK\x05\x06"):
		if is, err := zipfile.StartsWith(file, "meta.json"); err == nil && is {
			return Archive
		}
		return Npz
	case n > 8 && head[8] == '{' && binary.LittleEndian.Uint64(head) <= maxHeader:
		return Safetensors
	}
	return 0
}
