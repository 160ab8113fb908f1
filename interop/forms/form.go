package forms

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/internal/zipfile"
	"github.com/go-tensordict/tensordict/interop/internal/source"
)

// A Form is the format of a dataset on disk. The zero Form lets a function choose.
type Form uint8

// The forms.
const (
	Directory    Form = iota + 1 // a directory of mapped files, see package memmap
	Archive                      // such a directory in one file, NAME.tdz
	Npy                          // one array, NAME.npy; can open a structured array, too
	Npz                          // arrays with names, NAME.npz
	Safetensors                  // tensors with names, NAME.safetensors; can open NAME.index.json, too
	NRT                          // ragged tensors of one tree, NAME.nrt
	CSV                          // a table of comma-separated values, NAME.csv
	JSONL                        // a JSON object on each line, NAME.jsonl
	Consolidated                 // one buffer, as Python's consolidate writes it, NAME.tdc
	Arrow                        // a table, a file or a stream of Apache Arrow, NAME.arrow; needs a [Driver]
	Parquet                      // a table of Apache Parquet, NAME.parquet; needs a [Driver]
)

var names = []string{"", "directory", "tdz", "npy", "npz", "safetensors", "nrt", "csv", "jsonl", "tdc", "arrow", "parquet"}

// suffixes are further suffixes of files.
var suffixes = map[string]Form{".feather": Arrow, ".ipc": Arrow, ".pq": Parquet}

// Errors about inputs and outputs.
var (
	// ErrForm says that the form of a file is unknown.
	ErrForm = errors.New("unknown form")
	// ErrLoss says that a form cannot hold everything in a dataset; see [LossError].
	ErrLoss = errors.New("the form cannot hold all of it")
	// ErrOverlap says that an output is an input, is inside one, or contains one.
	ErrOverlap = errors.New("output overlaps an input")
)

// IsTable reports whether f is a table: a form that needs a schema to be read, and from which rows
// are read in order.
func (f Form) IsTable() bool { return f.isText() || f.needsDriver() }

func (f Form) isText() bool      { return f == CSV || f == JSONL }
func (f Form) needsDriver() bool { return f == Arrow || f == Parquet }
func (f Form) isDataset() bool   { return f == Directory || f == Archive || f == Consolidated }

// String returns the name of the form: "directory", or the suffix of a file without its dot.
func (f Form) String() string {
	if f == 0 || int(f) >= len(names) {
		return fmt.Sprintf("Form(%d)", uint8(f))
	}
	return names[f]
}

// UnmarshalText sets f to the form with the name text, as String returns it. For another text it
// returns [ErrForm], with a list of the names.
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

// For returns the form of an output by its name: a suffix in any case, such as .csv, or [Directory]
// if there is no suffix or the name ends in a slash. For an empty name or another suffix it returns
// [ErrForm], with a list of the forms.
func For(path string) (f Form, err error) {
	suffix := filepath.Ext(path)
	switch {
	case path == "":
	case os.IsPathSeparator(path[len(path)-1]), suffix == "", strings.Trim(filepath.Base(path), ".") == "":
		return Directory, nil
	case f.UnmarshalText([]byte(suffix[1:])) == nil && f != Directory:
		return f, nil
	case suffixes[strings.ToLower(suffix)] != 0:
		return suffixes[strings.ToLower(suffix)], nil
	case strings.HasSuffix(path, indexSuffix):
		return Safetensors, nil
	}
	return 0, fmt.Errorf("%w: got %s, want a name that ends in %s, or one without a dot for a directory",
		ErrForm, errtext.Quote(path), "."+strings.Join(names[2:], ", ."))
}

// indexSuffix ends the name of the index of a set of safetensors files.
const indexSuffix = ".index.json"

