package tdarrow

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/message"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// ReadFile is [Read] for a regular file on disk, in the file format, which Feather of version 2 is,
// or as a stream. It maps the file: columns that are not compressed are lent by the mapping and not
// copied, and bytes of entries that opt does not select are not read. If opt.Schema is nil, it is
// the schema of [InferFile]. opt.Groups can be in any order, repetitions included.
//
// A chunk is valid until the loop continues; the file is unmapped when the loop ends. If another
// process truncates the file meanwhile, reading elements is [ErrFault]. Each range over the
// iterator opens the file again. Errors are as for Read, or about opening, such as fs.ErrNotExist.
func ReadFile(ctx context.Context, path string, opt Options) iter.Seq2[*tdict.TensorDict, error] {
	return func(yield func(*tdict.TensorDict, error) bool) {
		f, err := open(path, &opt)
		if err == nil {
			defer f.close()
			err = f.read(ctx, opt, yield)
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// A file is an open file.
type file struct {
	*message.File
	path   string
	single *mapfile.Single
	bytes  []byte // the mapping
}

// open opens and maps a file, and checks all but the headers of its batches.
func open(path string, opt *Options) (*file, error) {
	f := &file{path: path}
	var err error
	f.single, err = mapfile.OpenSingle(path, func(_, _ string, err error) error {
		err = errtext.Bare(err)
		if errors.Is(err, mapping.ErrNotRegular) || errors.Is(err, mapping.ErrSize) {
			err = fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		return message.In(path, "", "", err)
	})
	if err != nil {
		return nil, err
	}
	err = f.single.View(func(b []byte) (err error) {
		f.bytes = b
		f.File, err = message.Open(b, options(path, opt))
		return err
	})
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// close closes the file.
func (f *file) close() { _ = f.single.Close() } // nothing was written

// view calls fn, which may read the mapping.
func (f *file) view(fn func() error) error {
	return f.single.View(func([]byte) error { return fn() })
}

// read is ReadFile for an open file. It returns the error that is to be yielded.
func (f *file) read(ctx context.Context, opt Options, yield func(*tdict.TensorDict, error) bool) (err error) {
	if opt.Schema == nil {
		if opt.Schema, err = f.infer(opt); err != nil {
			return err
		}
	}
	c, err := newCutter(f.path, f.Schema(), opt)
	if err != nil {
		return err
	}
	c.reader.Lend = f.lend
	f.Select(c.reader.Columns())
	groups, err := columns.GroupsOf(opt.Groups, f.Len(), "batch")
	if err != nil {
		return message.In(f.path, "", "", err)
	}
	for _, i := range groups {
		if more, err := f.batch(ctx, c, i, yield); err != nil || !more {
			return err
		}
	}
	return nil
}

// batch calls yield with the chunks of a batch, and reports whether the loop continues.
func (f *file) batch(ctx context.Context, c *cutter, i int, yield func(*tdict.TensorDict, error) bool) (more bool, err error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	var rec arrow.RecordBatch
	err = f.view(func() (err error) {
		rec, err = f.Batch(i)
		return err
	})
	if err != nil {
		return false, err
	}
	return c.chunks(ctx, i, rec, f.view, yield)
}

// lend returns a lender of the memory of a buffer, if it is in the mapping.
func (f *file) lend(b *memory.Buffer) (tensor.Lender, int) {
	shift, shared := cast.Shift(f.bytes, b.Bytes())
	if !shared || shift < 0 {
		return nil, 0
	}
	return &f.single.Part, shift
}
