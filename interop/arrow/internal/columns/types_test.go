package columns_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// fromJSON returns a batch of rows in JSON.
func fromJSON(t *testing.T, schema *arrow.Schema, text string) arrow.RecordBatch {
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(text))
	require.NoError(t, err)
	return rec
}

// column returns a schema of one column "a" that may be null.
func column(typ arrow.DataType, meta ...string) *arrow.Schema {
	f := arrow.Field{Name: "a", Type: typ, Nullable: true}
	if len(meta) == 2 {
		f.Metadata = arrow.NewMetadata([]string{"ARROW:extension:name", "ARROW:extension:metadata"}, meta)
	}
	return arrow.NewSchema([]arrow.Field{f}, nil)
}

func TestTypes(t *testing.T) {
	list := arrow.ListOf
	tests := []struct {
		name   string
		schema *arrow.Schema
		json   string // of column a
		spec   string // of the entry
		want   string // its elements, or those of its values
	}{
		{"date32 is days", column(arrow.FixedWidthTypes.Date32), `["1970-01-02","1969-12-31"]`, `tensor int64 [] unit d, time 2006-01-02`, "[ 1 -1]"},
		{"date64 is milliseconds", column(arrow.FixedWidthTypes.Date64), `["1970-01-02"]`, `tensor int64 [] unit ms, time 2006-01-02`, "[86400000]"},
		{"a timestamp keeps its unit", column(&arrow.TimestampType{Unit: arrow.Microsecond}), `["1970-01-01T00:00:01"]`, `tensor int64 [] unit us, time 2006-01-02T15:04:05.000000`, "[1000000]"},
		{"a time zone is Z", column(&arrow.TimestampType{Unit: arrow.Second, TimeZone: "Asia/Tokyo"}), `["1970-01-01T00:00:01Z"]`, `tensor int64 [] unit s, time 2006-01-02T15:04:05Z`, "[1]"},
		{"a time of day is no instant", column(arrow.FixedWidthTypes.Time32s), `["00:00:05"]`, `tensor int64 [] unit s`, "[5]"},
		{"time64", column(arrow.FixedWidthTypes.Time64ns), `["00:00:00.000000005"]`, `tensor int64 [] unit ns`, "[5]"},
		{"a duration is no instant", column(arrow.FixedWidthTypes.Duration_ms), `["5ms"]`, `tensor int64 [] unit ms`, "[5]"},
		{"binary is bytes", column(arrow.BinaryTypes.Binary), `["AQI=","Aw=="]`, `ragged uint8 [*]`, "[1 2 3]"},
		{"large binary in lists", column(list(arrow.BinaryTypes.LargeBinary)), `[["AQI="],["Aw=="]]`, `ragged uint8 [* *]`, "[1 2 3]"},
		{"a view of binary", column(arrow.BinaryTypes.BinaryView), `["AQI="]`, `ragged uint8 [*]`, "[1 2]"},
		{"fixed binary is a dim", column(&arrow.FixedSizeBinaryType{ByteWidth: 2}), `["AQI=","AwQ="]`, `tensor uint8 [2]`, "[[1 2]\n [3 4]]"},
		{"a null of fixed binary is a mask of bytes", column(&arrow.FixedSizeBinaryType{ByteWidth: 2}), `["AQI=",null]`, `tensor uint8 [2] mask a_mask`, "[[1 2]\n [0 0]]"},
		{"fixed binary in lists", column(list(&arrow.FixedSizeBinaryType{ByteWidth: 2})), `[["AQI=","AwQ="],[null]]`, `ragged uint8 [* 2] mask a_mask`, "[[1 2]\n [3 4]\n [0 0]]"},
		{"lists in lists of one size are levels", column(arrow.FixedSizeListOf(2, list(arrow.PrimitiveTypes.Int8))), `[[[1],[2,3]]]`, `ragged int8 [2 *]`, "[1 2 3]"},
		{"lists of one size between lists are levels", column(list(arrow.FixedSizeListOf(1, list(arrow.PrimitiveTypes.Int8)))), `[[[[1]],[[2,3]]]]`, `ragged int8 [* * *]`, "[1 2 3]"},
		{"nulls in a value of several elements make a level", column(list(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8))), `[[[1,null]]]`, `ragged int8 [* *] mask a_mask`, "[1 0]"},
		{"what is always null is text", column(arrow.Null), `[null]`, `text [] mask a_mask`, "[]"},
		{"lists of null are lists of numbers", column(list(arrow.Null)), `[[null]]`, `ragged float64 [*] mask a_mask`, "[0]"},
		{"a dictionary of numbers is decoded", column(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int64}), `[7,null,9,7]`, `tensor int64 [] mask a_mask`, "[7 0 9 7]"},
		{"a dictionary of texts is codes", column(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: arrow.BinaryTypes.String}), `["m","f","m"]`, `tensor int32 [] 2 categories "m" "f"`, "[0 1 0]"},
		{"a fixed shape tensor", column(arrow.FixedSizeListOf(6, arrow.PrimitiveTypes.Int8), "arrow.fixed_shape_tensor", `{"shape":[2,3]}`), `[[1,2,3,4,5,6]]`, `tensor int8 [2 3]`, "[[[1 2 3]\n  [4 5 6]]]"},
		{"a shape of another size is not taken", column(arrow.FixedSizeListOf(6, arrow.PrimitiveTypes.Int8), "arrow.fixed_shape_tensor", `{"shape":[2,2]}`), `[[1,2,3,4,5,6]]`, `tensor int8 [6]`, "[[1 2 3 4 5 6]]"},
		{"an extension is what stores it", column(extensions.NewBool8Type()), `[true]`, `tensor int8 []`, "[1]"},
		{"a list of objects", column(list(arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8}))), `[[{"a":1},{"a":2}],null]`, `dictionary [*] mask a_mask`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := fromJSON(t, tt.schema, rowsOfA(tt.json))
			x, err := columns.NewInferrer(tt.schema, columns.Options{})
			require.NoError(t, err)
			require.NoError(t, x.Add(rec))
			schema, err := x.Schema()
			require.NoError(t, err)
			require.Equal(t, schema, tensor.Must(x.Schema())) // the same again
			require.Equal(t, tt.spec, describe(schema[0]))
			td, err := columns.ToDict(rec, columns.Options{})
			require.NoError(t, err)
			v, err := td.Get("a")
			require.NoError(t, err)
			if r, ok := v.(*ragged.Tensor); ok {
				v = tensor.Must(r.Values())
			}
			if x, ok := v.(*tensor.Tensor); ok {
				_, text, _ := strings.Cut(x.String(), "\n")
				require.Equal(t, tt.want, text)
			}
			whole, err := schemaOf(tt.schema, columns.Options{}) // without the batch
			require.NoError(t, err)
			r, err := columns.NewReader(tt.schema, columns.Options{Schema: whole})
			require.NoError(t, err)
			if _, err = r.Dict(rec); tt.name == "nulls in a value of several elements make a level" {
				require.ErrorIs(t, err, columns.ErrNull)
			} else {
				require.NoError(t, err)
			}
		})
	}
}

