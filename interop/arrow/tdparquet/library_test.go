package tdparquet_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/arrow/tdarrow"
	"github.com/go-tensordict/tensordict/interop/arrow/tdparquet"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// record returns a batch with nulls and nested columns.
func record(n int) arrow.RecordBatch {
	r := rand.New(rand.NewPCG(3, 4))
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "i", Type: arrow.PrimitiveTypes.Int64}, {Name: "j", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "f", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "b", Type: arrow.FixedWidthTypes.Boolean}, {Name: "k", Type: &arrow.FixedSizeBinaryType{ByteWidth: 3}},
		{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64), Nullable: true},
		{Name: "o", Type: arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, arrow.Field{Name: "y", Type: arrow.BinaryTypes.String, Nullable: true}), Nullable: true},
		{Name: "d", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}},
		{Name: "never", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	}, nil))
	lists, structs := b.Field(6).(*array.ListBuilder), b.Field(7).(*array.StructBuilder)
	for i := range n {
		b.Field(0).(*array.Int64Builder).Append(int64(i) * 1000)
		b.Field(1).(*array.Int32Builder).AppendValues([]int32{int32(r.IntN(100))}, []bool{i%5 != 2})
		b.Field(2).(*array.Float64Builder).AppendValues([]float64{r.Float64()}, []bool{i%7 != 3})
		b.Field(3).(*array.StringBuilder).AppendValues([]string{fmt.Sprint("prefix", i/3)}, []bool{i%4 != 1})
		b.Field(4).(*array.BooleanBuilder).Append(i%3 == 0)
		b.Field(5).(*array.FixedSizeBinaryBuilder).Append([]byte{byte(i), 1, 2})
		lists.Append(i%6 != 4)
		for k := range (i % 6 % 4) * min(1, 4-min(4, i%6)) {
			lists.ValueBuilder().(*array.Int64Builder).AppendValues([]int64{int64(k)}, []bool{k != 1})
		}
		structs.Append(i%8 != 5)
		structs.FieldBuilder(0).(*array.Int32Builder).AppendValues([]int32{int32(i)}, []bool{i%8 != 5 && i%2 == 0})
		structs.FieldBuilder(1).(*array.StringBuilder).Append([]string{"u", "vv"}[i%2])
		_ = b.Field(8).(*array.BinaryDictionaryBuilder).AppendString([]string{"red", "green", "blue"}[r.IntN(3)])
		b.Field(9).(*array.Int64Builder).Append(int64(i))
	}
	return b.NewRecordBatch()
}

// TestReadsWhatTheLibraryWrites: each encoding, codec and version of pages gives the values that
// the batch has, in chunks of any size.
func TestReadsWhatTheLibraryWrites(t *testing.T) {
	const n = 1200
	rec := record(n)
	for name, opts := range map[string][]parquet.WriterProperty{
		"default":        nil,
		"brotli":         {parquet.WithCompression(compress.Codecs.Brotli)},
		"lz4":            {parquet.WithCompression(compress.Codecs.Lz4Raw)},
		"no statistics":  {parquet.WithStats(false)},
		"pages v2":       {parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithCompression(compress.Codecs.Snappy)},
		"pages v2, zstd": {parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDataPageSize(1000)},
		"small pages":    {parquet.WithDataPageSize(500), parquet.WithMaxRowGroupLength(700)},
		"plain":          {parquet.WithDictionaryDefault(false)},
		"delta": {parquet.WithDictionaryDefault(false), parquet.WithEncodingFor("i", parquet.Encodings.DeltaBinaryPacked), parquet.WithEncodingFor("j", parquet.Encodings.DeltaBinaryPacked),
			parquet.WithEncodingFor("s", parquet.Encodings.DeltaByteArray), parquet.WithEncodingFor("o.y", parquet.Encodings.DeltaLengthByteArray),
			parquet.WithEncodingFor("l.list.element", parquet.Encodings.DeltaBinaryPacked), parquet.WithEncodingFor("f", parquet.Encodings.ByteStreamSplit),
			parquet.WithCompression(compress.Codecs.Snappy)},
		"delta, pages v2": {parquet.WithDictionaryDefault(false), parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithEncodingFor("i", parquet.Encodings.DeltaBinaryPacked),
			parquet.WithEncodingFor("s", parquet.Encodings.DeltaByteArray), parquet.WithEncodingFor("l.list.element", parquet.Encodings.DeltaBinaryPacked), parquet.WithCompression(compress.Codecs.Gzip)},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			w, err := pqarrow.NewFileWriter(rec.Schema(), &b, parquet.NewWriterProperties(opts...), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
			require.NoError(t, err)
			require.NoError(t, w.WriteBuffered(rec))
			require.NoError(t, w.Close())

			schema, err := tdparquet.Infer(bytes.NewReader(b.Bytes()), int64(b.Len()), tdparquet.Options{})
			require.NoError(t, err)
			want := tensor.Must(tdarrow.ToDict(rec, tdarrow.Options{Schema: schema}))
			masks := map[string]string{}
			for _, s := range schema {
				masks[string(s.Key)] = string(s.Mask)
			}
			require.Equal(t, map[string]string{"i": "", "j": "j_mask", "f": "f_mask", "s": "s_mask", "b": "", "k": "", "l": "l_mask", "o": "o_mask", "o/x": "o/x_mask", "o/y": "o/y_mask", "d": "", "never": "",
				"j_mask": "", "f_mask": "", "s_mask": "", "l_mask": "l_mask2", "l_mask2": "", "o_mask": "", "o/x_mask": "", "o/y_mask": ""}, masks)
			d, _ := schema.Find("d")
			require.ElementsMatch(t, []string{"red", "green", "blue"}, d.Categories)
			for _, rows := range []int{0, 1, 97, n} {
				if rows == 1 && name != "small pages" {
					continue // a few thousand chunks
				}
				equal(t, want, readAll(t, b.Bytes(), tdparquet.Options{Schema: schema, Rows: rows}))
			}
		})
	}
}

