package forms

import (
	"cmp"
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

	"github.com/go-tensordict/tensordict/internal/bundle"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Options say how [Convert], [Slice] and [Split] read and write. The zero value is the default.
type Options struct {
	Open OpenOptions // for the inputs; Schema and CSV are used for a table that is written, too
	// Form is the form of the output; 0 means the form that [For] returns. Split ignores it.
	Form  Form
	Force bool // replace the output if it exists
	// Select says which rows and entries of the inputs are saved.
	Select Selection
	// MissingNaN writes NaN for missing values of floating-point tensors, which then have no mask.
	// Npy, Npz and Safetensors, which keep no schema, always have NaN there.
	MissingNaN bool
	// SkipSums copies elements as they are, without comparing the checksums of the inputs.
	SkipSums bool
	Lossy    bool // leave out entries and properties that the form of the output cannot hold
	// NoSync does not wait for the disk; see memmap.SaveOptions. Split ignores it.
	NoSync bool
	// Progress, if not nil, is called with the bytes of the inputs that were read, or of the output
	// that were written, and with the total, or 0 if the total is not known. One goroutine at a
	// time calls it. If Npy, Npz, Safetensors or NRT is made of one mapped input, it is called
	// once, at the end.
	Progress func(done, total int64)
}

// A saver saves rows.
type saver struct {
	ctx   context.Context
	opt   Options
	at    string // path of the output, links resolved
	form  Form   // form of the output
	from  string // path of the first input, for errors
	meter meter  // counts the bytes that were read
	first *Input // its saved schema and metadata are kept; nil until it is open
	done  []func() error
	keep  bool // do not remove what is beside the output: it may be needed after a crash
}

// saving checks an output, and calls fn with a saver for it. If an input is replaced meanwhile, it
// calls fn again. parts are the forms of the parts of the output, if it is split.
func saving(ctx context.Context, to string, from []string, opt Options, parts []Form, fn func(*saver) error) (err error) {
	opt.Open.checkSums, opt.Open.skipSums = !opt.SkipSums, opt.SkipSums
	s := &saver{opt: opt, form: opt.Form, from: from[0], meter: meter{progress: opt.Progress}}
	inputs := make([]Form, len(from))
	for i, path := range from {
		if inputs[i], err = formOf(path, opt.Open); err == nil {
			err = failed("open", path, inputs[i].CheckDriver())
		}
		if err != nil {
			return err
		}
	}
	if s.at, err = checkOutput(to, s.files(from), opt.Force); err == nil && s.form == 0 {
		s.form, err = For(to)
	}
	if err == nil && opt.Open.Schema != nil && !slices.ContainsFunc(slices.Concat(inputs, parts, []Form{s.form}), Form.IsTable) {
		err = failed("save", to, fmt.Errorf("%w: got a Schema, but no table is read or written", fs.ErrInvalid))
	}
	for _, f := range slices.Concat(parts, []Form{s.form}) {
		if err == nil {
			err = failed("save", to, f.CheckDriver())
		}
	}
	if err != nil {
		return err
	}
	for try := 0; ; try++ {
		again := *s
		err = again.run(ctx, from, fn)
		if !errors.Is(err, memmap.ErrReplaced) || errors.Is(err, vfs.ErrDone) || try == 10 {
			return err
		}
	}
}

// run calls fn for the current inputs.
func (s *saver) run(ctx context.Context, from []string, fn func(*saver) error) (err error) {
	modes, err := modesOf(s.files(from))
	if err != nil {
		return failed("open", from[0], err)
	}
	s.ctx = ctx
	if modes != nil { // not only standard input
		s.ctx = vfs.WithModes(ctx, modes)
	}
	defer func() {
		left := s.close()
		if err == nil {
			left = vfs.Done("the output is in its place", left)
		}
		err = errors.Join(err, left)
	}()
	return s.told(fn(s))
}

// files returns the paths without standard input.
func (s *saver) files(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), s.opt.Open.isStdin)
}

// told returns an error about a key that a directory cannot have as one that names the input, since
// the directory may be a temporary one, and says what to do.
func (s *saver) told(err error) error {
	if file, ok := errors.AsType[*memmap.DatasetError](err); ok && errors.Is(err, memmap.ErrName) {
		return failed("save", s.from, fmt.Errorf("%w: rename it with Rename, or leave it out with Drop", file.Err))
	}
	return err
}