// rowsOfA returns the elements of a JSON list as rows with column a.
func rowsOfA(list string) string {
	if list == "[]" {
		return list
	}
	depth, from, quoted, rows := 0, 1, false, []string{}
	for i, c := range list {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		}
		if depth == 1 && c == ',' || depth == 0 {
			rows = append(rows, `{"a":`+list[from:i]+`}`)
			from = i + 1
		}
	}
	return "[" + strings.Join(rows, ",") + "]"
}

// describe describes a spec in a line.
func describe(s tdict.Spec) string {
	line := strings.Split(tdict.Schema{s}.String(), "\n")[1]
	return strings.Join(strings.Fields(line)[1:], " ")
}

func TestUnsupported(t *testing.T) {
	for _, typ := range []arrow.DataType{
		&arrow.Decimal128Type{Precision: 5, Scale: 2}, arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int8),
		arrow.SparseUnionOf([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int8}}, []arrow.UnionTypeCode{0}),
		arrow.FixedWidthTypes.MonthInterval, arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int8),
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: &arrow.Decimal256Type{}},
		arrow.ListOf(&arrow.Decimal256Type{}),
	} {
		in := arrow.StructOf(arrow.Field{Name: "x", Type: typ}, arrow.Field{Name: "y", Type: arrow.PrimitiveTypes.Int8})
		s := arrow.NewSchema([]arrow.Field{{Name: "a/b", Type: typ}, {Name: "in", Type: in}}, nil)
		_, err := schemaOf(s, columns.Options{})
		require.ErrorIs(t, err, columns.ErrType)
		require.ErrorContains(t, err, `"a~1b"`)
		var notes []string
		got, err := schemaOf(s, columns.Options{Skip: true, Note: func(text string) { notes = append(notes, text) }})
		require.NoError(t, err)
		require.Equal(t, tdict.Schema{{Key: "in/y", DType: tensor.Int8}}, got)
		require.Len(t, notes, 2)
		require.Contains(t, notes[1], `"in/x" is left out`)
	}
	deep := arrow.DataType(arrow.PrimitiveTypes.Int8)
	for range 100000 {
		deep = arrow.ListOf(deep)
	}
	_, err := schemaOf(column(deep), columns.Options{})
	require.ErrorIs(t, err, columns.ErrType)
}

