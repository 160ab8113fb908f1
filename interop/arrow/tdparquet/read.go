package tdparquet

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/message"
	"github.com/go-tensordict/tensordict/tdict"
)

// ReadFile is [Read] for a file, which it closes at the end.
func ReadFile(ctx context.Context, path string, opt Options) iter.Seq2[*tdict.TensorDict, error] {
	return func(yield func(*tdict.TensorDict, error) bool) {
		r, size, err := openFile(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.Close() // nothing was written
		read(ctx, path, r, size, opt)(yield)
	}
}

// openFile opens a file and returns its size.
func openFile(path string) (*os.File, int64, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := r.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	if err != nil {
		return nil, 0, errors.Join(err, r.Close())
	}
	return r, info.Size(), nil
}

// Read yields the rows of a file of size bytes, in order:
//
//	chunk [n R...], n > 0, or one chunk [0 R...] if there are no rows
//
// opt.Schema has the entries; nil means the schema of [Infer]. opt.Keys selects entries, and only
// the columns of these are read; opt.Groups selects row groups. A chunk has up to opt.Rows rows of
// one row group, or about 8 MiB, and is valid until the next iteration: Clone it to keep it longer.
// Its tensors share the memory into which the file was decoded, and must not be written.
//
// Read yields, and ends with, the errors that the package documentation lists, shapeops.ErrIndex
// for a number of a row group, tdict.ErrMissing for a key, and the cause of ctx. r must be safe for
// concurrent use, since columns are read at the same time, and must not change during the loop.
func Read(ctx context.Context, r io.ReaderAt, size int64, opt Options) iter.Seq2[*tdict.TensorDict, error] {
	return read(ctx, "", r, size, opt)
}

func read(ctx context.Context, path string, r io.ReaderAt, size int64, opt Options) iter.Seq2[*tdict.TensorDict, error] {
	return func(yield func(*tdict.TensorDict, error) bool) {
		f, err := open(path, r, size, opt)
		if err == nil {
			err = f.chunks(ctx, yield)
		}
		if err != nil && err != errStopped {
			yield(nil, err)
		}
	}
}

// errStopped says that the loop wants no more chunks.
var errStopped = errors.New("stopped")

// chunks yields the rows.
func (f *file) chunks(ctx context.Context, yield func(*tdict.TensorDict, error) bool) error {
	reader, err := f.reader(ctx)
	if err != nil {
		return message.In(f.path, "", "", err)
	}
	some := false
	err = f.batches(ctx, reader.Columns(), func(g int, rec arrow.RecordBatch) error {
		td, err := reader.Part(rec, 0, int(rec.NumRows()))
		if err != nil {
			return message.In(f.path, groupName(g), "", err)
		}
		if some = true; !yield(td, nil) {
			return errStopped
		}
		return nil
	})
	if err != nil || some {
		return err
	}
	none, err := reader.Schema().Zeros(0)
	if err == nil && !yield(none, nil) {
		err = errStopped
	}
	return err
}

// batches calls fn with the batches of the row groups. They are valid during the call. The next one
// is decoded meanwhile.
func (f *file) batches(ctx context.Context, fields []int, fn func(g int, rec arrow.RecordBatch) error) error {
	c := &cursor{f: f, fields: fields, schema: project(f.schema, fields)}
	defer c.close()
	for b, err := range workers.Stream(ctx, math.MaxInt, 1, 1, func(ctx context.Context, _ int) (batch, error) { return c.next(ctx) }) {
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		err = fn(b.group, b.rec)
		b.rec.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// A batch is a batch of a row group.
type batch struct {
	group int
	rec   arrow.RecordBatch
}

// A cursor goes through the batches of the row groups that are read.
type cursor struct {
	f      *file
	fields []int
	schema *arrow.Schema
	at     int    // in f.groups
	open   *group // the row group at hand, or nil
}

// next returns the next batch, or io.EOF.
func (c *cursor) next(ctx context.Context) (b batch, err error) {
	for {
		if err := context.Cause(ctx); err != nil {
			return b, err
		}
		if c.open == nil {
			if c.at == len(c.f.groups) {
				return b, io.EOF
			}
			if c.open, err = c.f.group(c.f.groups[c.at], c.fields, c.schema); err != nil {
				return b, err
			}
		}
		b.group = c.open.g
		if b.rec, err = c.open.next(ctx); err != nil || b.rec != nil {
			return b, err
		}
		c.close()
		c.at++
	}
}

// close closes the row group at hand.
func (c *cursor) close() {
	if c.open != nil {
		c.open.close()
		c.open = nil
	}
}

// reader returns a reader for batches of its columns.
func (f *file) reader(ctx context.Context) (r *columns.Reader, err error) {
	opt := f.opt
	if opt.Schema == nil {
		if opt.Schema, err = f.infer(ctx); err != nil {
			return nil, err
		}
	}
	if r, err = columns.NewReader(f.schema, opt); err == nil {
		r.Lend = lend
	}
	return r, err
}

// project returns a schema with some of the fields.
func project(s *arrow.Schema, fields []int) *arrow.Schema {
	var some []arrow.Field
	for _, i := range fields {
		some = append(some, s.Field(i))
	}
	meta := s.Metadata()
	return arrow.NewSchema(some, &meta)
}