// modesOf returns the permissions of an output that replaces nothing: the permissions that all
// inputs have.
func modesOf(from []string) (all *vfs.Modes, err error) {
	for _, path := range from {
		files := []string{path}
		if strings.HasSuffix(path, indexSuffix) { // and the files of the set
			dir := filepath.Dir(path)
			parts, err := fs.Glob(os.DirFS(dir), "*.safetensors")
			if err != nil {
				return nil, err
			}
			for _, name := range parts {
				files = append(files, filepath.Join(dir, name))
			}
		}
		for _, file := range files {
			m, err := vfs.ModesOf(file)
			if err != nil {
				return nil, err
			}
			if all == nil {
				all = m.Flat()
			} else {
				all = all.With(m)
			}
		}
	}
	return all, nil
}

// close closes the inputs and removes staged rows, the last one first.
func (s *saver) close() (err error) {
	for _, done := range slices.Backward(s.done) {
		err = errors.Join(err, done())
	}
	return err
}

// open opens an input. s.close closes it.
func (s *saver) open(path string, opt OpenOptions) (*Input, error) {
	in, err := Open(path, opt)
	if err == nil {
		s.done = append(s.done, in.Close)
		s.first = cmp.Or(s.first, in)
	}
	return in, err
}

// rows returns all rows of an input.
func (s *saver) rows(in *Input) rows {
	s.meter.total += in.size()
	in.only = new([]nestedkey.Key)
	return rows{only: in.only, like: in.like, source: in.like, td: in.Dict, schema: in.Schema, says: in.saved(), chunks: in.chunks(s.ctx, s.meter.add)}
}

// beside makes a directory with the given permissions beside the output. s.close removes it, unless
// it was moved.
func (s *saver) beside(perm fs.FileMode) (dir string, err error) {
	temp, err := vfs.MakeTemp(vfs.OS, s.at)
	if err != nil {
		return "", err
	}
	s.done = append(s.done, func() error {
		if s.keep {
			return temp.Release()
		}
		return temp.Remove()
	})
	return temp.New(), vfs.OS.Mkdir(temp.New(), perm)
}

// stage returns mapped rows: if r is not mapped, it saves r beside the output first.
func (s *saver) stage(r rows) (rows, error) {
	if r.td != nil {
		return r, nil
	}
	dir, err := s.beside(0o700)
	if err != nil {
		return r, err
	}
	dir = filepath.Join(dir, "rows")
	if err := saveRows(s.ctx, dir, r.chunks, memmap.SaveOptions{NoSync: true, SkipSums: s.opt.SkipSums}); err != nil {
		return r, vfs.NotDone(err)
	}
	in, err := s.open(dir, OpenOptions{Form: Directory})
	if err != nil {
		return r, err
	}
	staged := s.mappedRows(in.Dict, r.says)
	staged.schema = r.schema
	return staged, nil
}

// saveRows is memmap.SaveRows, but returns errors of chunks unchanged.
func saveRows(ctx context.Context, dir string, chunks iter.Seq2[*tdict.TensorDict, error], opt memmap.SaveOptions) error {
	return consume(chunks, func(chunks iter.Seq2[*tdict.TensorDict, error]) error {
		return memmap.SaveRows(ctx, dir, chunks, opt)
	})
}

// consume calls use with chunks. It returns the error that chunks yield, otherwise the error of
// use.
func consume(chunks iter.Seq2[*tdict.TensorDict, error], use func(iter.Seq2[*tdict.TensorDict, error]) error) error {
	var wrong error
	err := use(func(yield func(*tdict.TensorDict, error) bool) {
		for chunk, err := range chunks {
			if wrong = err; !yield(chunk, err) {
				return
			}
		}
	})
	if wrong != nil {
		return wrong
	}
	return err
}

// save saves rows at path to in form f.
func (s *saver) save(to string, f Form, r rows) error {
	r, err := s.withNaN(r, f)
	if err != nil {
		return failed("open", s.from, err)
	}
	if r.td != nil && len(r.td.Shape()) > 0 && !contiguous(r.td) {
		r.td = nil // save chunk by chunk: otherwise a whole leaf would be copied
	}
	if r.td != nil {
		r.source = nil // no rows are appended
	}
	if f.IsTable() {
		if r, err = s.tabular(r); err != nil {
			return failed("open", s.from, err)
		}
	}
	fit := newFitting(r.like, f, r.schema, r.source)
	fit.drop = withMasks(r.like, r.says, fit.drop, false)
	fit.metadata(s.first.Metadata)
	if len(fit.losses) > 0 && !s.opt.Lossy {
		return &LossError{to, f, fit.losses}
	}
	r, err = r.each(fit.apply)
	switch {
	case err != nil:
		return failed("open", s.from, err)
	case f.IsTable():
		return s.table(to, f, r)
	case f.isDataset() && r.td == nil:
		return saveRows(s.ctx, to, r.chunks, s.datasetOptions(f, r))
	case f.isDataset():
		opt := s.datasetOptions(f, r)
		opt.Progress = s.opt.Progress
		return memmap.SaveWith(s.ctx, to, r.td, opt)
	}
	if r.td == nil {
		if r, err = s.stage(r); err == nil {
			err = s.file(to, f, r.td)
		}
		return err
	}
	if err = s.file(to, f, r.td); err == nil {
		s.meter.add(int(s.meter.total)) // nothing was counted so far
	}
	return err
}

