package forms

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// OpenOptions say how [Open] opens. The zero value is the default.
type OpenOptions struct {
	// Form is that of the input; 0 means what [Of] returns.
	Form Form
	// Schema has the columns of a csv or jsonl file; nil means the one that all rows fit, which are
	// read twice then.
	Schema tdict.Schema
	// CSV is the syntax of csv files. It must have no Categories, since the texts of their codes
	// would be lost.
	CSV csv.Format

	raw bool // Schema was inferred, so that texts of jsonl may be any value
}

// An Input is an opened dataset. Safe for concurrent use, as long as Dict and Schema do not change;
// Close may be called once no chunk is in use.
type Input struct {
	Path string
	Form Form
	// Dict has the entries, whose elements lie in mapped files; nil for csv and jsonl.
	Dict *tdict.TensorDict
	// Schema has the columns that a table of the entries has: ragged uint8 of one level is text, and
	// a bool entry KEY_mask that fits KEY is no column, but makes KEY Optional.
	Schema tdict.Schema

	opt   OpenOptions
	like  *tdict.TensorDict // Dict, or a chunk without rows
	close func() error
}

// ArrayKey is the key of the array of an .npy file, NumPy's own for an array without a name.
const ArrayKey nestedkey.Key = "arr_0"

// Open opens a dataset for reading. No element of a mapped form is read. The batch shape is the one
// that the form keeps, as Directory, Archive and Safetensors do, and else [N], or [] if the tensors
// share no first dim. Safetensors without a saved batch shape have the longest one that all tensors
// begin with. An array of .npy has the key [ArrayKey].
//
// Open returns [ErrForm], csv.ErrFormat for a Format with Categories, and the errors of the package
// of the form, which say the path.
func Open(path string, opt OpenOptions) (*Input, error) {
	in := &Input{Path: path, Form: opt.Form, opt: opt, close: func() error { return nil }}
	if in.Form == 0 {
		f, err := Of(path)
		if err != nil {
			return nil, err
		}
		in.Form = f
	}
	var err error
	if in.Form == CSV || in.Form == JSONL {
		err = in.openTable()
	} else if err = in.openMapped(); err == nil {
		in.like, in.Schema = in.Dict, schemaOf(in.Dict)
	}
	if err != nil {
		return nil, err
	}
	return in, nil
}

// openMapped opens a form whose elements can be mapped.
func (in *Input) openMapped() error {
	switch in.Form {
	case Directory, Archive:
		ds, err := memmap.Open(in.Path)
		if err == nil {
			in.Dict, in.close = ds.TensorDict, ds.Close
		}
		return err
	case Npy:
		return in.openArray()
	case Npz:
		return in.openArrays()
	case Safetensors:
		f, err := safetensors.Open(in.Path)
		if err == nil {
			in.Dict, in.close = f.TensorDict, f.Close
		}
		return err
	case NRT:
		f, err := nrt.Open(in.Path)
		if err != nil {
			return err
		}
		in.close = f.Close
		in.Dict, err = tdict.FromJoint(f.Joint)
		return in.failed("open", err)
	}
	return fmt.Errorf("%w: got %v, want %s", ErrForm, in.Form, list())
}

// openArray opens an array, or a structured one.
func (in *Input) openArray() error {
	f, err := npy.Open(in.Path)
	if err != nil {
		if errors.Is(err, npy.ErrUnsupported) && in.openArrays() == nil {
			return nil
		}
		return err
	}
	in.close = f.Close
	in.Dict, err = tdict.FromMap(f.Shape()[:min(1, len(f.Shape()))], tdict.Entries{ArrayKey: f.Tensor})
	return err
}

// openArrays opens arrays with names.
func (in *Input) openArrays() error {
	d, err := npy.OpenDictWith(in.Path, npy.DictOptions{BatchDims: 1})
	if err == nil {
		in.Dict, in.close = d.TensorDict, d.Close
	}
	return err
}

