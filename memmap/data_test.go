package memmap_test

import (
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// What Python's writer puts around the values of data.
const (
	dataHead  = `{"_type":"<class 'tensordict.tensorclass.NonTensorData'>","data":`
	dataTail  = `,"_is_non_tensor":true,"_metadata":null}`
	stackHead = `{"_type":"<class 'tensordict.tensorclass.NonTensorStack'>","stack_dim":0,"device":null,"data":`
	dictTail  = `"device":"cpu","_type":"<class 'tensordict._td.TensorDict'>"}`
)

// holding returns a dictionary of a batch shape with one entry, d.
func holding(t testing.TB, batch shapeops.Shape, v tdict.Value) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(batch...)
	require.NoError(t, td.Set("d", v))
	return td
}

// saveAs saves td in a new directory.
func saveAs(t testing.TB, td *tdict.TensorDict) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "d")
	require.NoError(t, memmap.Save(dir, td))
	return dir
}

func object(fields ...tdict.Field) *tdict.Object { return tensor.Must(tdict.NewObject(fields...)) }

// TestOneValueForAllRows saves and opens each kind of value, and compares with what Python writes.
func TestOneValueForAllRows(t *testing.T) {
	nested := object(tdict.Field{Name: "z", Value: []any{object(), []any{nil}}}, tdict.Field{Name: "a", Value: object(tdict.Field{Name: "", Value: 1})})
	tests := []struct {
		name  string
		value any
		want  string
	}{
		{"nothing", nil, `null`},
		{"yes", true, `true`},
		{"no", false, `false`},
		{"the least integer", int64(math.MinInt64), `-9223372036854775808`},
		{"the greatest integer", int64(math.MaxInt64), `9223372036854775807`},
		{"a float that is whole stays a float", 1.0, `1.0`},
		{"minus zero keeps its sign", math.Copysign(0, -1), `-0.0`},
		{"a float with an exponent", 1e300, `1e300`},
		{"a whole float beyond integers", 1e20, `1e20`},
		{"the least float", math.SmallestNonzeroFloat64, `5e-324`},
		{"a float to the last bit", 0.30000000000000004, `0.30000000000000004`},
		{"a float that is no number", math.NaN(), `NaN`},
		{"infinity", math.Inf(1), `Infinity`},
		{"minus infinity", math.Inf(-1), `-Infinity`},
		{"no text", "", `""`},
		{"quotes and backslashes", `say "\"`, `"say \"\\\""`},
		{"control characters", "\n\r\t\b\f\x00\x1f\x7f", `"\n\r\t\b\f\u0000\u001f` + "\x7f" + `"`},
		{"other scripts stay", "é 你 🦊", `"é 你 🦊"`},
		{"line separators and what HTML escapes stay", "\u2028\u2029<&>", "\"\u2028\u2029<&>\""},
		{"what Python calls its pickle", "pickle.pkl", `"pickle.pkl"`},
		{"an empty list", []any{}, `[]`},
		{"a list", []any{1, "two", 3.0, nil, []any{true}}, `[1,"two",3.0,null,[true]]`},
		{"an empty object", object(), `{}`},
		{"the order of an object", object(tdict.Field{Name: "b", Value: 1}, tdict.Field{Name: "a", Value: 2}, tdict.Field{Name: "\"", Value: 3}), `{"b":1,"a":2,"\"":3}`},
		{"nested", nested, `{"z":[{},[null]],"a":{"":1}}`},
		{"names that the format has fields of", object(tdict.Field{Name: "_type", Value: "x"}, tdict.Field{Name: "go", Value: 1}), `{"_type":"x","go":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := holding(t, shapeops.Shape{3}, tensor.Must(tdict.NewData(tt.value, 3)))
			dir := saveAs(t, td)
			require.Equal(t, dataHead+tt.want+dataTail, metaText(t, filepath.Join(dir, "d")))
			require.Equal(t, `{"d":{"type":"NonTensorData"},"shape":[3],`+dictTail, metaText(t, dir))
			back := open(t, dir)
			f, ok := tt.value.(float64)
			require.Equal(t, !ok || !math.IsNaN(f), td.Equal(back.TensorDict), "got %v", back) // NaN equals nothing
			require.Equal(t, tree(t, dir), tree(t, saveAs(t, back.TensorDict)), "saved again, it is the same")
		})
	}
}

// TestDataOfAnyShape: the shape of the rows is that of Python's lists, or stands in a native field.
func TestDataOfAnyShape(t *testing.T) {
	rows := func(shape shapeops.Shape, values ...any) *tdict.Data {
		return tensor.Must(tdict.DataFrom(values, shape...))
	}
	tests := []struct {
		name              string
		batch             shapeops.Shape
		data              *tdict.Data
		entry, meta       string
		dictShape, native string
	}{
		{"a value for each row", shapeops.Shape{3}, rows(shapeops.Shape{3}, "a", 1, nil),
			"NonTensorStack", stackHead + `["a",1,null]}`, `[3]`, ``},
		{"two batch dims", shapeops.Shape{2, 2}, rows(shapeops.Shape{2, 2}, 1, 2, 3, 4),
			"NonTensorStack", stackHead + `[[1,2],[3,4]]}`, `[2,2]`, ``},
		{"rows that are equal need one value", shapeops.Shape{2}, rows(shapeops.Shape{2}, "a", "a"),
			"NonTensorData", dataHead + `"a"` + dataTail, `[2]`, ``},
		{"one row", shapeops.Shape{1}, rows(shapeops.Shape{1}, []any{1}),
			"NonTensorData", dataHead + `[1]` + dataTail, `[1]`, ``},
		{"no batch dims", shapeops.Shape{}, tensor.Must(tdict.NewData([]any{1, 2})),
			"NonTensorData", dataHead + `[1,2]` + dataTail, `[]`, ``},
		{"no rows", shapeops.Shape{0}, rows(shapeops.Shape{0}),
			"NonTensorData", dataHead + `null` + dataTail, `[0]`, ``},
		{"no rows in two dims", shapeops.Shape{2, 0}, rows(shapeops.Shape{2, 0}),
			"NonTensorData", dataHead + `null` + dataTail, `[2,0]`, ``},
		{"more dims than the dictionary", shapeops.Shape{2}, rows(shapeops.Shape{2, 2}, 1, 2, 3, 4),
			"NonTensorStack", stackHead + `[[1,2],[3,4]]}`, `[2]`, `,"go":{"v":1,"shape":[2,2]}`},
		{"more dims, one value", shapeops.Shape{2}, tensor.Must(tdict.NewData("a", 2, 3)),
			"NonTensorData", dataHead + `"a"` + dataTail, `[2]`, `,"go":{"v":1,"shape":[2,3]}`},
		{"more dims, one of them empty", shapeops.Shape{2}, rows(shapeops.Shape{2, 0}),
			"NonTensorData", dataHead + `null` + dataTail, `[2]`, `,"go":{"v":1,"shape":[2,0]}`},
		{"dims where the dictionary has none", shapeops.Shape{}, rows(shapeops.Shape{2}, 1, 2),
			"NonTensorStack", stackHead + `[1,2]}`, `[]`, `,"go":{"v":1,"shape":[2]}`},
		{"lists of different lengths", shapeops.Shape{2}, rows(shapeops.Shape{2}, []any{1}, []any{1, 2}),
			"NonTensorStack", stackHead + `[[1],[1,2]]}`, `[2]`, ``},
		{"lists beside what is none", shapeops.Shape{2}, rows(shapeops.Shape{2}, []any{1, 2}, "a"),
			"NonTensorStack", stackHead + `[[1,2],"a"]}`, `[2]`, ``},
		{"objects", shapeops.Shape{2}, rows(shapeops.Shape{2}, object(tdict.Field{Name: "a", Value: 1}), object()),
			"NonTensorStack", stackHead + `[{"a":1},{}]}`, `[2]`, ``},
		{"floats that are whole", shapeops.Shape{2}, rows(shapeops.Shape{2}, 1.0, 1),
			"NonTensorStack", stackHead + `[1.0,1]}`, `[2]`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := holding(t, tt.batch, tt.data)
			dir := saveAs(t, td)
			require.Equal(t, tt.meta, metaText(t, filepath.Join(dir, "d")))
			require.Equal(t, `{"d":{"type":"`+tt.entry+`"`+tt.native+`},"shape":`+tt.dictShape+`,`+dictTail, metaText(t, dir))
			back := open(t, dir)
			require.True(t, td.Equal(back.TensorDict), "got %v", back)
			require.Equal(t, tree(t, dir), tree(t, saveAs(t, back.TensorDict)), "saved again, it is the same")
		})
	}
}

// TestSaveRefusesMistakenRows: Python takes lists of one length for rows of a further dim.
func TestSaveRefusesMistakenRows(t *testing.T) {
	tests := []struct {
		name  string
		shape shapeops.Shape
		rows  []any
	}{
		{"lists of one length", shapeops.Shape{2}, []any{[]any{1, 2}, []any{3, 4}}},
		{"in two dims", shapeops.Shape{2, 1}, []any{[]any{1}, []any{2}}},
		{"one part of two dims", shapeops.Shape{2, 2}, []any{[]any{1}, []any{2}, "a", "b"}},
		{"each part with another length", shapeops.Shape{2, 2}, []any{[]any{1}, []any{2}, []any{}, []any{}}},
		{"parts of one row", shapeops.Shape{2, 1}, []any{[]any{1}, "a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := saved(t)
			td := holding(t, tt.shape, tensor.Must(tdict.DataFrom(tt.rows, tt.shape...)))
			err := memmap.Save(dir, td)
			require.ErrorIs(t, err, memmap.ErrUnsupported)
			require.ErrorContains(t, err, "save "+dir+": d: unsupported: the values of all rows of an innermost list are lists of the same length")
			require.True(t, steps().Equal(open(t, dir).TensorDict), "what was saved before stays")
		})
	}
}

// TestOpenReadsPythonsData opens what a writer of Python's may have left.
func TestOpenReadsPythonsData(t *testing.T) {
	data := func(v any, batch ...int) *tdict.Data { return tensor.Must(tdict.NewData(v, batch...)) }
	rows := func(shape shapeops.Shape, values ...any) *tdict.Data {
		return tensor.Must(tdict.DataFrom(values, shape...))
	}
	tests := []struct {
		name, batch, meta string
		want              *tdict.Data
	}{
		{"spaces", `[2]`, `{"_type": "<class 'tensordict.tensorclass.NonTensorData'>", "data": {"a": [1, 2.0]}, "_is_non_tensor": true, "_metadata": null}`,
			data(object(tdict.Field{Name: "a", Value: []any{1, 2.0}}), 2)},
		{"the least that Python takes", `[2]`, `{"_type":"<class 'tensordict.tensorclass.NonTensorData'>","data":5}`, data(5, 2)},
		{"the type comes last", `[2]`, `{"data":5,"_type":"<class 'tensordict.tensorclass.NonTensorData'>"}`, data(5, 2)},
		{"the same for all, by intent", `[2]`, `{"_type":"<class 'tensordict.tensorclass.MetaData'>","data":"m","_is_non_tensor":true,"_metadata":null}`, data("m", 2)},
		{"escapes", `[]`, dataHead + `"\u00e9\ud83e\udd8a\/\"\\"` + dataTail, data(`é🦊/"\`)},
		{"numbers that are none", `[]`, dataHead + `[NaN,Infinity,-Infinity]` + dataTail, data([]any{math.NaN(), math.Inf(1), math.Inf(-1)})},
		{"a number beyond floats", `[]`, dataHead + `1e999` + dataTail, data(math.Inf(1))},
		{"a name twice: the last one counts", `[]`, dataHead + `{"a":1,"b":2,"a":3}` + dataTail,
			data(object(tdict.Field{Name: "a", Value: 3}, tdict.Field{Name: "b", Value: 2}))},
		{"an object that looks like an entry", `[]`, dataHead + `{"type":"TensorDict"}` + dataTail, data(object(tdict.Field{Name: "type", Value: "TensorDict"}))},
		{"a value for each row", `[2]`, stackHead + `["a","b"]}`, rows(shapeops.Shape{2}, "a", "b")},
		{"a stack along another dim, whose lists are in order", `[2,2]`, strings.Replace(stackHead, `"stack_dim":0`, `"stack_dim":1`, 1) + `[["a","b"],["c","d"]]}`, rows(shapeops.Shape{2, 2}, "a", "b", "c", "d")},
		{"rows in more dims than the dictionary", `[2]`, stackHead + `[[1,2],[3,4]]}`, rows(shapeops.Shape{2, 2}, 1, 2, 3, 4)},
		{"lists that differ in length are values", `[2]`, stackHead + `[[1],[3,4]]}`, rows(shapeops.Shape{2}, []any{1}, []any{3, 4})},
		{"no rows", `[0]`, stackHead + `[]}`, rows(shapeops.Shape{0})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "meta.json", `{"d":{"type":"NonTensorData"},"shape":`+tt.batch+`,`+dictTail)
			write(t, dir, "d/meta.json", tt.meta)
			ds := open(t, dir)
			got := tensor.Must(ds.Get("d")).(*tdict.Data)
			require.Equal(t, tt.want.Shape(), got.Shape())
			want := holding(t, ds.Shape(), tt.want)
			require.Equal(t, tree(t, saveAs(t, want)), tree(t, saveAs(t, ds.TensorDict)), "also for NaN, which equals nothing")
		})
	}
}