// Of returns the form of a file or directory. It looks at the first bytes and the last ones. It
// looks at the suffix if these are not enough: for text, for .nrt, which are safetensors files too,
// and for a .tdz that another program has zipped. It returns [ErrForm] if the form stays unknown,
// or if path is neither a directory nor a regular file, and errors of the system, such as
// fs.ErrNotExist.
func Of(path string) (Form, error) {
	info, err := stat(path)
	if err != nil {
		return 0, err
	} else if info.IsDir() {
		return Directory, nil
	}
	file, err := os.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return 0, err
	}
	defer file.Close() // nothing was written
	byName, unnamed := For(unzipped(file, path))
	f, err := sniff(file)
	if err != nil {
		return 0, err
	}
	if f != 0 && !(f == Safetensors && byName == NRT) && !(f == Npz && byName == Archive) {
		return f, nil
	}
	if err := notText(file); err != nil && (unnamed != nil || byName == Directory || byName.isText()) {
		return 0, fmt.Errorf("%w: %s: %w", ErrForm, errtext.Quote(path), err)
	}
	if suffix := strings.ToLower(filepath.Ext(path)); suffix == ".tsv" || suffix == ".txt" {
		return 0, fmt.Errorf("%w: %s may be csv: say so, with its separator", ErrForm, errtext.Quote(path))
	}
	if unnamed != nil || byName == Directory {
		return 0, fmt.Errorf("%w: neither the bytes nor the name of %s identify it: say one of %s", ErrForm, errtext.Quote(path), list())
	}
	return byName, nil
}

// unzipped returns the path of a compressed file without the suffix of the compression.
func unzipped(file *os.File, path string) string {
	head := make([]byte, 4)
	n, _ := io.ReadFull(io.NewSectionReader(file, 0, int64(len(head))), head)
	suffix := strings.ToLower(filepath.Ext(path))
	if name := source.Name(head[:n]); name == "gzip" && suffix == ".gz" || name == "zstd" && (suffix == ".zst" || suffix == ".zstd") {
		return path[:len(path)-len(suffix)]
	}
	return path
}

// notText returns an error, with what to do, if a file is UTF-16 without a mark or UTF-32, or if
// its beginning is compressed and damaged.
func notText(file *os.File) error {
	_, err := source.Open(io.NewSectionReader(file, 0, math.MaxInt64)).Read(make([]byte, 512))
	if errors.Is(err, source.ErrText) {
		return err
	}
	return nil
}

// stat returns the FileInfo of an input. It returns [ErrForm] for a pipe or a device, which cannot
// be read twice.
func stat(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%w: it is neither a directory nor a regular file: save it to a file first", ErrForm)}
	}
	return info, err
}

// sniff returns the form of a file by its first or last bytes, or 0.
func sniff(file *os.File) (Form, error) {
	if info, err := file.Stat(); err == nil && tdc.Ends(file, info.Size()) {
		return Consolidated, nil
	}
	head := make([]byte, 9)
	n, err := io.ReadFull(io.NewSectionReader(file, 0, int64(len(head))), head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return 0, err
	}
	head = head[:n]
	const maxHeader = 100 << 20 // maximum size of a safetensors header
	switch {
	case strings.HasPrefix(string(head), "\x93NUMPY"):
		return Npy, nil
	case strings.HasPrefix(string(head), "PK\x03\x04"), strings.HasPrefix(string(head), "PK\x05\x06"):
		if is, err := zipfile.StartsWith(file, "meta.json"); err == nil && is {
			return Archive, nil
		}
		return Npz, nil
	case strings.HasPrefix(string(head), "ARROW1"), strings.HasPrefix(string(head), "\xff\xff\xff\xff"): // a file, a stream
		return Arrow, nil
	case strings.HasPrefix(string(head), "PAR1"), strings.HasPrefix(string(head), "PARE"): // PARE is encrypted
		return Parquet, nil
	case n > 8 && head[8] == '{' && binary.LittleEndian.Uint64(head) <= maxHeader:
		return Safetensors, nil
	}
	return 0, nil
}
