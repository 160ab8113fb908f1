package columns_test

import (
	"encoding/binary"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// buffers returns buffers of slices of numbers, and nil for nil.
func buffers(all ...any) (out []*memory.Buffer) {
	for _, x := range all {
		switch x := x.(type) {
		case []byte:
			out = append(out, memory.NewBufferBytes(x))
		case []int32:
			out = append(out, memory.NewBufferBytes(cast.Bytes(x)))
		case []int64:
			out = append(out, memory.NewBufferBytes(cast.Bytes(x)))
		default:
			out = append(out, nil)
		}
	}
	return out
}

// view returns the header of a view of n bytes from off in a buffer.
func view(n, buffer, off int32) []byte {
	b := binary.NativeEndian.AppendUint32(nil, uint32(n))
	b = append(b, "pref"...)
	b = binary.NativeEndian.AppendUint32(b, uint32(buffer))
	return binary.NativeEndian.AppendUint32(b, uint32(off))
}

// Each array breaks one rule.
func TestBadArrays(t *testing.T) {
	i8, text := arrow.PrimitiveTypes.Int8, arrow.BinaryTypes.String
	of := func(t arrow.DataType, n int, b []*memory.Buffer, nulls, off int, children ...arrow.ArrayData) *array.Data {
		return array.NewData(t, n, b, children, nulls, off)
	}
	bytes := func(n int) *array.Data { return of(i8, n, buffers(nil, make([]byte, n)), 0, 0) }
	list, listView, fixed := arrow.ListOf(i8), arrow.ListViewOf(i8), arrow.FixedSizeListOf(2, i8)
	fixedBytes := &arrow.FixedSizeBinaryType{ByteWidth: 2}
	object := arrow.StructOf(arrow.Field{Name: "x", Type: i8, Nullable: true})
	dict := &arrow.DictionaryType{IndexType: i8, ValueType: text}
	codes := func(b ...byte) *array.Data {
		texts := of(text, 1, buffers(nil, []int32{0, 1}, []byte("f")), 0, 0)
		return array.NewDataWithDictionary(dict, len(b), buffers(nil, b), 0, 0, texts)
	}
	long := "more than twelve"
	tests := []struct {
		name string
		typ  arrow.DataType
		data arrow.ArrayData
		err  error
	}{
		{"a valid array", i8, bytes(2), nil},
		{"an offset in a valid array", i8, of(i8, 2, buffers(nil, make([]byte, 3)), 0, 1), nil},
		{"an unknown null count is counted", i8, of(i8, 2, buffers([]byte{1}, make([]byte, 2)), -1, 0), nil},
		{"no data", i8, nil, columns.ErrArray},
		{"typed nil", i8, (*array.Data)(nil), columns.ErrArray},
		{"a negative length", i8, of(i8, -1, buffers(nil, make([]byte, 2)), 0, 0), columns.ErrArray},
		{"a negative offset", i8, of(i8, 2, buffers(nil, make([]byte, 2)), 0, -1), columns.ErrArray},
		{"a sum that overflows", i8, of(i8, 2, buffers(nil, make([]byte, 2)), 0, 1<<62), columns.ErrArray},
		{"a short buffer", i8, of(i8, 2, buffers(nil, make([]byte, 1)), 0, 0), columns.ErrArray},
		{"a buffer too short for the offset", i8, of(i8, 2, buffers(nil, make([]byte, 2)), 0, 1), columns.ErrArray},
		{"no buffer", i8, of(i8, 2, buffers(nil, nil), 0, 0), columns.ErrArray},
		{"too few buffers", i8, of(i8, 2, buffers(nil), 0, 0), columns.ErrArray},
		{"too many buffers", i8, of(i8, 2, buffers(nil, make([]byte, 2), nil), 0, 0), columns.ErrArray},
		{"a short bitmap", i8, of(i8, 9, buffers([]byte{255}, make([]byte, 9)), 0, 0), columns.ErrArray},
		{"nulls without a bitmap", i8, of(i8, 2, buffers(nil, make([]byte, 2)), 1, 0), columns.ErrArray},
		{"no nulls by the count, but by the bitmap", i8, of(i8, 2, buffers([]byte{1}, make([]byte, 2)), 0, 0), columns.ErrArray},
		{"too many nulls by the count", i8, of(i8, 2, buffers([]byte{1}, make([]byte, 2)), 2, 0), columns.ErrArray},
		{"another type", i8, of(arrow.PrimitiveTypes.Uint8, 2, buffers(nil, make([]byte, 2)), 0, 0), tdict.ErrSchema},

		{"a valid list", list, of(list, 2, buffers(nil, []int32{1, 1, 2}), 0, 0, bytes(2)), nil},
		{"an empty list without offsets", list, of(list, 0, buffers(nil, nil), 0, 0, bytes(2)), nil},
		{"a list without children", list, of(list, 2, buffers(nil, []int32{0, 1, 2}), 0, 0), columns.ErrArray},
		{"a list with a nil child", list, of(list, 2, buffers(nil, []int32{0, 1, 2}), 0, 0, nil), columns.ErrArray},
		{"too few offsets", list, of(list, 2, buffers(nil, []int32{0, 1}), 0, 0, bytes(2)), columns.ErrArray},
		{"offsets that decrease", list, of(list, 2, buffers(nil, []int32{0, 2, 1}), 0, 0, bytes(2)), ragged.ErrOffsets},
		{"a negative first offset", list, of(list, 2, buffers(nil, []int32{-1, 1, 2}), 0, 0, bytes(2)), ragged.ErrOffsets},
		{"a last offset beyond the child", list, of(list, 2, buffers(nil, []int32{0, 1, 3}), 0, 0, bytes(2)), ragged.ErrOffsets},
		{"a null whose list is not empty", list, of(list, 2, buffers([]byte{2}, []int32{0, 1, 2}), 1, 0, bytes(2)), nil},
		{"offsets that decrease beside a null", list, of(list, 2, buffers([]byte{2}, []int32{0, 2, 1}), 1, 0, bytes(2)), ragged.ErrOffsets},
		{"a short child of lists of one size", fixed, of(fixed, 2, buffers(nil), 0, 0, bytes(3)), columns.ErrArray},
		{"a bad child", fixed, of(fixed, 1, buffers(nil), 0, 0, of(i8, 2, buffers(nil, nil), 0, 0)), columns.ErrArray},
		{"list views in any order", listView, of(listView, 2, buffers(nil, []int32{1, 0}, []int32{1, 2}), 0, 0, bytes(2)), nil},
		{"a list view beyond the child", listView, of(listView, 1, buffers(nil, []int32{1}, []int32{2}), 0, 0, bytes(2)), ragged.ErrOffsets},
		{"a list view of a negative size", listView, of(listView, 1, buffers(nil, []int32{1}, []int32{-1}), 0, 0, bytes(2)), ragged.ErrOffsets},
		{"a list view of a negative offset", listView, of(listView, 1, buffers(nil, []int32{-1}, []int32{1}), 0, 0, bytes(2)), ragged.ErrOffsets},

		{"a valid struct", object, of(object, 1, buffers(nil), 0, 1, bytes(2)), nil},
		{"a short child of a struct", object, of(object, 2, buffers(nil), 0, 1, bytes(2)), columns.ErrArray},
		{"a struct with another number of children", object, of(object, 2, buffers(nil), 0, 0), columns.ErrArray},

		{"valid texts", text, of(text, 2, buffers(nil, []int32{0, 1, 2}, []byte("ab")), 0, 0), nil},
		{"texts beyond their bytes", text, of(text, 2, buffers(nil, []int32{0, 1, 3}, []byte("ab")), 0, 0), columns.ErrArray},
		{"texts without bytes", text, of(text, 2, buffers(nil, []int32{0, 1, 3}, nil), 0, 0), columns.ErrArray},
		{"texts with a negative offset", text, of(text, 2, buffers(nil, []int32{-1, 1, 2}, []byte("ab")), 0, 0), ragged.ErrOffsets},
		{"texts with a negative last offset", text, of(text, 1, buffers(nil, []int32{-2, -1}, []byte("ab")), 0, 0), columns.ErrArray},
		{"a valid view", arrow.BinaryTypes.StringView, of(arrow.BinaryTypes.StringView, 1, buffers(nil, view(16, 0, 0), []byte(long)), 0, 0), nil},
		{"a view beyond its buffer", arrow.BinaryTypes.StringView, of(arrow.BinaryTypes.StringView, 1, buffers(nil, view(16, 0, 1), []byte(long)), 0, 0), columns.ErrArray},
		{"a view of a buffer that is not there", arrow.BinaryTypes.StringView, of(arrow.BinaryTypes.StringView, 1, buffers(nil, view(16, 1, 0), []byte(long)), 0, 0), columns.ErrArray},
		{"a view of a negative buffer", arrow.BinaryTypes.StringView, of(arrow.BinaryTypes.StringView, 1, buffers(nil, view(16, -1, 0), []byte(long)), 0, 0), columns.ErrArray},
		{"a view of a negative length", arrow.BinaryTypes.StringView, of(arrow.BinaryTypes.StringView, 1, buffers(nil, view(-1, 0, 0), []byte(long)), 0, 0), columns.ErrArray},
		{"a view from a negative offset", arrow.BinaryTypes.StringView, of(arrow.BinaryTypes.StringView, 1, buffers(nil, view(16, 0, -1), []byte(long)), 0, 0), columns.ErrArray},
		{"short headers of views", arrow.BinaryTypes.StringView, of(arrow.BinaryTypes.StringView, 1, buffers(nil, view(16, 0, 0)[:15]), 0, 0), columns.ErrArray},

		{"a child of a type that has none", fixedBytes, of(fixedBytes, 1, buffers(nil, make([]byte, 2)), 0, 0, nil), columns.ErrArray},
		{"valid codes", dict, codes(0, 0), nil},
		{"a code beyond the dictionary", dict, codes(0, 1), shapeops.ErrIndex},
		{"a negative code", dict, codes(0, 255), shapeops.ErrIndex},
		{"no dictionary", dict, of(dict, 1, buffers(nil, []byte{0}), 0, 0), columns.ErrArray},
		{"a null in the dictionary", dict, array.NewDataWithDictionary(dict, 2, buffers(nil, []byte{0, 1}), 0, 0, of(text, 2, buffers([]byte{1}, []int32{0, 1, 1}, []byte("f")), 1, 0)), nil},
		{"a null code is not read", dict, array.NewDataWithDictionary(dict, 1, buffers([]byte{0}, []byte{9}), 1, 0, of(text, 0, buffers(nil, nil, nil), 0, 0)), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := 0
			if d, ok := tt.data.(*array.Data); ok && d != nil {
				n = max(0, d.Len())
			}
			td, err := columns.ToDict(one(tt.typ, tt.data, n), columns.Options{})
			if tt.err == nil {
				require.NoError(t, err)
				_, err = td.Clone()
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, tt.err)
			require.ErrorContains(t, err, `column "a"`)
		})
	}
	_, err := columns.ToDict(one(i8, bytes(2), 3), columns.Options{})
	require.ErrorIs(t, err, columns.ErrArray) // another number of rows
	bad := arrow.StructOf(arrow.Field{Name: "x", Type: list})
	_, err = columns.ToDict(one(bad, of(bad, 1, buffers(nil), 0, 0, of(list, 1, buffers(nil, []int32{0, 3}), 0, 0, bytes(2))), 1), columns.Options{})
	require.ErrorContains(t, err, `"a/x"`)
}

