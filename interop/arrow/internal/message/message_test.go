package message_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/arrow/internal/message"
)

// jsonColumn is a column of each type, with a value, a null, and another value or two.
var jsonColumns = []struct {
	name string
	typ  arrow.DataType
	json string // an array of 4 values
}{
	{"null", arrow.Null, `[null, null, null, null]`},
	{"bool", arrow.FixedWidthTypes.Boolean, `[true, null, false, true]`},
	{"int8", arrow.PrimitiveTypes.Int8, `[1, null, -3, 4]`},
	{"uint16", arrow.PrimitiveTypes.Uint16, `[1, null, 3, 4]`},
	{"int32", arrow.PrimitiveTypes.Int32, `[1, 2, 3, 4]`},
	{"int64", arrow.PrimitiveTypes.Int64, `[1, null, 3, 4]`},
	{"float16", arrow.FixedWidthTypes.Float16, `[1, null, 3, 4]`},
	{"float64", arrow.PrimitiveTypes.Float64, `[1.5, 2.5, 3.5, 4.5]`},
	{"decimal", &arrow.Decimal128Type{Precision: 10, Scale: 2}, `["1.50", null, "3.25", "4.00"]`},
	{"date32", arrow.FixedWidthTypes.Date32, `["2024-01-02", null, "1969-12-31", "2000-01-01"]`},
	{"time32", arrow.FixedWidthTypes.Time32ms, `["01:02:03.004", null, "00:00:00", "23:59:59"]`},
	{"timestamp", &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, `["2024-01-02T03:04:05Z", null, "1970-01-01T00:00:00Z", "2000-01-01T00:00:00Z"]`},
	{"duration", arrow.FixedWidthTypes.Duration_s, `[1, null, 3, 4]`},
	{"interval", arrow.FixedWidthTypes.MonthInterval, `[{"months": 1}, null, {"months": 3}, {"months": 4}]`},
	{"text", arrow.BinaryTypes.String, `["a", null, "", "long enough for a view"]`},
	{"largetext", arrow.BinaryTypes.LargeString, `["a", null, "", "d"]`},
	{"binary", arrow.BinaryTypes.Binary, `["YQ==", null, "", "ZA=="]`},
	{"textview", arrow.BinaryTypes.StringView, `["a", null, "", "longer than twelve bytes"]`},
	{"fixed", &arrow.FixedSizeBinaryType{ByteWidth: 3}, `["YWFh", null, "YmJi", "Y2Nj"]`},
	{"list", arrow.ListOf(arrow.PrimitiveTypes.Int16), `[[1, 2], null, [], [3, null]]`},
	{"largelist", arrow.LargeListOf(arrow.BinaryTypes.String), `[["a"], null, [], ["b", null]]`},
	{"listview", arrow.ListViewOf(arrow.PrimitiveTypes.Int16), `[[1, 2], null, [], [3, null]]`},
	{"fixedlist", arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32), `[[1, 2], null, [5, 6], [7, null]]`},
	{"struct", arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		arrow.Field{Name: "y", Type: arrow.BinaryTypes.String, Nullable: true}), `[{"x": 1, "y": "a"}, null, {"x": null, "y": "c"}, {"x": 4, "y": null}]`},
	{"map", arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32), `[[{"key": "a", "value": 1}], null, [], [{"key": "b", "value": null}]]`},
	{"dict", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, `["a", null, "b", "a"]`},
	{"listofdict", arrow.ListOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: arrow.PrimitiveTypes.Int64}), `[[1, 2], null, [], [2, null]]`},
	{"extension", extensions.NewOpaqueType(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32), "pair", "test"), `[[1, 2], null, [5, 6], [9, 10]]`},
	{"rle", arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64), `[1, 1, null, 4]`},
}

// record returns a batch of all types, or of some.
func record(t testing.TB, names ...string) arrow.RecordBatch {
	t.Helper()
	var fields []arrow.Field
	var arrays []arrow.Array
	for _, c := range jsonColumns {
		if len(names) > 0 && !strings.Contains(" "+strings.Join(names, " ")+" ", " "+c.name+" ") {
			continue
		}
		a, _, err := array.FromJSON(memory.DefaultAllocator, c.typ, strings.NewReader(c.json))
		require.NoError(t, err, c.name)
		fields = append(fields, arrow.Field{Name: c.name, Type: c.typ, Nullable: true})
		arrays = append(arrays, a)
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, 4)
}