func TestNames(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "x", Type: arrow.PrimitiveTypes.Int8}, {Name: "x", Type: arrow.PrimitiveTypes.Int16}, {Name: "", Type: arrow.PrimitiveTypes.Int8},
		{Name: "x_mask", Type: arrow.PrimitiveTypes.Int8, Nullable: true}, {Name: "x2", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	}, nil)
	got, err := schemaOf(s, columns.Options{})
	require.NoError(t, err)
	keys := []nestedkey.Key{}
	for _, s := range got {
		keys = append(keys, s.Key)
	}
	require.Equal(t, []nestedkey.Key{"x", "x2", "", "x_mask", "x_mask_mask", "x22", "x22_mask"}, keys)
	_, err = schemaOf(arrow.NewSchema([]arrow.Field{{Name: "\xff", Type: arrow.Null}}, nil), columns.Options{})
	require.ErrorIs(t, err, nestedkey.ErrKey)
}

func TestHuggingFace(t *testing.T) {
	meta := arrow.NewMetadata([]string{"huggingface", "pandas"}, []string{`{"info":{"features":{
		"label":{"names":["cat","dog"],"_type":"ClassLabel"},
		"pos":{"feature":{"dtype":"float32","_type":"Value"},"length":2,"_type":"Sequence"},
		"labels":{"feature":{"names":["a","b"],"_type":"ClassLabel"},"_type":"Sequence"},
		"old":[{"names":["a","b"],"_type":"ClassLabel"}],
		"in":{"label":{"names":["x"],"_type":"ClassLabel"}},
		"img":{"shape":[2,3],"dtype":"uint8","_type":"Array2D"},
		"video":{"shape":[null,2],"dtype":"uint8","_type":"Array2D"}}}}`, `{"columns":0}`})
	i64, u8, list := arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint8, arrow.ListOf
	s := arrow.NewSchema([]arrow.Field{
		{Name: "label", Type: i64}, {Name: "pos", Type: list(arrow.PrimitiveTypes.Float32), Nullable: true}, {Name: "labels", Type: list(i64)},
		{Name: "old", Type: list(i64)}, {Name: "in", Type: arrow.StructOf(arrow.Field{Name: "label", Type: i64})},
		{Name: "img", Type: list(list(u8)), Nullable: true}, {Name: "video", Type: list(list(u8))},
	}, &meta)
	rec := fromJSON(t, s, `[
		{"label":1,"pos":[1,2],"labels":[0],"old":[1],"in":{"label":0},"img":[[1,2,3],[4,5,6]],"video":[[1,2]]},
		{"label":0,"pos":null,"labels":[],"old":[],"in":{"label":0},"img":null,"video":[[1,2],[3,4]]}]`)
	x, err := columns.NewInferrer(s, columns.Options{})
	require.NoError(t, err)
	require.NoError(t, x.Add(rec))
	got, err := x.Schema()
	require.NoError(t, err)
	lines := []string{}
	for _, s := range got {
		lines = append(lines, string(s.Key)+" "+describe(s))
	}
	require.Equal(t, []string{
		`label tensor int64 [] 2 categories "cat" "dog"`, "pos tensor float32 [2] mask pos_mask", "pos_mask tensor bool [2] where pos is not missing",
		`labels ragged int64 [*] 2 categories "a" "b"`, `old ragged int64 [*] 2 categories "a" "b"`, `in/label tensor int64 [] 1 categories "x"`,
		"img tensor uint8 [2 3] mask img_mask", "img_mask tensor bool [2 3] where img is not missing", "video ragged uint8 [* 2]",
	}, lines)
	td, err := columns.ToDict(rec, columns.Options{})
	require.NoError(t, err)
	require.Equal(t, []uint8{1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0}, tensor.Must(tdict.Slice[uint8](td, "img")))
	require.Equal(t, []float32{1, 2, 0, 0}, tensor.Must(tdict.Slice[float32](td, "pos")))
	rec = fromJSON(t, s, `[{"label":1,"pos":[1,2,3],"labels":[0],"old":[1],"in":{"label":0},"img":[[1,2,3],[4,5,6]],"video":[[1,2]]}]`)
	_, err = columns.ToDict(rec, columns.Options{})
	require.ErrorIs(t, err, ragged.ErrLengths)
	require.ErrorContains(t, err, `"pos"`)
}

