package tdarrow_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/arrow/tdarrow"
)

// allTypes returns a batch with a column of each type that has an entry.
func allTypes(t testing.TB) arrow.RecordBatch {
	t.Helper()
	dict := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.BinaryTypes.String}
	var fields []arrow.Field
	var arrays []arrow.Array
	for i, c := range []struct {
		typ  arrow.DataType
		json string
	}{
		{arrow.Null, `[null, null, null, null]`},
		{arrow.FixedWidthTypes.Boolean, `[true, null, false, true]`},
		{arrow.PrimitiveTypes.Uint16, `[1, null, 3, 4]`},
		{arrow.FixedWidthTypes.Float16, `[1, 2, 3, 4]`},
		{arrow.FixedWidthTypes.Date32, `["2024-01-02", null, "1969-12-31", "2000-01-01"]`},
		{arrow.FixedWidthTypes.Time32ms, `["01:02:03.004", null, "00:00:00", "23:59:59"]`},
		{arrow.BinaryTypes.Binary, `["YQ==", null, "", "ZA=="]`},
		{arrow.BinaryTypes.LargeString, `["a", null, "", "d"]`},
		{arrow.BinaryTypes.StringView, `["a", null, "", "longer than twelve bytes"]`},
		{&arrow.FixedSizeBinaryType{ByteWidth: 3}, `["YWFh", null, "YmJi", "Y2Nj"]`},
		{arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int16)), `[[[1, 2], null], null, [], [[3, null]]]`},
		{arrow.ListOf(arrow.BinaryTypes.Binary), `[["YQ=="], null, [], ["ZA==", null]]`},
		{arrow.ListOf(dict), `[["a"], null, [], ["b", null]]`},
		{arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32), `[[1, 2], null, [5, 6], [7, 8]]`},
		{arrow.ListOf(arrow.StructOf(arrow.Field{Name: "x", Type: dict, Nullable: true}, arrow.Field{Name: "y", Type: arrow.BinaryTypes.Binary, Nullable: true})),
			`[[{"x": "a", "y": "YQ=="}], null, [], [{"x": null, "y": null}]]`},
	} {
		a, _, err := array.FromJSON(memory.DefaultAllocator, c.typ, strings.NewReader(c.json))
		require.NoError(t, err, "%v", c.typ)
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: c.typ, Nullable: true})
		arrays = append(arrays, a)
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, 4)
}

// TestAllTypesInferred infers and reads what the library wrote.
func TestAllTypesInferred(t *testing.T) {
	ctx := context.Background()
	rec := allTypes(t)
	want, err := tdarrow.ToDict(rec, tdarrow.Options{})
	require.NoError(t, err)
	for _, compress := range [][]ipc.Option{nil, {ipc.WithLZ4()}} {
		var b bytes.Buffer
		w, err := ipc.NewFileWriter(&b, append(compress, ipc.WithSchema(rec.Schema()))...)
		require.NoError(t, err)
		require.NoError(t, w.Write(rec))
		require.NoError(t, w.Write(rec.NewSlice(1, 3)))
		require.NoError(t, w.Close())
		path := onDisk(t, b.Bytes())
		tds := all(t, tdarrow.ReadFile(ctx, path, tdarrow.Options{}))
		require.Len(t, tds, 2)
		diff, err := want.Diff(tds[0])
		require.NoError(t, err)
		require.Empty(t, diff)
		part, err := want.Narrow(0, 1, 2)
		require.NoError(t, err)
		require.True(t, part.Equal(tds[1]))

		schema, err := tdarrow.Infer(bytes.NewReader(b.Bytes()), tdarrow.Options{})
		require.NoError(t, err)
		streamed := all(t, tdarrow.Read(ctx, bytes.NewReader(b.Bytes()), tdarrow.Options{Schema: schema}))
		require.True(t, want.Equal(streamed[0]))
	}
}

// TestReadsFilesOfTheLibrary reads a file and a stream from the tests of the library, which are
// under the Apache License 2.0: arrow/ipc/testdata/custom_metadata*. Their batches have metadata.
func TestReadsFilesOfTheLibrary(t *testing.T) {
	for _, name := range []string{"library.arrow", "library.arrows"} {
		path := filepath.Join("testdata", name)
		schema, err := tdarrow.InferFile(path, tdarrow.Options{})
		require.NoError(t, err)
		td := joined(t, all(t, tdarrow.ReadFile(context.Background(), path, tdarrow.Options{})))
		require.Equal(t, "id  name\n1   \"a\"\n2   \"b\"\n3   \"c\"\n4   \"d\"\n5   \"e\"\n6   \"f\"", schema.Head(td, 9))
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		streamed := joined(t, all(t, tdarrow.Read(context.Background(), bytes.NewReader(b), tdarrow.Options{Schema: schema})))
		require.True(t, td.Equal(streamed))
	}
}