// contiguous reports whether all tensors can be written without a copy.
func contiguous(td *tdict.TensorDict) bool {
	for _, t := range td.Tensors() {
		if !t.View().IsContiguous() {
			return false
		}
	}
	return true
}

// datasetOptions returns the options to save rows as a directory or an archive.
func (s *saver) datasetOptions(f Form, r rows) memmap.SaveOptions {
	form := memmap.Directory
	switch f {
	case Archive:
		form = memmap.Archive
	case Consolidated:
		form = memmap.Consolidated
	}
	return memmap.SaveOptions{Container: form, NoSync: s.opt.NoSync, NoReplace: !s.opt.Force, SkipSums: s.opt.SkipSums, Schema: carried(r.says, r.like)}
}

// file saves a file whose leaves are mapped.
func (s *saver) file(to string, f Form, td *tdict.TensorDict) error {
	switch f {
	case Npy:
		t, err := only(td)
		if err != nil {
			return failed("save", to, err)
		}
		return npy.SaveWith(s.ctx, to, t, npy.SaveOptions{NoSync: s.opt.NoSync})
	case Npz:
		return npy.SaveDictWith(s.ctx, to, td, npy.SaveDictOptions{NoSync: s.opt.NoSync})
	case Safetensors:
		return safetensors.SaveWith(s.ctx, to, td, safetensors.SaveOptions{NoSync: s.opt.NoSync, Metadata: s.first.Metadata})
	}
	j, err := joint.FromDict(td, nil)
	if err != nil {
		return failed("save", to, err)
	}
	return nrt.SaveWith(s.ctx, to, j, nrt.SaveOptions{NoSync: s.opt.NoSync})
}

// only returns the only tensor of td.
func only(td *tdict.TensorDict) (one *tensor.Tensor, err error) {
	n := 0
	for _, t := range td.Tensors() {
		one, n = t, n+1
	}
	if n != 1 {
		return nil, fmt.Errorf("%w: got %d tensors, want one: Slice with Keys", npy.ErrUnsupported, n)
	}
	return one, nil
}

// table saves a table.
func (s *saver) table(to string, f Form, r rows) error {
	schema := s.opt.Open.Schema
	if schema == nil {
		schema = r.schema
	}
	var kept tdict.Schema
	for _, spec := range schema {
		if r.like.Has(spec.Key) {
			kept = append(kept, spec)
		}
	}
	write := func(file io.Writer, chunks iter.Seq2[*tdict.TensorDict, error]) error {
		switch {
		case f == CSV:
			return csv.Write(s.ctx, file, kept, chunks, s.opt.Open.CSV)
		case f == JSONL:
			return jsonl.Write(s.ctx, file, kept, chunks, jsonl.WriteOptions{})
		}
		d, err := f.driver()
		if err != nil {
			return err
		}
		return d.Write(s.ctx, file, drivenSchema(kept, r), chunks)
	}
	opt := vfs.FileOptions{NoSync: s.opt.NoSync, NoReplace: !s.opt.Force}
	return consume(mapped(r.chunks, checkBools), func(chunks iter.Seq2[*tdict.TensorDict, error]) error {
		return failed("save", to, vfs.SaveFile(s.ctx, vfs.OS, to, opt, func(file vfs.File) error { return write(file, chunks) }))
	})
}

// checkBools returns td, or memmap.ErrCorrupt for a byte that is not a bool: tables are not written
// byte by byte.
func checkBools(td *tdict.TensorDict) (*tdict.TensorDict, error) {
	for key, leaf := range td.Leaves() {
		t, _ := leaf.(*tensor.Tensor)
		if r, ok := leaf.(*ragged.Tensor); ok {
			t, _ = r.Values() // writing it returns the error
		}
		if t == nil || t.DType() != tensor.Bool {
			continue
		}
		if _, err := bundle.Write(io.Discard, t); err != nil {
			return nil, &tdict.KeyError{Op: "save", Key: key, Err: err}
		}
	}
	return td, nil
}