// Lists that are views of the same elements may take no more than MaxMemory.
func TestViewsAreBounded(t *testing.T) {
	const n = 1000
	typ := arrow.ListViewOf(arrow.PrimitiveTypes.Int8)
	sizes := make([]int32, n)
	for i := range sizes {
		sizes[i] = n
	}
	child := array.NewData(arrow.PrimitiveTypes.Int8, n, buffers(nil, make([]byte, n)), nil, 0, 0)
	data := array.NewData(typ, n, buffers(nil, make([]int32, n), sizes), []arrow.ArrayData{child}, 0, 0)
	_, err := columns.ToDict(one(typ, data, n), columns.Options{MaxMemory: 100 * n})
	require.ErrorIs(t, err, columns.ErrMemory)
	_, err = columns.ToDict(one(typ, data, n), columns.Options{})
	require.NoError(t, err)
}

// A null of a dictionary is a null of the rows that have it.
func TestNullsOfDictionaries(t *testing.T) {
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	dict := array.NewData(arrow.BinaryTypes.String, 2, buffers([]byte{2}, []int32{0, 1, 2}, []byte("xf")), nil, 1, 0)
	td, err := columns.ToDict(one(typ, array.NewDataWithDictionary(typ, 3, buffers(nil, []byte{1, 0, 1}), 0, 0, dict), 3), columns.Options{})
	require.NoError(t, err)
	require.Equal(t, []bool{true, false, true}, tensor.Must(tdict.Slice[bool](td, "a_mask")))
	require.Zero(t, tensor.Must(tdict.Slice[int32](td, "a"))[1])
}

