package tdarrow_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/arrow/tdarrow"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestDataDiffers: Data of texts that differ between batches come back, from a file too, which has
// one dictionary for all batches.
func TestDataDiffers(t *testing.T) {
	var want []*tdict.TensorDict
	for _, texts := range [][]any{{"a", "b", "a"}, {"c", nil, "b"}} {
		td := tdict.New(len(texts))
		require.NoError(t, td.Set("s", tensor.Must(tdict.DataFrom(texts, len(texts)))))
		want = append(want, td)
	}
	for _, opt := range []tdarrow.WriteOptions{{}, {Stream: true}} {
		var b bytes.Buffer
		require.NoError(t, tdarrow.Write(t.Context(), &b, nil, func(yield func(*tdict.TensorDict, error) bool) {
			_ = yield(want[0], nil) && yield(want[1], nil)
		}, opt))
		path := filepath.Join(t.TempDir(), "x.arrow")
		require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
		i := 0
		for td, err := range tdarrow.ReadFile(t.Context(), path, tdarrow.Options{}) {
			require.NoError(t, err)
			require.True(t, td.Equal(want[i]), "%v", td)
			i++
		}
		require.Equal(t, 2, i)
	}
}

// TestStream: the schema of a stream is there before its rows, and SchemaOf has the one of a batch.
func TestStream(t *testing.T) {
	td, schema := visits(t, 10)
	b := written(t, schema, tdarrow.WriteOptions{Stream: true}, td)
	got, chunks, err := tdarrow.Stream(t.Context(), bytes.NewReader(b), tdarrow.Options{})
	require.NoError(t, err)
	require.Empty(t, schema.Diff(got))
	for chunk, err := range chunks {
		require.NoError(t, err)
		require.NoError(t, got.Check(chunk))
		require.True(t, chunk.Equal(td))
	}
	for _, err := range chunks {
		require.ErrorIs(t, err, tdarrow.ErrUsed)
	}
	_, _, err = tdarrow.Stream(t.Context(), bytes.NewReader(b[:20]), tdarrow.Options{})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)

	rec, err := tdarrow.FromDict(td, schema)
	require.NoError(t, err)
	got, err = tdarrow.SchemaOf(rec, tdarrow.Options{})
	require.NoError(t, err)
	require.Empty(t, schema.Diff(got))
}

// TestChangedColumn: a column that was cast, with the metadata kept, keeps its place and the name
// of its mask. An Optional entry of the schema without a column is told.
func TestChangedColumn(t *testing.T) {
	td, err := tdict.FromMap([]int{2}, tdict.Entries{
		"a": tensor.Vector[int32](1, 0), "a_mask": tensor.Vector(true, false), "z": tensor.Vector[int8](1, 2),
	})
	require.NoError(t, err)
	schema := tdict.Schema{{Key: "a", DType: tensor.Int32, Mask: "a_mask"}, {Key: "a_mask", DType: tensor.Bool}, {Key: "z", DType: tensor.Int8}}
	rec, err := tdarrow.FromDict(td, schema)
	require.NoError(t, err)
	floats := array.NewFloat64Data(array.NewData(arrow.PrimitiveTypes.Float64, 2,
		[]*memory.Buffer{rec.Column(0).Data().Buffers()[0], memory.NewBufferBytes(make([]byte, 16))}, nil, 1, 0))
	fields := rec.Schema().Fields()
	fields[0].Type = floats.DataType()
	meta := rec.Schema().Metadata()
	rec = array.NewRecordBatch(arrow.NewSchema(fields, &meta), []arrow.Array{floats, rec.Column(1)}, 2)
	got, err := tdarrow.SchemaOf(rec, tdarrow.Options{})
	require.NoError(t, err)
	require.Equal(t, []nestedkey.Key{"a", "a_mask", "z"}, []nestedkey.Key{got[0].Key, got[1].Key, got[2].Key})
	require.Equal(t, tensor.Float64, got[0].DType)

	var notes []string
	_, err = tdarrow.ToDict(rec, tdarrow.Options{Schema: append(got, tdict.Spec{Key: "y", DType: tensor.Int8, Optional: true}), Note: func(text string) { notes = append(notes, text) }})
	require.NoError(t, err)
	require.Equal(t, []string{`entry "y" of the schema has no column`}, notes)
}

// TestColumnsOfOneName: their number does not matter for the time of each.
func TestColumnsOfOneName(t *testing.T) {
	const n = 20_000 // was more than a minute
	fields, columns := make([]arrow.Field, n), make([]arrow.Array, n)
	for i := range fields {
		fields[i] = arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int8}
		columns[i] = array.NewInt8Data(array.NewData(arrow.PrimitiveTypes.Int8, 1, []*memory.Buffer{nil, memory.NewBufferBytes([]byte{1})}, nil, 0, 0))
	}
	td, err := tdarrow.ToDict(array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, 1), tdarrow.Options{})
	require.NoError(t, err)
	require.True(t, td.Has("x20000"))
}
