package tdparquet

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/message"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// WriteOptions say how a file is written. The zero value is the default.
type WriteOptions struct {
	// Compression is "snappy", "zstd", "gzip" or "none"; "" means "snappy".
	Compression string
	// Rows is the largest number of rows of a row group; 0 means 1<<20. A row group ends earlier
	// once its values have 128 MiB. Write holds it in memory, compressed.
	Rows int
}

// groupBytes is the size of the values of a row group, roughly.
const groupBytes = 128 << 20

// codecs are the names of codecs.
var codecs = map[string]compress.Compression{
	"snappy": compress.Codecs.Snappy, "zstd": compress.Codecs.Zstd, "gzip": compress.Codecs.Gzip, "none": compress.Codecs.Uncompressed,
}

// Write writes the rows of all chunks, one after the other, as a Parquet file:
//
//	chunk [n R...] -> column of each entry of schema that is not a mask, with N = sum(n) values
//
// A nil schema is tdict.SchemaOf the first chunk. Each chunk must have the entries of schema, which
// the file stores: then [Infer] returns it. Write keeps no chunk, so the memory of chunks may be
// reused. Dictionaries become groups, ragged entries lists, tensors with dims nested lists, and
// missing values nulls.
//
// Write returns fs.ErrInvalid for an unknown compression, tdict.ErrMissing for no chunks and no
// schema, shapeops.ErrDim for a chunk without rows, the error of chunks or of w, the cause of ctx,
// and with the key the errors of tdarrow.FromDict. After an error the file is not valid.
func Write(ctx context.Context, w io.Writer, schema tdict.Schema, chunks iter.Seq2[*tdict.TensorDict, error], opt WriteOptions) error {
	codec, known := codecs[cmp.Or(opt.Compression, "snappy")]
	if !known {
		return fmt.Errorf("write: %w: got the compression %q, want snappy, zstd, gzip or none", fs.ErrInvalid, opt.Compression)
	}
	rows := cmp.Or(max(0, opt.Rows), 1<<20)
	out := &writer{to: &counted{w: w}, schema: schema, most: rows, props: parquet.NewWriterProperties(parquet.WithCompression(codec),
		parquet.WithMaxRowGroupLength(int64(rows)), parquet.WithCreatedBy("tensordict for Go"), parquet.WithStats(true))}
	var err error
	if schema != nil {
		err = out.begin()
	}
	for chunk, failed := range chunks {
		if err = cmp.Or(err, failed, context.Cause(ctx)); err == nil {
			err = out.add(chunk)
		}
		if err != nil {
			break
		}
	}
	switch {
	case err != nil:
	case out.out == nil:
		err = fmt.Errorf("write: %w: got no chunks and no schema", tdict.ErrMissing)
	default:
		if err = context.Cause(ctx); err == nil {
			err = message.Try(out.out.Close)
		}
	}
	return cmp.Or(out.to.err, err)
}

// A writer writes row groups.
type writer struct {
	to     *counted
	props  *parquet.WriterProperties
	out    *pqarrow.FileWriter // nil before begin
	types  *arrow.Schema       // of the file
	schema tdict.Schema
	most   int // rows of a row group
	rows   int // of the current row group
	bytes  int // of its values
}

// begin makes the writer of the library.
func (w *writer) begin() error {
	s, err := columns.ArrowSchema(w.schema)
	if err != nil {
		return err
	}
	meta := s.Metadata()
	w.types = arrow.NewSchema(writableFields(s.Fields(), false), &meta)
	return message.Try(func() (err error) {
		w.out, err = pqarrow.NewFileWriter(w.types, w.to, w.props, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
		return err
	})
}

// add adds a chunk to row groups. The library cannot write a part of a batch with lists of a fixed
// size, so each part becomes a batch.
func (w *writer) add(chunk *tdict.TensorDict) error {
	if chunk == nil || len(chunk.Shape()) == 0 {
		return fmt.Errorf("write: %w: got no batch dim, want a dim of rows", shapeops.ErrDim)
	}
	if w.out == nil {
		w.schema = tdict.SchemaOf(chunk)
		if err := w.begin(); err != nil {
			return err
		}
	}
	n := chunk.Shape()[0]
	width := max(1, chunk.ByteSize()/max(1, n))
	for start := 0; start < n; {
		if w.rows >= w.most || w.bytes >= groupBytes {
			w.rows, w.bytes = 0, 0
			if err := message.Try(w.out.NewBufferedRowGroupChecked); err != nil {
				return err
			}
		}
		k := min(n-start, w.most-w.rows, max(1, groupBytes/width))
		part, err := chunk.Narrow(0, start, k)
		if err != nil {
			return err
		}
		rec, err := columns.FileBatch(part, w.schema)
		if err == nil {
			err = message.Try(func() error { return w.batch(rec) })
		}
		if err != nil {
			return err
		}
		start, w.rows, w.bytes = start+k, w.rows+k, w.bytes+part.ByteSize()
	}
	return nil
}

// batch writes a batch.
func (w *writer) batch(rec arrow.RecordBatch) error {
	all := make([]arrow.Array, rec.NumCols())
	for i, column := range rec.Columns() {
		data, err := writable(column.Data(), w.types.Field(i).Type, nil)
		if err != nil {
			return err
		}
		all[i] = array.MakeFromData(data)
	}
	return w.out.WriteBuffered(array.NewRecordBatch(w.types, all, rec.NumRows()))
}

// A counted keeps the first error of a writer: the library may return another one.
type counted struct {
	w   io.Writer
	err error
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.err = cmp.Or(c.err, err)
	return n, err
}