// A null inside a null is not one more: the entry inside has no mask, and zeros.
func TestNullsInsideNulls(t *testing.T) {
	typ := arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int8, Nullable: true})
	x := array.NewData(arrow.PrimitiveTypes.Int8, 2, buffers([]byte{1}, []byte{7, 8}), nil, 1, 0)
	td, err := columns.ToDict(one(typ, array.NewData(typ, 2, buffers([]byte{1}), []arrow.ArrayData{x}, 1, 0), 2), columns.Options{})
	require.NoError(t, err)
	require.False(t, td.Has("a/x_mask"))
	require.Equal(t, []bool{true, false}, tensor.Must(tdict.Slice[bool](td, "a_mask")))
	require.Equal(t, []int8{7, 0}, tensor.Must(tdict.Slice[int8](td, "a/x")))
}

// A null list has no elements, whatever the array has there.
func TestNullListsAreEmpty(t *testing.T) {
	typ := arrow.ListOf(arrow.PrimitiveTypes.Int8)
	x := array.NewData(arrow.PrimitiveTypes.Int8, 3, buffers(nil, []byte{7, 8, 9}), nil, 0, 0)
	td, err := columns.ToDict(one(typ, array.NewData(typ, 3, buffers([]byte{5}, []int32{0, 1, 2, 3}), []arrow.ArrayData{x}, 1, 0), 3), columns.Options{})
	require.NoError(t, err)
	got := tensor.Must(tdict.Get[*ragged.Tensor](td, "a"))
	require.Equal(t, []int64{0, 1, 1, 2}, tensor.Must(got.Layout().Offsets(1)))
	require.Equal(t, []int8{7, 9}, tensor.Must(tensor.Slice[int8](tensor.Must(got.Values()))))
}

