package forms

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// OpenOptions say how [Open] opens an input. The zero value is the default.
type OpenOptions struct {
	// Form is the form of the input; 0 means the form that [Of] returns.
	Form Form
	// Schema has the columns of a csv or jsonl file. If it is nil, a schema is inferred that fits
	// all rows, which are then read twice.
	Schema tdict.Schema
	// CSV is the syntax of csv files. It must have no Categories, since the texts of the codes
	// would be lost.
	CSV csv.Format
	// SkipPickled leaves out entries that Python has pickled, see memmap.OpenOptions, and calls
	// Note with each.
	SkipPickled bool
	// Note, if not nil, is called with each fact about an input that may surprise: why a column of
	// an inferred schema is text, that a header is a nested key, for a condition, that a leaf
	// counts as a mask by its name, and that a part of [Split] gets no rows.
	Note func(text string)

	raw       bool // Schema was inferred: a text of jsonl may be any value
	checkSums bool // compare checksums of what is read
	skipSums  bool // do not compare them, in forms that do so by default
}

// An Input is an opened dataset. Safe for concurrent use, as long as Dict and Schema do not change.
// Close must not be called while a chunk is in use.
type Input struct {
	Path string
	Form Form
	// Dict has the entries, whose elements are in mapped files. It is nil for csv and jsonl.
	Dict *tdict.TensorDict
	// Schema has the columns of the entries as a table. Ragged uint8 with one level is text, and so
	// is Data with a text for each row; with a number or a bool for each row it is a tensor. A bool
	// entry KEY_mask is a mask if the schema that was saved with the dataset says that KEY is
	// Optional: then it is not a column, and KEY is Optional here too.
	Schema tdict.Schema
	// Dataset is the opened Directory, Archive or Consolidated file. It is nil for other forms. Its
	// Schema is the schema that was saved with it.
	Dataset *memmap.Dataset
	// Metadata has the metadata of a Safetensors file.
	Metadata map[string]string

	opt  OpenOptions
	like *tdict.TensorDict // Dict, or a chunk without rows
	rows tdict.Schema      // of the chunks of a table
	file io.Closer         // nil for csv and jsonl
}

// ArrayKey is the key of the array in an .npy file. NumPy uses it for arrays without names.
const ArrayKey nestedkey.Key = "arr_0"

// Open opens a dataset for reading. It reads no element of a form that can be mapped. An array of
// .npy has the key [ArrayKey].
//
// The batch shape is the stored one if the form has one, as Directory, Archive, Consolidated and
// Safetensors do. A Safetensors file without a stored batch shape has the longest one with which
// all tensors begin. In other forms the batch shape is [N], or [] if the tensors do not have the
// same first dim.
//
// Open returns [ErrForm], csv.ErrFormat for a Format with Categories, and the errors of the package
// of the form, with the path.
func Open(path string, opt OpenOptions) (in *Input, err error) {
	if opt.Form, err = formOf(path, opt); err != nil {
		return nil, err
	}
	in = &Input{Path: path, Form: opt.Form, opt: opt}
	if opt.Form.isTable() {
		err = failed("open", path, in.openTable())
	} else if in.Dict, in.file, err = openMapped(path, opt); err == nil {
		in.like = in.Dict
		switch file := in.file.(type) {
		case *memmap.Dataset:
			in.Dataset = file
		case *safetensors.File:
			in.Metadata = file.Metadata()
		}
		in.Schema = schemaOf(in.Dict, in.saved())
	}
	if err != nil {
		return nil, err
	}
	return in, nil
}

func (opt *OpenOptions) note(text string) {
	if opt.Note != nil {
		opt.Note(text)
	}
}

// saved returns the schema that was saved with the input, or nil. For a table with a key that ends
// in _mask it is the schema of the chunks, which says which entries are masks.
func (in *Input) saved() tdict.Schema {
	switch {
	case in.Form.isTable() && slices.ContainsFunc(in.rows, func(s tdict.Spec) bool { return strings.HasSuffix(string(s.Key), maskSuffix) }):
		return in.rows
	case in.Dataset == nil:
		return nil
	}
	return in.Dataset.Schema()
}

// formOf returns the form of an input.
func formOf(path string, opt OpenOptions) (Form, error) {
	if opt.Form == 0 {
		return Of(path)
	}
	_, err := stat(path)
	return opt.Form, err
}

// openMapped opens a form whose elements can be mapped.
func openMapped(path string, opt OpenOptions) (*tdict.TensorDict, io.Closer, error) {
	switch opt.Form {
	case Directory, Archive, Consolidated:
		ds, err := memmap.OpenWith(path, opt.dataset(path))
		if err != nil {
			return nil, nil, err
		}
		return ds.TensorDict, ds, nil
	case Npy:
		return openArray(path, opt)
	case Npz:
		return openArrays(path, opt)
	case Safetensors:
		file, err := safetensors.Open(path)
		if err != nil {
			return nil, nil, err
		}
		return file.TensorDict, file, nil
	case NRT:
		file, err := nrt.Open(path)
		if err != nil {
			return nil, nil, err
		}
		td, err := file.Dict()
		return orClose(path, td, file, err)
	}
	return nil, nil, fmt.Errorf("%w: got %v, want %s", ErrForm, opt.Form, list())
}

// dataset returns the options to open a directory, an archive or a consolidated file.
func (opt *OpenOptions) dataset(path string) memmap.OpenOptions {
	return memmap.OpenOptions{CheckSums: opt.checkSums, SkipPickled: opt.SkipPickled, Skipped: func(file string) {
		opt.note(fmt.Sprintf("%s: left out %s: Python has pickled it, and pickles are never executed", path, filepath.Dir(file)))
	}}
}

