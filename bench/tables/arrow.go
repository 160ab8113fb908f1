package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/edsrzf/mmap-go"
)

// groupRows is the number of rows of a record batch of Arrow, and of a row group of Parquet.
const groupRows = 1 << 16

// batches are the columns of record batches of groupRows rows.
type batches [][][]float64

// add adds a record batch.
func (b *batches) add(rec arrow.RecordBatch) {
	columns := make([][]float64, rec.NumCols())
	for i, column := range rec.Columns() {
		columns[i] = column.(*array.Float64).Float64Values()
	}
	*b = append(*b, columns)
}

// and returns record batches with more rows, each but the last one with groupRows rows.
func (b batches) and(values [][]float64) batches {
	if n := len(b) - 1; n >= 0 && len(b[n][0]) < groupRows {
		last := make([][]float64, len(values))
		for column, v := range values {
			last[column] = slices.Concat(b[n][column], v)
		}
		b, values = b[:n:n], last
	}
	for first := 0; first < len(values[0]); first += groupRows {
		group := make([][]float64, len(values))
		for column, v := range values {
			group[column] = v[first:min(first+groupRows, len(v))]
		}
		b = append(b, group)
	}
	return b
}

// records calls write with each record batch.
func (b batches) records(write func(arrow.RecordBatch) error) error {
	for _, columns := range b {
		all := make([]arrow.Array, len(columns))
		for column, v := range columns {
			all[column] = array.NewFloat64Data(array.NewData(arrow.PrimitiveTypes.Float64, len(v),
				[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.Float64Traits.CastToBytes(v))}, nil, 0, 0))
		}
		if err := write(array.NewRecordBatch(b.schema(), all, int64(len(columns[0])))); err != nil {
			return err
		}
	}
	return nil
}

// schema returns the columns for Arrow.
func (b batches) schema() *arrow.Schema {
	var fields []arrow.Field
	for column := range b[0] {
		fields = append(fields, arrow.Field{Name: string(key(column)), Type: arrow.PrimitiveTypes.Float64})
	}
	return arrow.NewSchema(fields, nil)
}

// copyRows copies rows to the columns of out.
func (b batches) copyRows(rows []int, out [][]float64) {
	for column := range out {
		to := out[column][:len(rows)]
		for i, row := range rows {
			to[i] = b[row/groupRows][column][row%groupRows]
		}
	}
}

// room returns columns for rows.
func (b batches) room(rows int) [][]float64 {
	out := make([][]float64, len(b[0]))
	for i := range out {
		out[i] = make([]float64, rows)
	}
	return out
}

// A whole is a kind of file that is written as a whole.
type whole interface {
	save(path string, all batches) error
	open(path string) error
	fetch(ctx context.Context, rows []int) ([][]float64, error)
	// all returns the table: mapped, if that is possible, or in memory.
	all(ctx context.Context) (batches, error)
	close() error
}

// rewriting is the table of a file that is written as a whole.
type rewriting struct{ whole }

func (r rewriting) write(path string, values [][]float64) error {
	return r.save(path, batches(nil).and(values))
}

func (r rewriting) epoch(ctx context.Context, j job, use func([][]float64)) error {
	all, err := r.all(ctx)
	if err != nil {
		return err
	}
	order := rand.New(rand.NewPCG(j.Seed, 2)).Perm(j.Rows)
	room, out := all.room(j.Batch), make([][]float64, j.Columns)
	for rows := range slices.Chunk(order, j.Batch) {
		for column := range out {
			out[column] = room[column][:len(rows)]
		}
		all.copyRows(rows, out)
		use(out)
	}
	return nil
}

func (r rewriting) append(path string, values [][]float64) error {
	if err := r.open(path); err != nil {
		return err
	}
	all, err := r.all(context.Background())
	if err == nil {
		err = r.save(path+".new", all.and(values))
	}
	if err := errors.Join(err, r.close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// arrowFile is a mapped Arrow file. Its record batches are opened at once, since this copies
// nothing.
type arrowFile struct {
	batches
	mapped mmap.MMap
}

func (a *arrowFile) save(path string, all batches) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(all.schema()))
	if err != nil {
		return err
	}
	return errors.Join(all.records(w.Write), w.Close())
}

func (a *arrowFile) open(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // the mapping stays
	if a.mapped, err = mmap.Map(f, mmap.RDONLY, 0); err != nil {
		return err
	}
	r, err := ipc.NewMappedFileReader(a.mapped)
	if err != nil {
		return err
	}
	a.batches = nil
	for i := range r.NumRecords() {
		rec, err := r.RecordBatchAt(i)
		if err != nil {
			return err
		}
		a.add(rec)
	}
	return r.Close()
}

func (a *arrowFile) fetch(_ context.Context, rows []int) ([][]float64, error) {
	out := a.room(len(rows))
	a.copyRows(rows, out)
	return out, nil
}

func (a *arrowFile) all(context.Context) (batches, error) { return a.batches, nil }

func (a *arrowFile) close() error { return a.mapped.Unmap() }

// parquetFile is a Parquet file. A batch reads each row group that has one of its rows. An epoch
// first reads the whole file into memory, which is the fastest way if it fits.
type parquetFile struct{ *pqarrow.FileReader }

func (p *parquetFile) save(path string, all batches) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	props := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDictionaryDefault(false))
	w, err := pqarrow.NewFileWriter(all.schema(), f, props, pqarrow.DefaultWriterProps())
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return errors.Join(all.records(w.Write), w.Close()) // closes f
}

func (p *parquetFile) open(path string) error {
	r, err := file.OpenParquetFile(path, true)
	if err != nil {
		return err
	}
	p.FileReader, err = pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{Parallel: true, BatchSize: groupRows}, memory.DefaultAllocator)
	return err
}

// read reads row groups, or all for nil.
func (p *parquetFile) read(ctx context.Context, groups []int) (all batches, err error) {
	r, err := p.GetRecordReader(ctx, nil, groups)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	for r.Next() {
		rec := r.RecordBatch()
		rec.Retain() // its memory is Go's, and stays
		all.add(rec)
	}
	return all, r.Err()
}

func (p *parquetFile) fetch(ctx context.Context, rows []int) ([][]float64, error) {
	of := map[int][]int{} // the positions of the rows in each row group
	for i, row := range rows {
		of[row/groupRows] = append(of[row/groupRows], i)
	}
	var out [][]float64
	for group, positions := range of {
		got, err := p.read(ctx, []int{group})
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = got.room(len(rows))
		}
		for column := range out {
			for _, i := range positions {
				out[column][i] = got[0][column][rows[i]%groupRows]
			}
		}
	}
	return out, nil
}

func (p *parquetFile) all(ctx context.Context) (batches, error) { return p.read(ctx, nil) }

func (p *parquetFile) close() error { return p.ParquetReader().Close() }
