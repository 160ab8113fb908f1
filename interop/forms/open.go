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
	// Schema has the columns of a table. If it is nil, a schema is inferred: for csv and jsonl a
	// schema that fits all rows, which are then read twice; for arrow and parquet the schema of the
	// file.
	Schema tdict.Schema
	// Hints steer the schema that is inferred of a csv or jsonl file.
	Hints csv.Hints
	// CSV is the syntax of csv files.
	CSV csv.Format
	// MaxRecord is the largest size of a record of csv or jsonl in bytes; 0 means 1 GiB.
	MaxRecord int
	// Stdin, if not nil, is read once in place of the file [Stdin]. Form and Schema must be set.
	Stdin io.Reader
	// SkipPickled leaves out entries that Python has pickled, see memmap.OpenOptions, and columns
	// of arrow and parquet whose type no dtype holds, such as decimals. It calls Note with each.
	SkipPickled bool
	// Note, if not nil, is called with each fact about an input that may surprise: why a column of
	// an inferred schema is text, that the key of a column is not its name, that the mask of an
	// entry is left out but not the entry, and that a part of [Split] gets no rows.
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
	// Dict has the entries, whose elements are in mapped files. It is nil for tables.
	Dict *tdict.TensorDict
	// Schema has the columns of the entries as a table. Ragged uint8 with one level is text, and so
	// is Data with a text for each row; with a number or a bool for each row it is a tensor. The
	// masks of the schema that was saved with the dataset are not columns. The other facts of that
	// schema about an entry, such as its Mask and its Unit, are here too.
	Schema tdict.Schema
	// Dataset is the opened Directory, Archive or Consolidated file. It is nil for other forms. Its
	// Schema is the schema that was saved with it.
	Dataset *memmap.Dataset
	// Metadata has the metadata of a Safetensors file.
	Metadata map[string]string

	opt  OpenOptions
	like *tdict.TensorDict // Dict, or a chunk without rows
	rows tdict.Schema      // of the chunks of a table
	only *[]nestedkey.Key  // see rows.only
	why  []string          // a line for each column of a table that was inferred
	file io.Closer         // nil for tables
}

// ArrayKey is the key of the array in an .npy file. NumPy uses it for arrays without names.
const ArrayKey nestedkey.Key = "arr_0"

