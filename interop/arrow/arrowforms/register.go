package arrowforms

import (
	"context"
	"io"
	"iter"
	"os"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/message"
	"github.com/go-tensordict/tensordict/interop/arrow/tdarrow"
	"github.com/go-tensordict/tensordict/interop/arrow/tdparquet"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/tdict"
)

// Register registers drivers for forms.Arrow and forms.Parquet. Arrow files are read whether they
// are files or streams, and written as files. Safe for concurrent use.
func Register() {
	forms.Register(forms.Arrow, arrow{})
	forms.Register(forms.Parquet, parquet{})
}

// chunks are rows of a table.
type chunks = iter.Seq2[*tdict.TensorDict, error]

// options returns the options of a driver in the form that the packages take.
func options(opt forms.DriverOptions) columns.Options {
	return columns.Options{Schema: opt.Schema, Skip: opt.Skip, Note: opt.Note}
}

type arrow struct{}

func (arrow) Infer(path string, opt forms.DriverOptions) (tdict.Schema, error) {
	s, err := tdarrow.InferFile(path, options(opt))
	return s, pathless(err)
}

func (arrow) Read(ctx context.Context, path string, opt forms.DriverOptions) chunks {
	info, err := os.Stat(path)
	if err != nil {
		return failed(err)
	}
	rows := tdarrow.ReadFile(ctx, path, options(opt))
	// The file is mapped: the size of a chunk is about the number of bytes that were read.
	return reporting(rows, info.Size(), opt.Progress, func(td *tdict.TensorDict) int64 { return int64(td.ByteSize()) })
}

func (arrow) Write(ctx context.Context, w io.Writer, schema tdict.Schema, rows chunks) error {
	return tdarrow.Write(ctx, w, schema, rows, tdarrow.WriteOptions{})
}

type parquet struct{}

func (parquet) Infer(path string, opt forms.DriverOptions) (tdict.Schema, error) {
	s, err := tdparquet.InferFile(path, options(opt))
	return s, pathless(err)
}

func (parquet) Read(ctx context.Context, path string, opt forms.DriverOptions) chunks {
	return func(yield func(*tdict.TensorDict, error) bool) {
		file, err := os.Open(path)
		if err != nil {
			failed(err)(yield)
			return
		}
		defer file.Close() // nothing was written
		info, err := file.Stat()
		if err != nil {
			failed(err)(yield)
			return
		}
		r := &counter{ReaderAt: file}
		rows := tdparquet.Read(ctx, r, info.Size(), options(opt))
		reporting(rows, info.Size(), opt.Progress, func(*tdict.TensorDict) int64 { return r.read.Swap(0) })(yield)
	}
}

func (parquet) Write(ctx context.Context, w io.Writer, schema tdict.Schema, rows chunks) error {
	return tdparquet.Write(ctx, w, schema, rows, tdparquet.WriteOptions{})
}

// failed yields an error.
func failed(err error) chunks {
	return func(yield func(*tdict.TensorDict, error) bool) { yield(nil, err) }
}

// reporting yields rows, and calls progress with the bytes that cost says after each chunk, up to
// size in all.
func reporting(rows chunks, size int64, progress func(n int), cost func(*tdict.TensorDict) int64) chunks {
	if progress == nil {
		progress = func(int) {}
	}
	return func(yield func(*tdict.TensorDict, error) bool) {
		left := size
		for td, err := range rows {
			if !yield(td, pathless(err)) || err != nil {
				return
			}
			n := min(left, cost(td))
			left -= n
			progress(int(n))
		}
		progress(int(left))
	}
}

// pathless returns an error about the content of a file without its path, which package forms adds.
func pathless(err error) error {
	at, ok := err.(*message.Error)
	if !ok {
		return err
	}
	without := *at
	if without.Path = ""; without == (message.Error{Err: at.Err}) {
		return at.Err
	}
	return &without
}

// A counter counts the bytes that were read. Safe for concurrent use.
type counter struct {
	io.ReaderAt
	read atomic.Int64
}

// ReadAt implements io.ReaderAt.
func (c *counter) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(b, at)
	c.read.Add(int64(n))
	return n, err
}