// The texts of a schema number the texts of each batch.
func TestDictionaries(t *testing.T) {
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	s := column(typ)
	schema := tdict.Schema{{Key: "a", DType: tensor.Uint8, Categories: []string{"f", "m"}, Mask: "known"}, {Key: "known", DType: tensor.Bool}}
	r, err := columns.NewReader(s, columns.Options{Schema: schema})
	require.NoError(t, err)
	for _, tt := range []struct {
		json string
		want []uint8
	}{{`["m","f"]`, []uint8{1, 0}}, {`["f","m",null]`, []uint8{0, 1, 0}}, {`["m"]`, []uint8{1}}, {`[]`, []uint8{}}} {
		td, err := r.Dict(fromJSON(t, s, rowsOfA(tt.json)))
		require.NoError(t, err)
		require.Equal(t, tt.want, append([]uint8{}, tensor.Must(tdict.Slice[uint8](td, "a"))...))
	}
	_, err = r.Dict(fromJSON(t, s, rowsOfA(`["m","x"]`)))
	require.ErrorIs(t, err, tdict.ErrSchema)
	require.ErrorContains(t, err, `column "a": value 1: schema mismatch: got "x", want one of 2 categories`)

	plain, err := columns.NewReader(column(arrow.BinaryTypes.StringView), columns.Options{Schema: schema}) // texts without a dictionary
	require.NoError(t, err)
	td, err := plain.Dict(fromJSON(t, column(arrow.BinaryTypes.StringView), rowsOfA(`["m",null]`)))
	require.NoError(t, err)
	require.Equal(t, []uint8{1, 0}, tensor.Must(tdict.Slice[uint8](td, "a")))

	text, err := columns.NewReader(s, columns.Options{Schema: tdict.Schema{{Key: "a", Kind: tdict.KindText}}}) // decoded
	require.NoError(t, err)
	td, err = text.Dict(fromJSON(t, s, rowsOfA(`["m","x","m"]`)))
	require.NoError(t, err)
	require.Equal(t, []string{"m", "x", "m"}, tensor.Must(ragged.Strings(tensor.Must(tdict.Get[*ragged.Tensor](td, "a")))))
}

func TestKeys(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Int8, Nullable: true}, {Name: "bad", Type: &arrow.Decimal128Type{}},
		{Name: "in", Type: arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int8}, arrow.Field{Name: "y", Type: arrow.PrimitiveTypes.Int8}), Nullable: true},
	}, nil)
	for _, tt := range []struct {
		keys []nestedkey.Key
		want string
	}{
		{[]nestedkey.Key{"a"}, "[a a_mask]"}, {[]nestedkey.Key{"a_mask", "a"}, "[a a_mask]"}, {[]nestedkey.Key{"in"}, "[in in_mask in/x in/y]"}, {[]nestedkey.Key{"in/y"}, "[in in_mask in/y]"},
		{[]nestedkey.Key{}, "[]"}, {nil, "[a a_mask in in_mask in/x in/y]"},
	} {
		schema, err := schemaOf(s, columns.Options{Keys: tt.keys, Skip: true})
		require.NoError(t, err)
		keys := []nestedkey.Key{}
		for _, s := range schema {
			keys = append(keys, s.Key)
		}
		require.Equal(t, tt.want, fmt.Sprint(keys))
	}
	_, err := schemaOf(s, columns.Options{Keys: []nestedkey.Key{"b"}, Skip: true})
	require.ErrorIs(t, err, tdict.ErrMissing)
	_, err = schemaOf(s, columns.Options{Keys: []nestedkey.Key{"in_mask"}, Skip: true})
	require.ErrorIs(t, err, tdict.ErrMissing)
	_, err = schemaOf(s, columns.Options{Keys: []nestedkey.Key{"in"}}) // "bad" is not selected
	require.NoError(t, err)
	_, err = columns.NewReader(s, columns.Options{Schema: tdict.Schema{{Key: "in/x", DType: tensor.Int8}}})
	require.NoError(t, err)
	_, err = columns.NewReader(s, columns.Options{Schema: tdict.Schema{{Key: "bad", DType: tensor.Int8}}})
	require.ErrorIs(t, err, columns.ErrType)
}