// Open opens a dataset for reading. It reads no element of a form that can be mapped. An array of
// .npy has the key [ArrayKey].
//
// The batch shape is the stored one if the form has one, as Directory, Archive, Consolidated and
// Safetensors do. A Safetensors file without a stored batch shape has the longest shape with which
// all its tensors begin. In other forms the batch shape is [N], or [] if the tensors do not have
// the same first dim.
//
// Open returns [ErrForm], [ErrDriver], and the errors of the package of the form, with the path.
func Open(path string, opt OpenOptions) (in *Input, err error) {
	if opt.Form, err = formOf(path, opt); err != nil {
		return nil, err
	}
	if err = opt.Form.CheckDriver(); err != nil {
		return nil, failed("open", path, err)
	}
	in = &Input{Path: path, Form: opt.Form, opt: opt}
	if opt.Form.IsTable() {
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

// saved returns the schema that was saved with the input, or the schema of the chunks of a table;
// or nil.
func (in *Input) saved() tdict.Schema {
	switch {
	case in.Form.IsTable():
		return in.rows
	case in.Dataset == nil:
		return nil
	}
	return in.Dataset.Schema()
}

// Stdin is the path of an input that is read from OpenOptions.Stdin.
const Stdin = "-"

// isStdin reports whether an input is read from opt.Stdin.
func (opt *OpenOptions) isStdin(path string) bool { return path == Stdin && opt.Stdin != nil }

// reader opens a table.
func (opt *OpenOptions) reader(path string) (io.ReadCloser, error) {
	if opt.isStdin(path) {
		return io.NopCloser(opt.Stdin), nil
	}
	return os.Open(path)
}

// formOf returns the form of an input.
func formOf(path string, opt OpenOptions) (Form, error) {
	if opt.isStdin(path) {
		if !opt.Form.isText() || opt.Schema == nil {
			return 0, fmt.Errorf("%w: standard input is read once: want the Form csv or jsonl, and a Schema", ErrForm)
		}
		return opt.Form, nil
	}
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
	if in.opt.Schema == nil {
		if in.opt.Schema, in.why, err = infer(in.Form, []string{in.Path}, in.opt); err != nil {
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
		if in.opt.raw && in.Form.isText() {
			in.rows[i].Doc = "" // it describes the rows of this file
		}
	}
	in.like, err = in.rows.Zeros(0)
	if err == nil && in.Form.needsDriver() {
		in.Schema = schemaOf(in.like, in.rows)
	}
	return err
}

// chunkSchema returns the entries that chunks of a table have.
func chunkSchema(f Form, s tdict.Schema, format csv.Format) (tdict.Schema, error) {
	switch {
	case f == CSV:
		return csv.ChunkSchema(s, format)
	case f.needsDriver():
		return drivenChunks(s)
	}
	return jsonl.ChunkSchema(s, jsonl.ReadOptions{})
}

// An inferrer infers a schema from several files.
type inferrer interface {
	Add(r io.Reader, n int) error
	Schema() (tdict.Schema, error)
	Notes() []string
	Explain() []string
}

// infer returns a schema that fits all rows of several tables of one form, and a line for each
// column.
func infer(f Form, paths []string, opt OpenOptions) (s tdict.Schema, why []string, err error) {
	if f.needsDriver() {
		s, err = inferDriven(f, paths, opt)
		return s, nil, err
	}
	var in inferrer = &jsonl.Inferrer{Hints: opt.Hints, MaxRecord: opt.MaxRecord}
	if f == CSV {
		columns := csv.NewInferrer(opt.CSV)
		columns.Hints, columns.MaxRecord = opt.Hints, opt.MaxRecord
		in = columns
	}
	for _, path := range paths {
		file, err := opt.reader(path)
		if err != nil {
			return nil, nil, err
		}
		err = in.Add(file, 0)
		_ = file.Close() // nothing was written
		if err != nil {
			return nil, nil, failed("read", path, err)
		}
	}
	s, err = in.Schema()
	if err != nil {
		return nil, nil, failed("read", paths[0], err)
	}
	for _, text := range in.Notes() {
		opt.note(paths[0] + ": " + text)
	}
	return storable(f, s, opt.CSV.Separator, func(text string) { opt.note(paths[0] + ": " + text) }), in.Explain(), nil
}

// Chunks returns an iterator over the rows, in order:
//
//	chunk [n R...], n > 0, or one chunk [0 R...] if there are no rows
//
// Chunks of mapped forms are views of about 4 MiB, or of one row. Chunks of tables are the chunks
// that csv.Read, jsonl.Read or the driver yield; each is valid until the next iteration. Chunks
// yields errors of reading, with the path, the cause of ctx, and shapeops.ErrDim for a dictionary
// without rows.
func (in *Input) Chunks(ctx context.Context) iter.Seq2[*tdict.TensorDict, error] {
	return in.chunks(ctx, func(int) {})
}

// chunks is Chunks, and calls progress with the numbers of bytes that were read.
func (in *Input) chunks(ctx context.Context, progress func(n int)) iter.Seq2[*tdict.TensorDict, error] {
	if in.Dict != nil {
		return counted(chunksOf(ctx, in.Dict), progress)
	}
	return func(yield func(*tdict.TensorDict, error) bool) {
		some := false
		for chunk, err := range in.parse(ctx, progress) {
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

// parse yields the rows of a table.
func (in *Input) parse(ctx context.Context, progress func(n int)) iter.Seq2[*tdict.TensorDict, error] {
	if in.Form.needsDriver() {
		return in.parseDriven(ctx, progress)
	}
	return func(yield func(*tdict.TensorDict, error) bool) {
		file, err := in.opt.reader(in.Path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close() // nothing was written
		r := &counter{file, progress}
		if in.Form == CSV {
			csv.Read(ctx, r, in.Schema, csv.ReadOptions{Format: in.opt.CSV, MaxRecord: in.opt.MaxRecord})(yield)
		} else {
			jsonl.Read(ctx, r, in.Schema, jsonl.ReadOptions{Raw: in.opt.raw, MaxRecord: in.opt.MaxRecord})(yield)
		}
	}
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

// Explain returns a line for each column of a table whose schema was inferred: its type, the number
// and range of its values, and why it is text. It returns nil for other inputs.
func (in *Input) Explain() []string { return in.why }

// failed adds the path to an error that does not have it.
func failed(op, path string, err error) error {
	if where, ok := err.(*fs.PathError); err == nil || ok && where.Path == path {
		return err
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}