func TestFromDictRefusals(t *testing.T) {
	l := tensor.Must(ragged.LayoutOf(shapeops.Shape{2}, []int64{2, 0}))
	other := tensor.Must(ragged.LayoutOf(shapeops.Shape{2}, []int64{0, 2}))
	lists := func(l *ragged.Layout) tdict.Value { return tensor.Must(ragged.New(tensor.Vector[int8](1, 2), l)) }
	bits := func(l *ragged.Layout) tdict.Value { return tensor.Must(ragged.New(tensor.Vector(true, false), l)) }
	objects := tdict.Schema{
		{Key: "a", Kind: tdict.KindDict, Depth: 1, Mask: "m"}, {Key: "m", Kind: tdict.KindRagged, DType: tensor.Bool, Depth: 1},
		{Key: "a/x", Kind: tdict.KindRagged, DType: tensor.Int8, Depth: 1}, {Key: "a/y", Kind: tdict.KindRagged, DType: tensor.Int8, Depth: 1},
	}
	codes := tdict.Schema{{Key: "a", DType: tensor.Int8, Categories: []string{"f"}, Mask: "m"}, {Key: "m", DType: tensor.Bool}}
	tests := []struct {
		name    string
		entries tdict.Entries
		schema  tdict.Schema
		err     error
		key     string
	}{
		{"bfloat16", tdict.Entries{"a": tensor.Vector(tensor.BF16Of(1), 2)}, nil, columns.ErrType, "a"},
		{"complex numbers", tdict.Entries{"d/a": tensor.Vector[complex64](1, 2)}, nil, columns.ErrType, "d/a"},
		{"Data that is not text", tdict.Entries{"a": tensor.Must(tdict.NewData(1, 2))}, nil, tdict.ErrKind, "a"},
		{"an unbatched tensor", tdict.Entries{"a": tensor.Must(tdict.NewUnbatched(tensor.Vector[int8](1, 2, 3)))}, nil, tdict.ErrKind, "a"},
		{"an entry that the schema lacks", tdict.Entries{"a": tensor.Vector[int8](1, 2)}, tdict.Schema{}, tdict.ErrSchema, "a"},
		{"text that is not UTF-8", tdict.Entries{"a": tensor.Must(ragged.FromStrings([]string{"\xff", ""}))}, tdict.Schema{{Key: "a", Kind: tdict.KindText}}, tdict.ErrSchema, "a"},
		{"text that is cut in a rune", tdict.Entries{"a": tensor.Must(ragged.FromStrings([]string{"\xc3", "\xa9"}))}, tdict.Schema{{Key: "a", Kind: tdict.KindText}}, tdict.ErrSchema, "a"},
		{"a day beyond int32", tdict.Entries{"a": tensor.Vector[int64](1, 1<<31)}, tdict.Schema{{Key: "a", DType: tensor.Int64, Unit: "d", Time: "2006"}}, tdict.ErrSchema, "a"},
		{"a missing day beyond int32", tdict.Entries{"a": tensor.Vector[int64](1, 1<<31), "m": tensor.Vector(true, false)}, tdict.Schema{{Key: "a", DType: tensor.Int64, Unit: "d", Time: "2006", Mask: "m"}, {Key: "m", DType: tensor.Bool}}, nil, ""},
		{"a code without a text", tdict.Entries{"a": tensor.Vector[int8](1, 0), "m": tensor.Vector(true, true)}, codes, tdict.ErrSchema, "a"},
		{"a code without a text that is missing", tdict.Entries{"a": tensor.Vector[int8](1, 0), "m": tensor.Vector(false, true)}, codes, nil, ""},
		{"equal lists of objects", tdict.Entries{"a/x": lists(l), "a/y": lists(l), "m": bits(l)}, objects, nil, ""},
		{"lists of objects that differ", tdict.Entries{"a/x": lists(l), "a/y": lists(other), "m": bits(l)}, objects, ragged.ErrLengths, "a/y"},
		{"a mask of other lists", tdict.Entries{"a/x": lists(l), "a/y": lists(l), "m": bits(other)}, objects, ragged.ErrLengths, "m"},
		{"a mask of another shape", tdict.Entries{"a": tensor.Vector[int8](0, 0), "m": tensor.Must(tensor.Zeros[bool](2, 2))}, codes, tdict.ErrSchema, "m"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := tensor.Must(tdict.FromMap(shapeops.Shape{2}, tt.entries))
			_, err := columns.FromDict(td, tt.schema)
			if tt.err == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, tt.err)
			require.ErrorContains(t, err, `"`+tt.key+`"`)
		})
	}
	_, err := columns.FromDict(tdict.New(), nil)
	require.ErrorIs(t, err, shapeops.ErrDim)
	_, err = columns.FromDict(nil, nil)
	require.ErrorIs(t, err, shapeops.ErrDim)
	td := tdict.New(2)
	require.NoError(t, td.Set("d/x", tensor.Vector[int8](1, 2)))
	for _, schema := range []tdict.Schema{
		{{Key: "d", Kind: tdict.KindDict, Depth: 1}, {Key: "d/x", DType: tensor.Int8}},
		{{Key: "d/x", DType: tensor.Int8}, {Key: "e", Kind: tdict.KindDict, Shape: shapeops.Shape{3}, Optional: true}, {Key: "e/x", DType: tensor.Int8, Optional: true}},
		{{Key: "d/x", DType: tensor.Int8}, {Key: "e", DType: tensor.Int8, Shape: shapeops.Shape{tdict.Any}, Optional: true}},
	} {
		_, err = columns.FromDict(td, schema)
		require.ErrorIs(t, err, tdict.ErrSchema)
	}
	_, err = columns.ArrowSchema(tdict.Schema{{Key: "a"}})
	require.ErrorIs(t, err, tdict.ErrSchema)
}