func TestReaderRefusals(t *testing.T) {
	i8 := arrow.PrimitiveTypes.Int8
	tests := []struct {
		name string
		typ  arrow.DataType
		spec tdict.Spec
		json string
		err  error
	}{
		{"another dtype", i8, tdict.Spec{DType: tensor.Int16}, `[1]`, tdict.ErrSchema},
		{"another unit", arrow.FixedWidthTypes.Timestamp_ms, tdict.Spec{DType: tensor.Int64, Unit: "s", Time: "2006"}, `[]`, tdict.ErrSchema},
		{"another shape", arrow.FixedSizeListOf(2, i8), tdict.Spec{DType: tensor.Int8, Shape: shapeops.Shape{3}}, `[]`, tdict.ErrSchema},
		{"more dims", i8, tdict.Spec{DType: tensor.Int8, Shape: shapeops.Shape{1}}, `[]`, tdict.ErrSchema},
		{"more levels", arrow.ListOf(i8), tdict.Spec{Kind: tdict.KindRagged, DType: tensor.Int8, Depth: 2}, `[]`, tdict.ErrSchema},
		{"text that is a number", i8, tdict.Spec{Kind: tdict.KindText}, `[1]`, tdict.ErrSchema},
		{"a kind that no column has", i8, tdict.Spec{Kind: tdict.KindUnbatched, DType: tensor.Int8}, `[1]`, tdict.ErrSchema},
		{"more categories than numbers", arrow.BinaryTypes.String, tdict.Spec{DType: tensor.Int8, Categories: strings.Fields(manyTexts(200))}, `[]`, tdict.ErrSchema},
		{"a null without a mask", i8, tdict.Spec{DType: tensor.Int8}, `[1,null]`, columns.ErrNull},
		{"a null in a list without a mask", arrow.ListOf(i8), tdict.Spec{Kind: tdict.KindRagged, DType: tensor.Int8, Depth: 1}, `[[null]]`, columns.ErrNull},
		{"a list of another length", arrow.ListOf(i8), tdict.Spec{DType: tensor.Int8, Shape: shapeops.Shape{2}}, `[[1]]`, ragged.ErrLengths},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.spec.Key = "a"
			r, err := columns.NewReader(column(tt.typ), columns.Options{Schema: tdict.Schema{tt.spec}})
			if err == nil {
				_, err = r.Dict(fromJSON(t, column(tt.typ), rowsOfA(tt.json)))
			}
			require.ErrorIs(t, err, tt.err)
			require.ErrorContains(t, err, `"a"`)
		})
	}
	_, err := columns.NewReader(column(i8), columns.Options{Schema: tdict.Schema{{Key: "b", DType: tensor.Int8}}})
	require.ErrorIs(t, err, tdict.ErrMissing)
	r, err := columns.NewReader(column(i8), columns.Options{Schema: tdict.Schema{{Key: "b", DType: tensor.Int8, Optional: true}, {Key: "a", DType: tensor.Int8, Optional: true}}})
	require.NoError(t, err)
	td, err := r.Dict(fromJSON(t, column(i8), rowsOfA(`[1,null]`)))
	require.NoError(t, err)
	require.NoError(t, r.Schema().Check(td))
	require.Equal(t, []bool{true, false}, tensor.Must(tdict.Slice[bool](td, "a_mask")))
	_, err = r.Dict(nil)
	require.ErrorIs(t, err, tdict.ErrKind)
	_, err = r.Dict(fromJSON(t, column(arrow.PrimitiveTypes.Int16), rowsOfA(`[1]`)))
	require.ErrorIs(t, err, tdict.ErrSchema)
	_, err = columns.ToDict(nil, columns.Options{})
	require.ErrorIs(t, err, tdict.ErrKind)
	r, err = columns.NewReader(column(i8), columns.Options{MaxMemory: 10})
	require.NoError(t, err)
	_, err = r.Dict(fromJSON(t, column(i8), rowsOfA(`[1,null,1,1,1,1,1,1]`)))
	require.ErrorIs(t, err, columns.ErrMemory)
}