// openArray opens an array, or a structured array, which has several.
func openArray(path string, opt OpenOptions) (*tdict.TensorDict, io.Closer, error) {
	file, err := npy.Open(path)
	if errors.Is(err, npy.ErrUnsupported) {
		if td, file, failed := openArrays(path, opt); failed == nil {
			return td, file, nil
		}
	}
	if err != nil {
		return nil, nil, err
	}
	td, err := tdict.FromMap(file.Shape()[:min(1, len(file.Shape()))], tdict.Entries{ArrayKey: file.Tensor})
	return orClose(path, td, file, err)
}

// openArrays opens arrays with names.
func openArrays(path string, opt OpenOptions) (*tdict.TensorDict, io.Closer, error) {
	file, err := npy.OpenDictWith(path, npy.DictOptions{BatchDims: 1, SkipSums: opt.skipSums})
	if err != nil {
		return nil, nil, err
	}
	return file.TensorDict, file, nil
}

// orClose returns the dictionary of a file. It closes the file if there is an error.
func orClose(path string, td *tdict.TensorDict, file io.Closer, err error) (*tdict.TensorDict, io.Closer, error) {
	if err != nil {
		return nil, nil, failed("open", path, errors.Join(err, file.Close()))
	}
	return td, file, nil
}

// openTable finds the schema of a table.
func (in *Input) openTable() (err error) {
	if len(in.opt.CSV.Categories) > 0 {
		return fmt.Errorf("%w: got Categories, whose texts would be lost, want none", csv.ErrFormat)
	}
	if in.opt.Schema == nil {
		if in.opt.Schema, err = infer(in.Form, []string{in.Path}, in.opt); err != nil {
			return err
		}
		in.opt.raw = true
	}
	if in.Schema = in.opt.Schema; len(in.Schema) == 0 {
		return fmt.Errorf("%w: got no columns, want one", tdict.ErrSchema)
	}
	if in.rows, err = chunkSchema(in.Form, in.Schema, in.opt.CSV); err != nil {
		return err
	}
	for i := range in.rows {
		if in.opt.raw {
			in.rows[i].Doc = "" // it describes the rows of this file
		}
	}
	in.like, err = in.rows.Zeros(0)
	return err
}

// chunkSchema returns the entries that chunks of a table have.
func chunkSchema(f Form, s tdict.Schema, format csv.Format) (tdict.Schema, error) {
	if f == CSV {
		return csv.ChunkSchema(s, format)
	}
	return jsonl.ChunkSchema(s, jsonl.ReadOptions{})
}

// An inferrer infers a schema from several files.
type inferrer interface {
	Add(r io.Reader, n int) error
	Schema() (tdict.Schema, error)
	Notes() []string
}

// infer returns a schema that fits all rows of several tables of one form.
func infer(f Form, paths []string, opt OpenOptions) (tdict.Schema, error) {
	var in inferrer = new(jsonl.Inferrer)
	if f == CSV {
		in = csv.NewInferrer(opt.CSV)
	}
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		err = in.Add(file, 0)
		_ = file.Close() // nothing was written
		if err != nil {
			return nil, failed("read", path, err)
		}
	}
	s, err := in.Schema()
	if err != nil {
		return nil, failed("read", paths[0], err)
	}
	for _, text := range in.Notes() {
		opt.note(paths[0] + ": " + text)
	}
	return s, nil
}

// Chunks returns an iterator over the rows, in order:
//
//	chunk [n R...], n > 0, or one chunk [0 R...] if there are no rows
//
// Chunks of mapped forms are views of about 4 MiB, or of one row. Chunks of tables are the chunks
// that csv.Read and jsonl.Read yield; each is valid until the next iteration. Chunks yields errors
// of reading, with the path, the cause of ctx, and shapeops.ErrDim for a dictionary without rows.
func (in *Input) Chunks(ctx context.Context) iter.Seq2[*tdict.TensorDict, error] {
	return in.chunks(ctx, func(int) {})
}

// chunks is Chunks, and calls progress with the numbers of bytes that were read.
func (in *Input) chunks(ctx context.Context, progress func(n int)) iter.Seq2[*tdict.TensorDict, error] {
	if in.Dict != nil {
		return counted(chunksOf(ctx, in.Dict), progress)
	}
	return func(yield func(*tdict.TensorDict, error) bool) {
		file, err := os.Open(in.Path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close() // nothing was written
		some := false
		for chunk, err := range in.parse(ctx, &counter{file, progress}) {
			some = true
			if err != nil && ctx.Err() == nil {
				err = failed("read", in.Path, err)
			}
			if !yield(chunk, err) || err != nil {
				return
			}
		}
		if !some {
			yield(in.like, nil)
		}
	}
}

// parse returns the rows of a table.
func (in *Input) parse(ctx context.Context, r io.Reader) iter.Seq2[*tdict.TensorDict, error] {
	if in.Form == CSV {
		return csv.Read(ctx, r, in.Schema, csv.ReadOptions{Format: in.opt.CSV})
	}
	return jsonl.Read(ctx, r, in.Schema, jsonl.ReadOptions{Raw: in.opt.raw})
}

// Losses lists the entries and properties of the dataset that a form cannot hold, or nil if it
// holds everything. These are not losses: the dtypes that a table does not store, since a schema
// has them, and the key of the only array in [Npy].
func (in *Input) Losses(to Form) []Loss {
	f := newFitting(in.like, to, in.Schema, nil)
	f.metadata(in.Metadata)
	return f.losses
}

// Close unmaps the files. Do not use elements of Dict and of views any more.
func (in *Input) Close() error {
	if in.file == nil {
		return nil
	}
	return in.file.Close()
}

// failed adds the path to an error that does not have it.
func failed(op, path string, err error) error {
	if where, ok := err.(*fs.PathError); err == nil || ok && where.Path == path {
		return err
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}