// Entries that a chunk lacks are null in all rows, also in lists of objects.
func TestOptional(t *testing.T) {
	l := tensor.Must(ragged.LayoutOf(shapeops.Shape{2}, []int64{2, 0}))
	schema := tdict.Schema{
		{Key: "x", DType: tensor.Int8, Shape: shapeops.Shape{2}, Optional: true}, {Key: "t", Kind: tdict.KindText, Depth: 1, Optional: true},
		{Key: "d/y", Kind: tdict.KindRagged, DType: tensor.Int8, Depth: 1, Optional: true, Mask: "d/m"}, {Key: "d/m", DType: tensor.Bool, Optional: true},
		{Key: "o", Kind: tdict.KindDict, Depth: 1}, {Key: "o/a", Kind: tdict.KindRagged, DType: tensor.Int8, Depth: 1},
		{Key: "o/b", Kind: tdict.KindRagged, DType: tensor.Int8, Depth: 1, Shape: shapeops.Shape{2}, Optional: true},
		{Key: "o/c", Kind: tdict.KindText, Depth: 2, Optional: true}, {Key: "o/d", Kind: tdict.KindDict, Depth: 1, Optional: true},
		{Key: "o/d/e", Kind: tdict.KindRagged, DType: tensor.Int8, Depth: 2},
	}
	td := tdict.New(2)
	require.NoError(t, td.Set("o/a", tensor.Must(ragged.New(tensor.Vector[int8](1, 2), l))))
	rec, err := columns.FromDict(td, schema)
	require.NoError(t, err)
	require.Equal(t, []string{
		`{"d":{"y":null},"o":[{"a":1,"b":null,"c":null,"d":null},{"a":2,"b":null,"c":null,"d":null}],"t":null,"x":null}`,
		`{"d":{"y":null},"o":[],"t":null,"x":null}`,
	}, rowsOf(t, rec))
	want, err := columns.ArrowSchema(schema)
	require.NoError(t, err)
	require.True(t, want.Equal(rec.Schema()), rec.Schema())
	back, err := columns.ToDict(rec, columns.Options{})
	require.NoError(t, err)
	require.Equal(t, []bool{false, false}, tensor.Must(tdict.Slice[bool](back, "t_mask")))
	again, err := columns.FromDict(back, tensor.Must(columns.NewReader(rec.Schema(), columns.Options{})).Schema())
	require.NoError(t, err)
	require.Equal(t, rowsOf(t, rec), rowsOf(t, again))
}

// The dims of the batch shape after the first are dims of the entries.
func TestBatchDims(t *testing.T) {
	td := tdict.New(2, 3)
	require.NoError(t, td.Set("x", tensor.Must(tensor.Zeros[int8](2, 3, 2))))
	require.NoError(t, td.Set("r", tensor.Must(ragged.New(tensor.Vector[int8](1), tensor.Must(ragged.NewLayout(shapeops.Shape{2, 3}, []int64{0, 0, 0, 1, 1, 1, 1}))))))
	rec, err := columns.FromDict(td, nil)
	require.NoError(t, err)
	back, err := columns.ToDict(rec, columns.Options{})
	require.NoError(t, err)
	same(t, tensor.Must(td.WithBatch(2)), back)
}
