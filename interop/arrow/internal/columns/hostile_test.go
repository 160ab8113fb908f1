package columns_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// A batch is a record batch of any data, which the library has not checked.
type batch struct {
	arrow.RecordBatch
	schema *arrow.Schema
	data   []arrow.ArrayData
	rows   int64
}

func (b batch) Schema() *arrow.Schema    { return b.schema }
func (b batch) NumCols() int64           { return int64(len(b.data)) }
func (b batch) NumRows() int64           { return b.rows }
func (b batch) Column(i int) arrow.Array { return unchecked{data: b.data[i]} }

type unchecked struct {
	arrow.Array
	data arrow.ArrayData
}

func (u unchecked) Data() arrow.ArrayData { return u.data }

// one returns a batch of one column "a".
func one(t arrow.DataType, data arrow.ArrayData, rows int) batch {
	return batch{schema: arrow.NewSchema([]arrow.Field{{Name: "a", Type: t, Nullable: true}}, nil), data: []arrow.ArrayData{data}, rows: int64(rows)}
}

// changed returns a deep copy of data in which one thing is changed, and whether anything was.
func changed(r *rand.Rand, data arrow.ArrayData, at *int) *array.Data {
	d := data.(*array.Data)
	n, off, nulls := d.Len(), d.Offset(), d.NullN()
	odd := func(v int) int {
		return []int{-1, 0, v - 1, v + 1, v + r.IntN(1000), math.MaxInt, math.MinInt, math.MaxInt - v, 1 << 31, 1 << 40}[r.IntN(10)]
	}
	mine := func() bool { *at--; return *at == -1 }
	if mine() {
		n = odd(n)
	}
	if mine() {
		off = odd(off)
	}
	if mine() {
		nulls = odd(nulls)
	}
	var buffers []*memory.Buffer
	for _, b := range d.Buffers() {
		if b == nil {
			if mine() {
				b = memory.NewBufferBytes(make([]byte, r.IntN(20)))
			}
			buffers = append(buffers, b)
			continue
		}
		bytes := append([]byte{}, b.Bytes()...)
		if mine() {
			bytes = bytes[:r.IntN(len(bytes)+1)]
		}
		if mine() {
			for range 1 + r.IntN(3) {
				if len(bytes) > 0 {
					bytes[r.IntN(len(bytes))] ^= byte(1 << r.IntN(8))
				}
			}
		}
		b = memory.NewBufferBytes(bytes)
		if mine() {
			b = nil
		}
		buffers = append(buffers, b)
	}
	if mine() && len(buffers) > 0 {
		buffers = buffers[1:]
	}
	if mine() {
		buffers = append(buffers, nil)
	}
	var children []arrow.ArrayData
	for _, child := range d.Children() {
		children = append(children, changed(r, child, at))
	}
	if mine() && len(children) > 0 {
		children = children[1:]
	}
	if mine() {
		children = append(children, nil)
	}
	out := array.NewData(d.DataType(), n, buffers, children, nulls, off)
	if dict := d.Dictionary().(*array.Data); dict != nil {
		if x := changed(r, dict, at); !mine() {
			out.SetDictionary(x)
		}
	}
	return out
}

// classified reports whether an error is one that ToDict documents.
func classified(err error) bool {
	for _, known := range []error{
		columns.ErrArray, columns.ErrNull, columns.ErrMemory, columns.ErrType, ragged.ErrOffsets, ragged.ErrLengths, shapeops.ErrIndex,
		shapeops.ErrShape, tdict.ErrSchema, tdict.ErrKind,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// tryChanged changes one thing in a random batch and converts it.
func tryChanged(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 2))
	rec := randomBatch(t, r)
	bad := batch{RecordBatch: rec, schema: rec.Schema(), rows: rec.NumRows()}
	if r.IntN(3) == 0 {
		bad.schema = arrow.NewSchema(rec.Schema().Fields(), nil)
	}
	size := uint64(1 << 16)
	for _, c := range rec.Columns() {
		at := r.IntN(40)
		bad.data = append(bad.data, changed(r, c.Data(), &at))
		size += c.Data().SizeInBytes()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	td, err := columns.ToDict(bad, columns.Options{MaxMemory: int64(4 * size)})
	runtime.ReadMemStats(&after)
	require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, 64*size+1<<20, seed)
	if err != nil {
		require.True(t, classified(err), "seed %d: %v", seed, err)
		return
	}
	_, err = td.Clone() // reads all of it
	require.NoError(t, err, seed)
	_, err = columns.FromDict(td, nil)
	if err != nil {
		require.ErrorIs(t, err, tdict.ErrSchema, seed)
	}
}

// Whatever is changed in the arrays of a batch, ToDict returns a dictionary or an error.
func TestChanged(t *testing.T) {
	for seed := range uint64(longtests.Times(1500, 100000)) {
		tryChanged(t, seed)
	}
}

func FuzzChanged(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed)
	}
	f.Fuzz(tryChanged)
}

// randomBatch returns a batch of random columns, half of them sliced.
func randomBatch(t *testing.T, r *rand.Rand) arrow.RecordBatch {
	rec := typist{r}.batch(t)
	if r.IntN(2) == 0 {
		td, schema := randomDict(r)
		var err error
		rec, err = columns.FromDict(td, schema)
		require.NoError(t, err)
	}
	if r.IntN(2) == 0 {
		i := r.IntN(int(rec.NumRows()) + 1)
		rec = rec.NewSlice(int64(i), int64(i+r.IntN(int(rec.NumRows())-i+1)))
	}
	return rec
}