func manyTexts(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprint(&b, "t", i, " ")
	}
	return b.String()
}

// Memory of another allocator is kept as long as tensors use it, and then freed.
func TestKeepsMemory(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	rec, _, err := array.RecordFromJSON(mem, column(arrow.PrimitiveTypes.Int8), strings.NewReader(rowsOfA(`[1,2,3]`)))
	require.NoError(t, err)
	td, err := columns.ToDict(rec, columns.Options{})
	require.NoError(t, err)
	rec.Release()
	require.Positive(t, mem.CurrentAlloc())
	x := tensor.Must(td.Tensor("a"))
	runtime.GC()
	require.Equal(t, []int8{1, 2, 3}, tensor.Must(tensor.Slice[int8](x)))
	require.Error(t, x.CopyFrom(tensor.Vector[int8](1, 2, 3))) // read-only
	runtime.KeepAlive(td)
	td, x = nil, nil
	require.Eventually(t, func() bool {
		runtime.GC()
		return mem.CurrentAlloc() == 0
	}, time.Minute, time.Millisecond)

	rec, _, err = array.RecordFromJSON(mem, column(arrow.PrimitiveTypes.Int8), strings.NewReader(rowsOfA(`[1,2,3]`)))
	require.NoError(t, err)
	s := tensor.Must(tensor.Of[int8](tensor.Must(tensor.Must(columns.ToDict(rec, columns.Options{})).Tensor("a")))) // pins it
	rec.Release()
	for range 10 {
		runtime.GC()
	}
	require.Positive(t, mem.CurrentAlloc())
	require.Equal(t, []int8{1, 2, 3}, s)
}

// Columns with equal offsets share a layout.
func TestSharesLayouts(t *testing.T) {
	td, schema := wide(100, "ragged")
	rec := tensor.Must(columns.FromDict(td, schema))
	first, second := rec.Column(0).Data().Buffers()[1].Bytes(), rec.Column(1).Data().Buffers()[1].Bytes()
	require.Same(t, &first[0], &second[0])
	back := tensor.Must(columns.ToDict(rec, columns.Options{}))
	require.Same(t, tensor.Must(tdict.Get[*ragged.Tensor](back, "c0")).Layout(), tensor.Must(tdict.Get[*ragged.Tensor](back, "c9")).Layout())
}

// Spec.Columns names the field, in both directions.
func TestColumnsNameFields(t *testing.T) {
	schema := tdict.Schema{
		{Key: "shape_", DType: tensor.Int8, Columns: []string{"shape"}}, {Key: "two", DType: tensor.Int8, Columns: []string{"shape"}},
		{Key: "pos", DType: tensor.Int8, Shape: shapeops.Shape{2}, Columns: []string{"x", "y"}}, {Key: "shape", DType: tensor.Int8},
		{Key: "dir", Kind: tdict.KindDict, Columns: []string{"dtype"}}, {Key: "dir/a", DType: tensor.Int8, Columns: []string{"km/h"}},
	}
	td := tensor.Must(schema.Zeros(2))
	require.NoError(t, td.Set("dir/a", tensor.Vector[int8](3, 4)))
	rec, err := columns.FromDict(td, schema)
	require.NoError(t, err)
	require.Equal(t, []string{
		`{"dtype":{"km/h":3},"pos":[0,0],"shape":0,"shape_":0,"two":0}`, `{"dtype":{"km/h":4},"pos":[0,0],"shape":0,"shape_":0,"two":0}`,
	}, rowsOf(t, rec))
	for _, opt := range []columns.Options{{}, {Schema: schema}} {
		back, err := columns.ToDict(rec, opt)
		require.NoError(t, err)
		same(t, td, back)
	}
	r, err := columns.NewReader(without(rec).Schema(), columns.Options{Schema: schema})
	require.NoError(t, err)
	same(t, td, tensor.Must(r.Dict(rec)))
}