// TestGroupsAndKeys reads some row groups, in an order, and some columns: others may be damaged.
func TestGroupsAndKeys(t *testing.T) {
	const n = 10
	td, err := tdict.FromMap([]int{n}, tdict.Entries{"a": numbers(t, tensor.Int64, n), "b/x": numbers(t, tensor.Int8, n), "b/y": numbers(t, tensor.Float32, n), "z": numbers(t, tensor.Float64, n)})
	require.NoError(t, err)
	b := write(t, td, tdict.SchemaOf(td), tdparquet.WriteOptions{Rows: 4, Compression: "none"})
	for i := 4; i < 40; i++ {
		b[i] = 0xff // pages of the first column
	}
	got := readAll(t, b, tdparquet.Options{Keys: []nestedKey{"b/y", "z"}, Groups: []int{2, 0, 2}})
	rows := tensor.Must(td.Index(ix.Take(8, 9, 0, 1, 2, 3, 8, 9)))
	equal(t, tensor.Must(rows.Select("b/y", "z")), got)
	_, err = opened(b, tdparquet.Options{})
	require.ErrorIs(t, err, tdparquet.ErrCorrupt)
	require.ErrorContains(t, err, `row group 0: column "a": `)
	for _, opt := range []tdparquet.Options{{Groups: []int{3}}, {Groups: []int{-1}}, {Keys: []nestedKey{"q"}}} {
		_, err := opened(b, opt)
		require.Error(t, err)
		require.NotErrorIs(t, err, tdparquet.ErrCorrupt)
	}
}

// TestNullStructs: fields that cannot be null are in structs that are. The library reads them as
// null there, which is no null of their own.
func TestNullStructs(t *testing.T) {
	inner := arrow.StructOf(arrow.Field{Name: "z", Type: arrow.PrimitiveTypes.Int8})
	s := arrow.NewSchema([]arrow.Field{{Name: "o", Nullable: true, Type: arrow.StructOf(
		arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int32}, arrow.Field{Name: "s", Type: arrow.BinaryTypes.String},
		arrow.Field{Name: "l", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int64)}, arrow.Field{Name: "i", Type: inner},
	)}}, nil)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, s, strings.NewReader(
		`[{"o": {"x": 1, "s": "a", "l": [1, 2], "i": {"z": 3}}}, {"o": null}, {"o": {"x": 2, "s": "", "l": [], "i": {"z": 4}}}, {"o": null}]`))
	require.NoError(t, err)
	var b bytes.Buffer
	w, err := pqarrow.NewFileWriter(s, &b, parquet.NewWriterProperties(), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	require.NoError(t, err)
	require.NoError(t, w.Write(rec))
	require.NoError(t, w.Close())
	for _, rows := range []int{0, 1, 3} {
		schema, err := tdparquet.Infer(bytes.NewReader(b.Bytes()), int64(b.Len()), tdparquet.Options{})
		require.NoError(t, err)
		td := readAll(t, b.Bytes(), tdparquet.Options{Schema: schema, Rows: rows})
		require.Equal(t, "o/x  o/s  o/l    o/i/z\n1    \"a\"  [1 2]  3\n0    \"\"   []     0\n2    \"\"   []     4\n0    \"\"   []     0", schema.Head(td, 9))
		require.Equal(t, []bool{true, false, true, false}, tensor.Must(tdict.Slice[bool](td, "o_mask")))
		require.Len(t, schema, 6) // no other masks
	}
}
