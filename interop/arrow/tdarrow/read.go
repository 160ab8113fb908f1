package tdarrow

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/message"
	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// Read returns an iterator over the rows of a stream, or of a file, which is read in order:
//
//	chunk [n], n <= opt.Rows, with the entries of opt.Schema
//
// If opt.Schema is nil, it is the schema that [Write] got, or otherwise has a mask for each
// nullable column, and text for texts with a dictionary. A chunk is valid until the loop continues:
// then its memory is reused. Clone it to keep it longer. Tensors of types that lie in memory as
// here share the memory of the batch, and must not be written.
//
// After an error Read yields it and stops. The error is the cause of ctx, or a [*ColumnError] with
// the batch:
//
//   - [ErrCorrupt], io.ErrUnexpectedEOF for a stream that is cut, [ErrUnsupported], [ErrMemory]
//   - [ErrType] for a column of a type that no dtype holds, unless opt.Skip is set, and
//     nestedkey.ErrKey for a name that is not UTF-8
//   - tdict.ErrSchema for an entry that does not fit its column, or a text that is not in its
//     Categories; tdict.ErrMissing for an entry or a key without a column
//   - [ErrArray], [ErrNull], ragged.ErrOffsets, and shapeops.ErrIndex for a bad index into a
//     dictionary or for opt.Groups
//   - an error of r
//
// The iterator is single-use: ranging again yields [ErrUsed]. It uses r while the loop runs.
// opt.Groups must be in order. Memory is in proportion to a batch.
func Read(ctx context.Context, r io.Reader, opt Options) iter.Seq2[*tdict.TensorDict, error] {
	return table.Once(func(yield func(*tdict.TensorDict, error) bool) {
		if err := read(ctx, r, opt, yield); err != nil {
			yield(nil, err)
		}
	})
}

// Stream begins to read a stream, and returns the schema of the chunks, with an iterator over the
// rest. Otherwise it is [Read].
//
//	schema, chunks, err := tdarrow.Stream(ctx, os.Stdin, tdarrow.Options{})
//	err = memmap.SaveRows(ctx, "visits", chunks, memmap.SaveOptions{Schema: schema})
func Stream(ctx context.Context, r io.Reader, opt Options) (tdict.Schema, iter.Seq2[*tdict.TensorDict, error], error) {
	s, c, err := begin(r, opt)
	if err != nil {
		return nil, nil, err
	}
	return c.reader.Schema(), table.Once(func(yield func(*tdict.TensorDict, error) bool) {
		if err := batches(ctx, s, c, opt, yield); err != nil {
			yield(nil, err)
		}
	}), nil
}

// read is Read. It returns the error that is to be yielded.
func read(ctx context.Context, r io.Reader, opt Options, yield func(*tdict.TensorDict, error) bool) error {
	s, c, err := begin(r, opt)
	if err != nil {
		return err
	}
	return batches(ctx, s, c, opt, yield)
}

// begin reads the schema of a stream.
func begin(r io.Reader, opt Options) (*message.Stream, *cutter, error) {
	s, err := message.NewStream(r, options("", &opt))
	if err != nil {
		return nil, nil, err
	}
	c, err := newCutter("", s.Schema(), opt)
	if err != nil {
		return nil, nil, err
	}
	s.Select(c.reader.Columns())
	return s, c, nil
}

// batches yields the rows of the batches of a stream, and returns the error that is to be yielded.
func batches(ctx context.Context, s *message.Stream, c *cutter, opt Options, yield func(*tdict.TensorDict, error) bool) error {
	groups := opt.Groups
	for i := 0; opt.Groups == nil || len(groups) > 0; i++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var rec arrow.RecordBatch
		var err error
		skip := opt.Groups != nil && groups[0] > i
		switch {
		case opt.Groups != nil && groups[0] < i:
			return badGroup(groups[0], i)
		case skip:
			err = s.Skip()
		default:
			rec, err = s.Next()
		}
		switch {
		case err == io.EOF && opt.Groups != nil:
			return badGroup(groups[0], i)
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case skip:
			continue
		case opt.Groups != nil:
			groups = groups[1:]
		}
		if more, err := c.chunks(ctx, i, rec, inMemory, yield); err != nil || !more {
			return err
		}
	}
	return nil
}

// inMemory calls fn, which reads a batch in memory.
func inMemory(fn func() error) error { return fn() }

// badGroup returns the error for a batch that is not there, or not there any more.
func badGroup(group, at int) error {
	err := fmt.Errorf("%w: got batch %d in Groups, want batches of the stream in order", shapeops.ErrIndex, group)
	return message.In("", fmt.Sprintf("batch %d", at), "", err)
}

// A cutter makes chunks of batches.
type cutter struct {
	reader *columns.Reader
	path   string
	rows   int // of a chunk, or 0
}

// newCutter returns a cutter for the batches of a file.
func newCutter(path string, s *arrow.Schema, opt Options) (*cutter, error) {
	r, err := columns.NewReader(s, opt)
	if err != nil {
		return nil, message.In(path, "schema", "", err)
	}
	return &cutter{r, path, max(0, opt.Rows)}, nil
}

// chunks calls yield with the chunks of a batch with the selected columns, and reports whether the
// loop continues. It calls view with the reader of the batch.
func (c *cutter) chunks(ctx context.Context, number int, rec arrow.RecordBatch, view func(func() error) error, yield func(*tdict.TensorDict, error) bool) (more bool, err error) {
	n := int(rec.NumRows())
	step := cmp.Or(c.rows, n, 1)
	for at := 0; at < max(n, 1); at += step {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		var td *tdict.TensorDict
		err := view(func() (err error) {
			td, err = c.reader.Part(rec, at, min(step, n-at))
			return err
		})
		if err != nil {
			return false, message.In(c.path, fmt.Sprintf("batch %d", number), "", err)
		}
		if !yield(td, nil) {
			return false, nil
		}
	}
	return true, nil
}