// The schema in the metadata wins for the columns that still fit it.
func TestStoredSchema(t *testing.T) {
	schema := tdict.Schema{
		{Key: "c", DType: tensor.Int8, Categories: []string{"f"}, Doc: "codes"}, {Key: "n", DType: tensor.Int8, Unit: "kg"},
		{Key: "o", Kind: tdict.KindDict, Depth: 1, Mask: "deep"}, {Key: "deep", Kind: tdict.KindRagged, DType: tensor.Bool, Depth: 1, Mask: "flat"},
		{Key: "flat", DType: tensor.Bool}, {Key: "o/x", Kind: tdict.KindRagged, DType: tensor.Int8, Depth: 1, Unit: "kg"},
	}
	rec, err := columns.FromDict(tensor.Must(schema.Zeros(0)), schema)
	require.NoError(t, err)
	stored, fields := rec.Schema().Metadata(), rec.Schema().Fields()
	i8 := arrow.PrimitiveTypes.Int8
	kg := "tensor int8 [] unit kg"
	object := func(fields ...arrow.Field) arrow.DataType { return arrow.LargeListOf(arrow.StructOf(fields...)) }
	tests := []struct {
		name   string
		fields []arrow.Field
		json   string
		key    nestedkey.Key
		want   string
	}{
		{"what fits", fields[1:2], `[{"n":1}]`, "n", kg},
		{"a known category", fields[:1], `[{"c":"f"}]`, "c", `tensor int8 [] 1 categories "f", codes`},
		{"a category that is new", fields[:1], `[{"c":"m"}]`, "c", `tensor int32 [] 1 categories "m"`},
		{"a null that is new", []arrow.Field{{Name: "n", Type: i8, Nullable: true}}, `[{"n":null}]`, "n", "tensor int8 [] mask n_mask"},
		{"another type", []arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int16}}, `[{"n":1}]`, "n", "tensor int16 []"},
		{"another column", []arrow.Field{{Name: "m", Type: i8}, fields[1]}, `[{"n":1,"m":1}]`, "n", kg},
		{"the masks of a list of objects", fields[2:], `[{"o":[{"x":1}]}]`, "o/x", "ragged int8 [*] unit kg"},
		{"a field that is new", []arrow.Field{{Name: "o", Type: object(arrow.Field{Name: "x", Type: i8}, arrow.Field{Name: "y", Type: i8})}}, `[{"o":[{"x":1,"y":1}]}]`, "o/x", "ragged int8 [*]"},
		{"a field that is gone", []arrow.Field{{Name: "o", Type: object(arrow.Field{Name: "y", Type: i8})}}, `[{"o":[{"y":1}]}]`, "o/y", "ragged int8 [*]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := arrow.NewSchema(tt.fields, &stored)
			x, err := columns.NewInferrer(s, columns.Options{})
			require.NoError(t, err)
			require.NoError(t, x.Add(fromJSON(t, s, tt.json)))
			got, err := x.Schema()
			require.NoError(t, err)
			spec, ok := got.Find(tt.key)
			require.True(t, ok, got)
			require.Equal(t, tt.want, describe(spec))
			_, err = columns.ToDict(fromJSON(t, s, tt.json), columns.Options{})
			require.NoError(t, err)
		})
	}
	got, err := schemaOf(rec.Schema(), columns.Options{Keys: []nestedkey.Key{"o/x"}})
	require.NoError(t, err)
	require.Equal(t, schema[2:], got)
	bad := arrow.NewMetadata([]string{"tensordict"}, []string{"{"})
	got, err = schemaOf(arrow.NewSchema(fields[1:2], &bad), columns.Options{})
	require.NoError(t, err)
	require.Equal(t, tdict.Schema{{Key: "n", DType: tensor.Int8}}, got)
}

// Metadata that claim long lists take no memory for the lists that are not there.
func TestClaimedLengths(t *testing.T) {
	inner := arrow.FixedSizeListOf(1<<31-1, arrow.FixedSizeListOf(1<<31-1, arrow.PrimitiveTypes.Int8))
	list := arrow.ListOf(inner)
	meta := arrow.NewMetadata([]string{"huggingface"}, []string{`{"info":{"features":{"a":{"length":2147483647,"feature":{},"_type":"Sequence"}}}}`})
	bytes := array.NewData(arrow.PrimitiveTypes.Int8, 0, buffers(nil, nil), nil, 0, 0)
	x := array.NewData(inner.Elem(), 0, buffers(nil), []arrow.ArrayData{bytes}, 0, 0)
	y := array.NewData(inner, 0, buffers(nil), []arrow.ArrayData{x}, 0, 0)
	b := one(list, array.NewData(list, 2, buffers([]byte{0}, []int32{0, 0, 0}), []arrow.ArrayData{y}, 2, 0), 2)
	b.schema = arrow.NewSchema(b.schema.Fields(), &meta)
	_, err := columns.ToDict(b, columns.Options{})
	require.ErrorIs(t, err, columns.ErrMemory)
}