// TestOldDataWithDirectory: v0.4 wrote an empty dictionary below data.
func TestOldDataWithDirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "meta.json", `{"d":{"type":"NonTensorData"},"shape":[2],`+dictTail)
	write(t, dir, "d/meta.json", dataHead+`"x"`+dataTail)
	write(t, dir, "d/_tensordict/meta.json", `{"shape":[2],`+dictTail)
	ds := open(t, dir)
	require.Equal(t, 1, ds.NumEntries())
	require.True(t, tensor.Must(tdict.NewData("x", 2)).Equal(tensor.Must(ds.Get("d")).(*tdict.Data)))
}

// TestPickledRows: a stack that Python has pickled is left out, or names itself.
func TestPickledRows(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "meta.json", `{"d":{"type":"NonTensorStack"},"shape":[2],`+dictTail)
	write(t, dir, "d/meta.json", stackHead+`"pickle.pkl"}`)
	write(t, dir, "d/pickle.pkl", "never looked at")
	_, err := memmap.Open(dir)
	require.ErrorIs(t, err, memmap.ErrUnsupported)
	require.ErrorContains(t, err, `d/pickle.pkl: unsupported: entry "d", a NonTensorStack, is pickled`)
	require.Zero(t, openWith(t, dir, memmap.OpenOptions{SkipPickled: true}).NumEntries())
	_, err = memmap.OpenWith(filepath.Join(dir, "d"), memmap.OpenOptions{SkipPickled: true})
	require.ErrorIs(t, err, memmap.ErrUnsupported, "nothing would be left")
}

