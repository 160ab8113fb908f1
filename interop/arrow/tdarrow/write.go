package tdarrow

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/message"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// The most rows of a batch that Write writes, and the most bytes, unless one row has more.
const (
	batchRows  = 64 << 10
	batchBytes = 16 << 20
)

// WriteOptions say how to write. The zero WriteOptions are valid: a file that is not compressed.
type WriteOptions struct {
	// Stream writes a stream, which can be read while it is written. By default Write writes the
	// file format, which can be mapped, and whose batches can be read in any order.
	Stream bool
	// Compression of the buffers: "lz4", "zstd", or "none" and "". Compressed columns cannot be
	// lent by a mapping.
	Compression string
}

// Write writes the rows of chunks, each a dictionary [n B...], as batches of at most 65,536 rows
// and about 16 MiB. A nil schema is tdict.SchemaOf the first chunk. The schema is in the metadata,
// so that [Read] has an equal one.
//
//	tensor [n F...], ragged [n F... * F...], text [n F... *] -> n rows of a column
//
// Columns are as for [FromDict]. Write keeps no chunk, so the memory of chunks may be reused. It
// converts a batch at a time, so a chunk may be a dataset larger than memory.
//
// Write returns the error of chunks or of w, the cause of ctx, tdict.ErrMissing for no chunks and
// no schema, fs.ErrInvalid for an unknown compression, and the errors of FromDict, in a
// [*ColumnError] with the number of the batch. After an error the file is not valid.
func Write(ctx context.Context, w io.Writer, schema tdict.Schema, chunks iter.Seq2[*tdict.TensorDict, error], opt WriteOptions) error {
	out := &writer{w: w, opt: opt, schema: schema}
	if schema != nil {
		if err := out.begin(); err != nil {
			return err
		}
	}
	for td, err := range chunks {
		if err == nil {
			err = out.chunk(ctx, td)
		}
		if err != nil {
			return err
		}
	}
	if out.out == nil {
		return fmt.Errorf("write: %w: got no chunks and no schema", tdict.ErrMissing)
	}
	return out.failed("", workers.Call(out.out.Close))
}

// A writer writes batches.
type writer struct {
	w      io.Writer
	opt    WriteOptions
	schema tdict.Schema
	out    interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
	batches int
}

// begin writes the part before the batches.
func (w *writer) begin() error {
	s, err := columns.ArrowSchema(w.schema)
	if err != nil {
		return w.failed("schema", err)
	}
	opt := []ipc.Option{ipc.WithSchema(s), ipc.WithCompressConcurrency(runtime.GOMAXPROCS(0))}
	switch w.opt.Compression {
	case "", "none":
	case "lz4":
		opt = append(opt, ipc.WithLZ4())
	case "zstd":
		opt = append(opt, ipc.WithZstd())
	default:
		return fmt.Errorf("write: %w: got the compression %q, want lz4, zstd or none", fs.ErrInvalid, w.opt.Compression)
	}
	return w.failed("", workers.Call(func() error {
		if w.opt.Stream {
			w.out = ipc.NewWriter(w.w, opt...)
			return nil
		}
		f, err := ipc.NewFileWriter(w.w, opt...)
		w.out = f
		return err
	}))
}

// failed returns an error about a part of the file; nil stays nil.
func (w *writer) failed(part string, err error) error { return message.In("", part, "", err) }

// chunk writes the rows of a chunk.
func (w *writer) chunk(ctx context.Context, td *tdict.TensorDict) error {
	if td == nil || len(td.Shape()) == 0 {
		return w.failed(fmt.Sprintf("batch %d", w.batches), fmt.Errorf("%w: got no batch dim, want a dim of rows", shapeops.ErrDim))
	}
	shape := td.Shape()
	if w.out == nil {
		w.schema = tdict.SchemaOf(td)
		if err := w.begin(); err != nil {
			return err
		}
	}
	step := batchRows
	if n := shape[0]; n > 0 {
		step = max(1, min(step, batchBytes/max(1, td.ByteSize()/n)))
	}
	for at := 0; at < shape[0]; at += step {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rows, err := td.Narrow(0, at, min(step, shape[0]-at))
		if err == nil {
			err = w.batch(rows)
		}
		if err != nil {
			return w.failed(fmt.Sprintf("batch %d", w.batches), err)
		}
		w.batches++
	}
	return nil
}

// batch writes a batch.
func (w *writer) batch(rows *tdict.TensorDict) error {
	rec, err := columns.FileBatch(rows, w.schema)
	if err != nil {
		return err
	}
	defer rec.Release()
	return workers.Call(func() error { return w.out.Write(rec) })
}
