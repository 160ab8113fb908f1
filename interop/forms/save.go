package forms

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Options say how [Convert], [Slice] and [Split] read and write. The zero value is the default.
type Options struct {
	Open OpenOptions // of the inputs; Schema and CSV are also those of csv and jsonl that is written
	// Form is that of the output; 0 means what [For] returns. Split does not look at it.
	Form  Form
	Force bool // replaces what is at the output
	Lossy bool // leaves out what the form of the output cannot hold
	// NoSync does not wait for the disk, as memmap.SaveOptions says. Split waits nevertheless.
	NoSync bool
	// Progress, if not nil, is called with the bytes of the inputs that were read, or of the output
	// that were written, and with all of them, 0 if that is not known, by one goroutine at a time.
	Progress func(done, total int64)
}

// A saver saves rows.
type saver struct {
	ctx   context.Context
	opt   Options
	at    string // the output, resolved
	form  Form   // of the output
	meter meter  // of what is read
	temp  []*vfs.Temp
	done  []func() error // closes what was opened
}

// saving checks an output and calls fn with a saver for it, which is closed then.
func saving(ctx context.Context, to string, from []string, opt Options, fn func(*saver) error) (err error) {
	s := &saver{ctx: ctx, opt: opt, form: opt.Form, meter: meter{progress: opt.Progress}}
	if s.at, err = checkOutput(to, from, opt.Force); err == nil && s.form == 0 {
		s.form, err = For(to)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return fn(s)
}

// open opens an input, which close closes.
func (s *saver) open(path string, opt OpenOptions) (*Input, error) {
	in, err := Open(path, opt)
	if err == nil {
		s.done = append(s.done, in.Close)
	}
	return in, err
}

// close removes what was staged.
func (s *saver) close() error {
	var failed []error
	for _, done := range s.done {
		failed = append(failed, done())
	}
	for _, t := range s.temp {
		failed = append(failed, t.Remove())
	}
	return errors.Join(failed...)
}

// beside makes a directory beside the output, which close removes unless it was moved.
func (s *saver) beside() (dir string, err error) {
	temp, err := vfs.MakeTemp(vfs.OS, s.at, 0o777)
	if err != nil {
		return "", err
	}
	s.temp = append(s.temp, temp)
	return temp.New(), vfs.OS.Mkdir(temp.New(), 0o777)
}

// stage saves chunks as a directory beside the output, and returns its rows, mapped.
func (s *saver) stage(r rows) (rows, error) {
	dir, err := s.beside()
	if err != nil {
		return r, err
	}
	dir = filepath.Join(dir, "rows")
	if err := saveRows(s.ctx, dir, r.chunks, memmap.SaveOptions{NoSync: true}); err != nil {
		return r, err
	}
	ds, err := memmap.Open(dir)
	if err != nil {
		return r, err
	}
	s.done = append(s.done, ds.Close)
	return rows{like: ds.TensorDict, td: ds.TensorDict, schema: r.schema, from: r.from, chunks: chunksOf(s.ctx, ds.TensorDict)}, nil
}

// saveRows is memmap.SaveRows that returns errors of chunks as they are.
func saveRows(ctx context.Context, dir string, chunks iter.Seq2[*tdict.TensorDict, error], opt memmap.SaveOptions) error {
	return consume(chunks, func(chunks iter.Seq2[*tdict.TensorDict, error]) error {
		return memmap.SaveRows(ctx, dir, chunks, opt)
	})
}

// consume returns the error of chunks if they yield one, and else that of use.
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

// save saves rows at a path in a form.
func (s *saver) save(to string, f Form, r rows) error {
	if r.td != nil && r.copyOf == "" && len(r.td.Shape()) > 0 && !contiguous(r.td) {
		r.td = nil // chunk by chunk, since a leaf would be copied as a whole
	}
	fit := newFitting(r.like, f, r.schema, r.td == nil)
	if len(fit.losses) > 0 && !s.opt.Lossy {
		return &LossError{to, f, fit.losses}
	}
	if len(fit.drop) > 0 {
		r.copyOf = ""
	}
	from := r.from
	r, err := r.each(fit.apply)
	if err != nil {
		return failed("open", from, err)
	}
	switch f {
	case Directory, Archive:
		return s.dataset(to, f, r)
	case CSV, JSONL:
		return s.table(to, f, r)
	}
	if r.td == nil {
		if r, err = s.stage(r); err != nil {
			return err
		}
	}
	return s.file(to, f, r.td)
}

// dataset saves a directory or an archive.
func (s *saver) dataset(to string, f Form, r rows) error {
	opt := memmap.SaveOptions{Form: memmap.Directory, NoSync: s.opt.NoSync, NoReplace: !s.opt.Force}
	if f == Archive {
		opt.Form = memmap.Archive
	}
	if r.copyOf != "" {
		opt.Progress = s.opt.Progress
		return memmap.Copy(s.ctx, r.copyOf, to, memmap.CopyOptions{Save: opt})
	}
	if r.td == nil {
		return saveRows(s.ctx, to, r.chunks, opt)
	}
	opt.Progress = s.opt.Progress
	return memmap.SaveWith(s.ctx, to, r.td, opt)
}

// file saves a file of mapped leaves.
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
		return safetensors.SaveWith(s.ctx, to, td, safetensors.SaveOptions{NoSync: s.opt.NoSync})
	}
	j, err := tdict.ToJoint(td, nil)
	if err != nil {
		return failed("save", to, err)
	}
	return nrt.SaveWith(s.ctx, to, j, nrt.SaveOptions{NoSync: s.opt.NoSync})
}

// only returns the one tensor of td.
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
	return consume(r.chunks, func(chunks iter.Seq2[*tdict.TensorDict, error]) error {
		opt := vfs.FileOptions{NoSync: s.opt.NoSync, NoReplace: !s.opt.Force}
		err := vfs.SaveFile(s.ctx, vfs.OS, to, opt, func(file vfs.File) error { return s.write(file, f, kept, chunks) })
		return failed("save", to, err)
	})
}

func (s *saver) write(w io.Writer, f Form, schema tdict.Schema, chunks iter.Seq2[*tdict.TensorDict, error]) error {
	if f == CSV {
		return csv.Write(s.ctx, w, schema, chunks, s.opt.Open.CSV)
	}
	return jsonl.Write(s.ctx, w, schema, chunks, jsonl.WriteOptions{})
}