// sum returns the CRC-32C of a text as native fields spell it.
func sum(text string) string {
	return fmt.Sprintf("%08x", crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli)))
}

// TestUnbatched saves unbatched tensors: for Python a leaf like any other.
func TestUnbatched(t *testing.T) {
	codes := func() *tdict.Unbatched { return tensor.Must(tdict.NewUnbatched(tensor.Vector[int16](1, 2))) }
	none := func() *tdict.Unbatched {
		return tensor.Must(tdict.NewUnbatched(tensor.Must(tensor.New(tensor.Int16, 0))))
	}
	longer := func(u *tdict.Unbatched) *tdict.Unbatched { // as long as that of a dictionary of shape [3 4]
		return tensor.Must(tdict.Get[*tdict.Unbatched](holding(t, shapeops.Shape{3, 4}, u), "d"))
	}
	tests := []struct {
		name         string
		batch        shapeops.Shape
		u            *tdict.Unbatched
		shape, facts string
		dictShape    string
	}{
		{"the batch shape of the dictionary", shapeops.Shape{3}, codes(), `[2]`, `"unbatched":[3],"sums":["` + sum("\x01\x00\x02\x00") + `"]`, `[3]`},
		{"no batch dims", shapeops.Shape{}, codes(), `[2]`, `"unbatched":[],"sums":["` + sum("\x01\x00\x02\x00") + `"]`, `[]`},
		{"a longer batch shape", shapeops.Shape{3}, longer(codes()), `[2]`, `"unbatched":[3,4],"sums":["` + sum("\x01\x00\x02\x00") + `"]`, `[3]`},
		{"no elements", shapeops.Shape{3}, none(), `[0]`, `"unbatched":[3]`, `[3]`},
		{"no elements and no batch dims", shapeops.Shape{}, none(), `[0]`, `"unbatched":[]`, `[]`},
		{"no elements, a longer batch shape", shapeops.Shape{3}, longer(none()), `[0]`, `"unbatched":[3,4]`, `[3]`},
		{"no rows", shapeops.Shape{0}, codes(), `[2]`, `"unbatched":[0],"sums":["` + sum("\x01\x00\x02\x00") + `"]`, `[0]`},
		{"a scalar", shapeops.Shape{3}, tensor.Must(tdict.NewUnbatched(tensor.Scalar[int16](1))), `[]`, `"unbatched":[3],"sums":["` + sum("\x01\x00") + `"]`, `[3]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := holding(t, tt.batch, tt.u)
			dir := saveAs(t, td)
			leaf := `{"d":{"device":"cpu","shape":` + tt.shape + `,"dtype":"torch.int16","is_nested":false`
			require.Equal(t, leaf+`,"go":{"v":1,`+tt.facts+`}},"shape":`+tt.dictShape+`,`+dictTail, metaText(t, dir))
			require.Equal(t, leaf+`},"shape":`+tt.dictShape+`,`+dictTail, withoutNative(metaText(t, dir)), "what Python sees")
			_, err := os.Stat(filepath.Join(dir, "d.memmap"))
			require.Equal(t, tt.shape != `[0]`, err == nil, "a file, if there are elements")
			back := open(t, dir)
			require.True(t, td.Equal(back.TensorDict), "got %v", back)
			require.Equal(t, tree(t, dir), tree(t, saveAs(t, back.TensorDict)), "saved again, it is the same")
		})
	}
}

// TestUnbatchedOfPython opens what Python writes of an unbatched tensor, and what a copy that it
// makes of one of ours has: no native fields. The shape says that the tensor is unbatched. In a
// text with native fields it is damaged.
func TestUnbatchedOfPython(t *testing.T) {
	td := holding(t, shapeops.Shape{3}, tensor.Must(tdict.NewUnbatched(tensor.Vector[int16](1, 2))))
	dir := saveAs(t, td)
	text := metaText(t, dir)
	write(t, dir, "meta.json", withoutNative(text))
	require.True(t, td.Equal(open(t, dir).TensorDict))
	again := saveAs(t, open(t, dir).TensorDict)
	require.Equal(t, text, metaText(t, again), "from then on with native fields")

	write(t, dir, "meta.json", strings.Replace(text, `"unbatched":[3],`, "", 1))
	_, err := memmap.Open(dir)
	require.ErrorIs(t, err, memmap.ErrCorrupt)
	require.ErrorContains(t, err, `set "d": shape mismatch: got [2], want a shape that begins with [3]`)
}

// TestNamesOfFields: entries may be called as fields are, at any place.
func TestNamesOfFields(t *testing.T) {
	names := []string{"go", "data", "stack_dim", "type", "dtype", "is_nested", "v", "sums", "_is_non_tensor", "_metadata", "_tensordict", "0"}
	values := map[string]func() tdict.Value{
		"leaves":       func() tdict.Value { return tensor.Vector[int32](1, 2) },
		"dictionaries": func() tdict.Value { return holding(t, shapeops.Shape{2}, tensor.Vector[int32](1, 2)) },
		"data":         func() tdict.Value { return tensor.Must(tdict.DataFrom([]string{"a", "b"}, 2)) },
		"unbatched":    func() tdict.Value { return tensor.Must(tdict.NewUnbatched(tensor.Vector[int32](1, 2, 3))) },
	}
	for kind, value := range values {
		t.Run(kind, func(t *testing.T) {
			td := tdict.New(2)
			require.NoError(t, td.Set("first", value()))
			for _, name := range names {
				require.NoError(t, td.Set(nestedkey.Of(name), value()))
			}
			require.NoError(t, td.Set("last", value()))
			dir := saveAs(t, td)
			back := open(t, dir)
			require.True(t, td.Equal(back.TensorDict), "got %v", back)
			require.Equal(t, slices.Collect(td.Keys()), slices.Collect(back.Keys()), "in their order")
			require.NoError(t, memmap.Save(dir, back.TensorDict), "and can be replaced")
		})
	}
}