// written returns batches that the library wrote with the library, as a file or a stream.
func written(t testing.TB, stream bool, recs []arrow.RecordBatch, opt ...ipc.Option) []byte {
	t.Helper()
	var b bytes.Buffer
	opt = append(opt, ipc.WithSchema(recs[0].Schema()))
	var w interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
	if stream {
		w = ipc.NewWriter(&b, opt...)
	} else {
		f, err := ipc.NewFileWriter(&b, opt...)
		require.NoError(t, err)
		w = f
	}
	for _, rec := range recs {
		require.NoError(t, w.Write(rec))
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// forms are the ways to write.
var forms = []struct {
	name   string
	stream bool
	opt    []ipc.Option
}{
	{"file", false, nil},
	{"stream", true, nil},
	{"file lz4", false, []ipc.Option{ipc.WithLZ4()}},
	{"stream zstd", true, []ipc.Option{ipc.WithZstd()}},
}

// each calls fn with each batch of a file or a stream.
func each(b []byte, opt message.Options, fn func(i int, rec arrow.RecordBatch)) error {
	f, err := message.Open(b, opt)
	if err != nil {
		return err
	}
	for i := range f.Len() {
		rec, err := f.Batch(i)
		if err != nil {
			return err
		}
		fn(i, rec)
	}
	return nil
}

// eachStreamed is each with a Stream.
func eachStreamed(b []byte, opt message.Options, fn func(i int, rec arrow.RecordBatch)) error {
	s, err := message.NewStream(bytes.NewReader(b), opt)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		rec, err := s.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		fn(i, rec)
	}
}

func TestReadsWhatTheLibraryWrites(t *testing.T) {
	rec := record(t)
	testReads(t, []arrow.RecordBatch{rec, rec})
	var names []string
	for _, c := range jsonColumns {
		if c.name != "listview" && c.name != "rle" { // the library cannot write slices of them
			names = append(names, c.name)
		}
	}
	rec = record(t, names...)
	testReads(t, []arrow.RecordBatch{rec.NewSlice(0, 0), rec, rec.NewSlice(1, 3), rec.NewSlice(2, 4), rec.NewSlice(0, 0)})
}

// testReads compares batches with what is read of them.
func testReads(t *testing.T, recs []arrow.RecordBatch) {
	t.Helper()
	for _, form := range forms {
		t.Run(form.name, func(t *testing.T) {
			b := written(t, form.stream, recs, form.opt...)
			for name, read := range map[string]func([]byte, message.Options, func(int, arrow.RecordBatch)) error{"open": each, "stream": eachStreamed} {
				n := 0
				require.NoError(t, read(b, message.Options{}, func(i int, got arrow.RecordBatch) {
					for c := range int(got.NumCols()) {
						require.True(t, array.Equal(recs[i].Column(c), got.Column(c)), "%s: batch %d, column %s: got %v, want %v", name, i, got.ColumnName(c), got.Column(c), recs[i].Column(c))
					}
					require.True(t, array.RecordEqual(recs[i], got), "batch %d: got %v, want %v", i, got, recs[i])
					n++
				}), name)
				require.Equal(t, len(recs), n)
			}
		})
	}
}

func TestSelect(t *testing.T) {
	rec := record(t)
	for _, form := range forms {
		b := written(t, form.stream, []arrow.RecordBatch{rec}, form.opt...)
		f, err := message.Open(b, message.Options{})
		require.NoError(t, err)
		for c := range int(rec.NumCols()) {
			s := f.Select([]int{c})
			require.Equal(t, 1, s.NumFields())
			got, err := f.Batch(0)
			require.NoError(t, err, rec.ColumnName(c))
			require.True(t, array.Equal(rec.Column(c), got.Column(0)), "%s: %s", form.name, rec.ColumnName(c))
		}
		f.Select(nil)
		got, err := f.Batch(0)
		require.NoError(t, err)
		require.EqualValues(t, 4, got.NumRows())
	}
}

func TestFacts(t *testing.T) {
	rec := record(t, "int32", "int64", "struct", "dict", "list")
	b := written(t, true, []arrow.RecordBatch{rec})
	f, err := message.Open(b, message.Options{})
	require.NoError(t, err)
	facts, err := f.Facts()
	require.NoError(t, err)
	s, err := message.NewStream(bytes.NewReader(b), message.Options{})
	require.NoError(t, err)
	streamed, err := s.Facts()
	require.NoError(t, err)
	for _, facts := range []*message.Facts{facts, streamed} {
		for _, tt := range []struct {
			path  []int
			nulls bool
		}{{[]int{0}, false}, {[]int{1}, true}, {[]int{2}, true}, {[]int{2, 0}, true}, {[]int{3}, true}, {[]int{3, 0}, true}, {[]int{4}, true}} {
			require.Equal(t, tt.nulls, facts.Nulls(tt.path...), "%v", tt.path)
		}
		require.Equal(t, []string{"a", "b"}, facts.Texts(4))
		require.Nil(t, facts.Texts(0))
	}
	rec, err = f.Batch(0)
	require.NoError(t, err)
	require.EqualValues(t, 5, rec.NumCols())
}

// dictionaryBatch returns a batch with a column of texts with a dictionary.
func dictionaryBatch(t testing.TB, dict, codes string) arrow.RecordBatch {
	t.Helper()
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	values, _, err := array.FromJSON(memory.DefaultAllocator, arrow.BinaryTypes.String, strings.NewReader(dict))
	require.NoError(t, err)
	index, _, err := array.FromJSON(memory.DefaultAllocator, arrow.PrimitiveTypes.Int8, strings.NewReader(codes))
	require.NoError(t, err)
	schema := arrow.NewSchema([]arrow.Field{{Name: "d", Type: typ}}, nil)
	return array.NewRecordBatch(schema, []arrow.Array{array.NewDictionaryArray(typ, index, values)}, int64(index.Len()))
}

func TestDictionariesChange(t *testing.T) {
	recs := []arrow.RecordBatch{
		dictionaryBatch(t, `["a", "b"]`, `[0, 1]`),
		dictionaryBatch(t, `["a", "b", "c"]`, `[2, 0]`), // a delta, if deltas are written
		dictionaryBatch(t, `["x", "a"]`, `[0, 1]`),      // in a stream only
	}
	for _, tt := range []struct {
		name   string
		stream bool
		recs   []arrow.RecordBatch
		opt    []ipc.Option
		texts  []string
	}{
		{"a stream replaces", true, recs, nil, []string{"a", "b", "c", "x"}},
		{"a stream appends, then replaces", true, recs, []ipc.Option{ipc.WithDictionaryDeltas(true)}, []string{"a", "b", "c", "x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := written(t, tt.stream, tt.recs, tt.opt...)
			check := func(i int, got arrow.RecordBatch) {
				want, is := tt.recs[i].Column(0), got.Column(0)
				for j := range want.Len() {
					require.Equal(t, want.ValueStr(j), is.ValueStr(j), "batch %d, row %d", i, j)
				}
			}
			require.NoError(t, each(b, message.Options{}, check))
			require.NoError(t, eachStreamed(b, message.Options{}, check))
			f, err := message.Open(b, message.Options{})
			require.NoError(t, err)
			for _, i := range []int{len(tt.recs) - 1, 0, 1, 0} { // back, too
				rec, err := f.Batch(i)
				require.NoError(t, err)
				check(i, rec)
			}
			facts, err := f.Facts()
			require.NoError(t, err)
			require.Equal(t, tt.texts, facts.Texts(0))
		})
	}
}

// classified reports whether an error is one that the package promises.
func classified(err error) bool {
	var at *message.Error
	return errors.As(err, &at) && (errors.Is(err, message.ErrCorrupt) || errors.Is(err, message.ErrUnsupported) ||
		errors.Is(err, message.ErrMemory) || errors.Is(err, io.ErrUnexpectedEOF))
}

// readAll reads all that can be read of b, twice, and returns the error.
func readAll(b []byte, opt message.Options) error {
	none := func(_ int, rec arrow.RecordBatch) { touch(rec) }
	streamed := eachStreamed(b, opt, none)
	err := each(b, opt, none)
	if f, failed := message.Open(b, opt); failed == nil {
		_, failed := f.Facts()
		if failed != nil && !classified(failed) {
			return fmt.Errorf("facts: unclassified: %w", failed)
		}
	}
	for _, err := range []error{err, streamed} {
		if err != nil && !classified(err) {
			return fmt.Errorf("unclassified: %w", err)
		}
	}
	return err
}

// touch reads all fixed-size values, and all bitmaps.
func touch(rec arrow.RecordBatch) {
	var walk func(d arrow.ArrayData)
	walk = func(d arrow.ArrayData) {
		sum := 0
		for _, b := range d.Buffers() {
			if b != nil {
				for _, v := range b.Bytes() {
					sum += int(v)
				}
			}
		}
		for _, kid := range d.Children() {
			walk(kid)
		}
	}
	for _, c := range rec.Columns() {
		c.NullN()
		walk(c.Data())
	}
}
