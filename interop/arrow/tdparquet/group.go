package tdparquet

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/message"
)

// A group reads a row group, batch by batch.
type group struct {
	f       *file
	g       int
	fields  []int         // numbers of the columns to read
	schema  *arrow.Schema // of these
	readers []*pqarrow.ColumnReader
	rows    int // of a batch
	left    int // rows that were not read yet
	arrays  []arrow.Array
}

const (
	batchRows  = 1 << 17 // most rows of a batch by default
	batchBytes = 8 << 20 // bytes of a batch, roughly
	levelRows  = 1024    // values that the library decodes at a time, at least
)

// group opens a row group. It checks the pages of all columns that are read.
func (f *file) group(g int, fields []int, schema *arrow.Schema) (*group, error) {
	x := &group{f: f, g: g, fields: fields, schema: schema, left: int(f.meta.RowGroups[g].NumRows)}
	x.rows, x.readers, x.arrays = batchRows, make([]*pqarrow.ColumnReader, len(fields)), make([]arrow.Array, len(fields))
	width := int64(0)
	for _, i := range fields {
		var err error
		leaves(&f.read.Manifest.Fields[i], func(leaf *pqarrow.SchemaField) {
			if err == nil {
				var w int64
				w, err = x.plan(leaf.ColIndex)
				width += w
			}
		})
		if err != nil {
			return nil, message.In(f.path, groupName(g), f.schema.Field(i).Name, err)
		}
	}
	if f.opt.Rows > 0 {
		x.rows = min(x.rows, f.opt.Rows)
	} else {
		x.rows = min(x.rows, max(1, int(batchBytes/max(1, width))))
		x.rows = 1 << (bits.Len(uint(x.rows)) - 1) // as the library allocates
	}
	for at, i := range fields {
		if err := x.openField(at, i); err != nil {
			x.close()
			return nil, message.In(f.path, groupName(g), f.schema.Field(i).Name, err)
		}
	}
	return x, nil
}

// plan bounds the rows of a batch by the memory that decoding a column takes, and returns roughly
// the bytes of a row.
func (x *group) plan(column int) (width int64, err error) {
	f := x.f
	facts, err := f.scan(x.g, column)
	if err != nil {
		return 0, err
	}
	d, c := f.meta.Schema.Column(column), f.meta.RowGroups[x.g].Columns[column].MetaData
	if facts.Prefixes { // each value may be as long as all values of a page are stored
		if int64(facts.Bytes)*levelRows > f.most {
			return 0, fmt.Errorf("%w: a page of %d bytes of texts that share prefixes, for %d bytes of memory: raise MaxMemory", ErrMemory, facts.Bytes, f.most)
		}
		x.rows = min(x.rows, max(1, int(f.most/2/int64(max(1, facts.Bytes)))))
	}
	switch d.PhysicalType() {
	case parquet.Types.FixedLenByteArray:
		width = int64(d.TypeLength())
		if width*levelRows > f.most && d.MaxRepetitionLevel() > 0 || width > f.most {
			return 0, fmt.Errorf("%w: values of %d bytes, for %d bytes of memory: raise MaxMemory", ErrMemory, width, f.most)
		}
		x.rows = min(x.rows, max(1, int(f.most/8/max(1, width))))
	case parquet.Types.ByteArray, parquet.Types.Boolean:
		width = 4
	default:
		width = int64(d.PhysicalType().ByteSize())
	}
	return max(width, c.TotalUncompressedSize/max(1, f.meta.RowGroups[x.g].NumRows)), nil
}

// openField opens field i. The library opens the fields of a struct on goroutines, where a panic
// would end the process. So each column of a nested field is opened here first.
func (x *group) openField(at, i int) error {
	read := x.f.read
	field := read.Manifest.Fields[i]
	included := map[int]bool{}
	var columns []pqarrow.SchemaField
	leaves(&field, func(leaf *pqarrow.SchemaField) {
		columns, included[leaf.ColIndex] = append(columns, *leaf), true
	})
	if len(field.Children) > 0 {
		rehearsal := *read
		rehearsal.Manifest = &pqarrow.SchemaManifest{Fields: columns}
		for i := range columns {
			err := message.Try(func() error {
				r, err := rehearsal.GetFieldReader(context.Background(), i, included, []int{x.g})
				if err == nil {
					r.Release()
				}
				return err
			})
			if err != nil {
				return x.f.damaged(err)
			}
		}
	}
	return x.f.damaged(message.Try(func() (err error) {
		x.readers[at], err = read.GetFieldReader(context.Background(), i, included, []int{x.g})
		return err
	}))
}

// next returns the next batch, or nil if there are no more rows. release releases it.
func (x *group) next(ctx context.Context) (arrow.RecordBatch, error) {
	n := min(x.rows, x.left)
	if n == 0 {
		return nil, nil
	}
	err := workers.Do(ctx, len(x.readers), 0, func(at int) error {
		err := message.Try(func() (err error) {
			x.arrays[at], err = x.batch(x.readers[at], n, x.schema.Field(at).Type)
			return err
		})
		return message.In(x.f.path, groupName(x.g), x.schema.Field(at).Name, err)
	})
	if err != nil {
		return nil, err
	}
	x.left -= n
	rec := array.NewRecordBatch(x.schema, x.arrays, int64(n))
	for i := range x.arrays { // rec has retained them
		x.arrays[i].Release()
		x.arrays[i] = nil
	}
	return rec, nil
}

// batch returns the next n values of a column as an array of a type.
func (x *group) batch(r *pqarrow.ColumnReader, n int, as arrow.DataType) (arrow.Array, error) {
	chunks, err := r.NextBatch(int64(n))
	if err != nil {
		return nil, x.f.damaged(err)
	}
	defer chunks.Release()
	if chunks.Len() != n {
		return nil, corrupt("got %d rows, want %d", chunks.Len(), n)
	}
	all := make([]arrow.Array, len(chunks.Chunks()))
	for i, chunk := range chunks.Chunks() {
		data := withDictionaries(chunk.Data())
		all[i] = array.MakeFromData(data)
		data.Release()
		defer all[i].Release()
	}
	one := all[0]
	if len(all) > 1 {
		if one, err = array.Concatenate(all, x.f.mem); err != nil {
			return nil, x.f.damaged(err)
		}
		defer one.Release()
	}
	data, err := divide(one.Data(), as)
	if err != nil {
		return nil, err
	}
	defer data.Release()
	return array.MakeFromData(data), nil
}

// withDictionaries returns an array in which each dictionary array has a dictionary: the library
// makes none if there are no values.
func withDictionaries(data arrow.ArrayData) arrow.ArrayData {
	children := make([]arrow.ArrayData, len(data.Children()))
	for i, c := range data.Children() {
		children[i] = withDictionaries(c)
		defer children[i].Release()
	}
	out := array.NewData(data.DataType(), data.Len(), data.Buffers(), children, data.NullN(), data.Offset())
	if t, ok := data.DataType().(*arrow.DictionaryType); ok {
		dict, _ := data.Dictionary().(*array.Data)
		if dict == nil {
			dict = array.MakeArrayOfNull(memory.DefaultAllocator, t.ValueType, 0).Data().(*array.Data)
		}
		out.SetDictionary(dict)
	}
	return out
}

// close releases the memory of the row group.
func (x *group) close() {
	_ = message.Try(func() error { // nothing was written
		for _, r := range x.readers {
			if r != nil {
				r.Release()
			}
		}
		for _, a := range x.arrays {
			if a != nil {
				a.Release()
			}
		}
		return nil
	})
}