// openTable finds the schema of a table.
func (in *Input) openTable() (err error) {
	if len(in.opt.CSV.Categories) > 0 {
		return fmt.Errorf("%w: got Categories, whose texts would be lost, want none", csv.ErrFormat)
	}
	in.Schema = in.opt.Schema
	if in.Schema == nil {
		in.opt.raw = true
		if in.Schema, err = infer(in.Form, []string{in.Path}, in.opt.CSV); err != nil {
			return err
		}
	}
	if len(in.Schema) == 0 {
		return in.failed("open", fmt.Errorf("%w: got no columns, want one", tdict.ErrSchema))
	}
	chunks, err := in.chunkSchema()
	if err == nil {
		in.like, err = chunks.Zeros(0)
	}
	return in.failed("open", err)
}

func (in *Input) chunkSchema() (tdict.Schema, error) {
	if in.Form == CSV {
		return csv.ChunkSchema(in.Schema, in.opt.CSV)
	}
	return jsonl.ChunkSchema(in.Schema, jsonl.ReadOptions{})
}

// An inferrer proposes a schema of several files.
type inferrer interface {
	Add(r io.Reader, n int) error
	Schema() (tdict.Schema, error)
}

// infer returns a schema that all rows of some tables of one form fit.
func infer(f Form, paths []string, format csv.Format) (tdict.Schema, error) {
	var in inferrer = new(jsonl.Inferrer)
	if f == CSV {
		in = csv.NewInferrer(format)
	}
	for _, path := range paths {
		if err := addFile(in, path); err != nil {
			return nil, err
		}
	}
	s, err := in.Schema()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", paths[0], err)
	}
	return s, nil
}

func addFile(in inferrer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
	return failed("read", path, in.Add(f, 0))
}

// Chunks returns an iterator over the rows, in their order:
//
//	chunk [n R...], n > 0, or one chunk [0 R...] if there are no rows
//
// Chunks of mapped forms are views, of about 16 MiB or one row; those of tables are as
// csv.Read and jsonl.Read yield them, valid until the loop goes on. Chunks yields errors of reading,
// with the path, the cause of ctx, and shapeops.ErrDim for a dictionary without rows.
func (in *Input) Chunks(ctx context.Context) iter.Seq2[*tdict.TensorDict, error] {
	if in.Dict != nil {
		return chunksOf(ctx, in.Dict)
	}
	return in.read(ctx, nil)
}

// read reads a table, and tells progress of the bytes that it reads.
func (in *Input) read(ctx context.Context, progress func(n int)) iter.Seq2[*tdict.TensorDict, error] {
	return func(yield func(*tdict.TensorDict, error) bool) {
		f, err := os.Open(in.Path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close() // it was only read
		some := false
		for chunk, err := range in.parse(ctx, &counter{f, progress}) {
			some = true
			if err != nil && ctx.Err() == nil {
				err = in.failed("read", err)
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

func (in *Input) parse(ctx context.Context, r io.Reader) iter.Seq2[*tdict.TensorDict, error] {
	if in.Form == CSV {
		return csv.Read(ctx, r, in.Schema, csv.ReadOptions{Format: in.opt.CSV})
	}
	return jsonl.Read(ctx, r, in.Schema, jsonl.ReadOptions{Raw: in.opt.raw})
}

// A counter tells how many bytes were read.
type counter struct {
	io.Reader
	progress func(n int)
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	if c.progress != nil {
		c.progress(n)
	}
	return n, err
}

// Losses lists what of the dataset a form cannot hold, nil if it holds all. Tables keep no dtypes:
// that is no loss, since a schema says them. Nor is the key of the one array of [Npy].
func (in *Input) Losses(to Form) []Loss {
	fit := newFitting(in.like, to, in.Schema, false)
	return fit.losses
}

// Close unmaps the files. Elements of Dict and of views are not to be used any more.
func (in *Input) Close() error { return in.close() }

func (in *Input) failed(op string, err error) error { return failed(op, in.Path, err) }

// failed adds the path to an error.
func failed(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// contiguous reports whether all tensors can be written from where they are.
func contiguous(td *tdict.TensorDict) bool {
	for _, leaf := range td.Leaves() {
		if t, ok := leaf.(*tensor.Tensor); ok && !t.View().IsContiguous() {
			return false
		}
	}
	return true
}
