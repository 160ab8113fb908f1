package tdict_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// data returns data with the same value in each row; texts data with one in each.
func data(value any, batch ...int) *tdict.Data { return tensor.Must(tdict.NewData(value, batch...)) }

func texts(values ...string) *tdict.Data {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v
	}
	return tensor.Must(tdict.DataFrom(all, len(all)))
}

// Values are of few types: others become one of them or are refused.
func TestDataValues(t *testing.T) {
	type text string
	deep := func(n int) any {
		var v any = "x"
		for range n {
			v = []any{v}
		}
		return v
	}
	object := tensor.Must(tdict.NewObject(tdict.Field{Name: "a", Value: int64(1)}))
	var cycle []any
	cycle = append(cycle, &cycle, nil)
	cycle[0] = cycle
	tests := []struct {
		name  string
		value any
		want  any
		err   error
	}{
		{"nil", nil, nil, nil},
		{"bool", true, true, nil},
		{"text", "ä\x00", "ä\x00", nil},
		{"int", -1, int64(-1), nil},
		{"int8", int8(-128), int64(-128), nil},
		{"int16", int16(-1), int64(-1), nil},
		{"int32", int32(-1), int64(-1), nil},
		{"int64", int64(math.MinInt64), int64(math.MinInt64), nil},
		{"uint8", uint8(255), int64(255), nil},
		{"uint16", uint16(65535), int64(65535), nil},
		{"uint32", uint32(1 << 31), int64(1 << 31), nil},
		{"uint", uint(7), int64(7), nil},
		{"uint64", uint64(math.MaxInt64), int64(math.MaxInt64), nil},
		{"float32", float32(0.1), float64(float32(0.1)), nil},
		{"infinity", math.Inf(-1), math.Inf(-1), nil},
		{"a list", []any{1, []any{}, nil}, []any{int64(1), []any{}, nil}, nil},
		{"no list", []any(nil), []any{}, nil},
		{"a map becomes an object", map[string]any{"a": 1}, object, nil},
		{"texts", []string{"x", "y"}, []any{"x", "y"}, nil},
		{"no texts", []string(nil), []any{}, nil},
		{"bools", []bool{true}, []any{true}, nil},
		{"ints", []int{1, -1}, []any{int64(1), int64(-1)}, nil},
		{"numbers of 8 and 16 bits", []any{[]int8{1}, []int16{2}, []uint16{3}}, []any{[]any{int64(1)}, []any{int64(2)}, []any{int64(3)}}, nil},
		{"numbers of 32 bits", []any{[]int32{1}, []uint32{2}, []float32{0.5}}, []any{[]any{int64(1)}, []any{int64(2)}, []any{0.5}}, nil},
		{"numbers of 64 bits", []any{[]int64{1}, []uint64{2}, []uint{3}, []float64{0.5}}, []any{[]any{int64(1)}, []any{int64(2)}, []any{int64(3)}, []any{0.5}}, nil},
		{"lists of lists", [][]string{{"x"}, {}}, []any{[]any{"x"}, []any{}}, nil},
		{"lists of any", [][]any{{1}, nil}, []any{[]any{int64(1)}, []any{}}, nil},
		{"a map of ints", map[string]int{"a": 1}, object, nil},
		{"a map of numbers", map[string]float64{"b": 2, "a": 1}, tensor.Must(tdict.NewObject(field("a", 1.0), field("b", 2.0))), nil},
		{"a map of lists", map[string][]bool{"a": {true}}, tensor.Must(tdict.NewObject(field("a", []any{true}))), nil},
		{"a map of maps", map[string]map[string]string{"a": {"b": "c"}}, tensor.Must(tdict.NewObject(field("a", map[string]any{"b": "c"}))), nil},
		{"a list of maps", []map[string]int{{"a": 1}}, []any{object}, nil},
		{"typed within untyped", map[string]any{"a": []any{[]string{"x"}}}, tensor.Must(tdict.NewObject(field("a", []any{[]any{"x"}}))), nil},
		{"no map", map[string]string(nil), tensor.Must(tdict.NewObject()), nil},
		{"an object", object, object, nil},
		{"as deep as may be", deep(256), deep(256), nil},
		{"beyond an int64", uint64(1 << 63), nil, tdict.ErrKind},
		{"text that is not UTF-8", "\xff", nil, tdict.ErrKind},
		{"a name that is not UTF-8", map[string]any{"\xff": 1}, nil, tdict.ErrKind},
		{"a type of one's own", text("x"), nil, tdict.ErrKind},
		{"a complex number", 1i, nil, tdict.ErrKind},
		{"a tensor", tensor.Scalar(1.0), nil, tdict.ErrKind},
		{"no object", (*tdict.Object)(nil), nil, tdict.ErrKind},
		{"within a list", []any{1, []any{1i}}, nil, tdict.ErrKind},
		{"within a map", map[string]any{"b": nil, "a": []any{0, 1, time.Time{}}}, nil, tdict.ErrKind},
		{"a text within a map of lists", map[string][]string{"a b": {"x", "\xff"}}, nil, tdict.ErrKind},
		{"a name within a list", []any{map[string]int{"a\xff": 1}}, nil, tdict.ErrKind},
		{"under a long name", map[string]any{strings.Repeat("ä", 1000): 1i}, nil, tdict.ErrKind},
		{"bytes, which may be text or numbers", []byte("x"), nil, tdict.ErrKind},
		{"beyond an int64, within numbers", []uint64{0, 1 << 63}, nil, tdict.ErrKind},
		{"types of three levels", [][][]string{{}}, nil, tdict.ErrKind},
		{"a map with other names", map[int]string{1: "x"}, nil, tdict.ErrKind},
		{"too deep", deep(257), nil, tdict.ErrDepth},
		{"a list that holds itself", cycle, nil, tdict.ErrDepth},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := tdict.NewData(tt.value, 2)
			_, alsoErr := tdict.DataFrom([]any{nil, tt.value}, 2)
			if tt.err != nil {
				testkit.Fails(t, tt.err, err)
				require.ErrorIs(t, alsoErr, tt.err)
				return
			}
			require.NoError(t, err)
			require.NoError(t, alsoErr)
			require.Equal(t, []any{tt.want, tt.want}, slices.Collect(d.All()))
			one, ok := d.Uniform()
			require.True(t, ok)
			require.Equal(t, tt.want, one)
		})
	}
	require.ErrorIs(t, testkit.Err(tdict.NewData(1, -1)), shapeops.ErrShape)
	testkit.Fails(t, shapeops.ErrShape, testkit.Err(tdict.DataFrom([]any{1, 2}, 3)))
}

// A long list of one type costs as much for each value as a short one.
func TestDataOfLongLists(t *testing.T) {
	list := func(n int) func() {
		values := slices.Repeat([]string{"x"}, n)
		return func() { tensor.Must(tdict.NewData(map[string][]string{"a": values})) }
	}
	list(1)()
	for _, n := range []int{1000, 10000} {
		testkit.Near(t, 12, list(n), list(10*n))
	}
}

func TestDataUniform(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		name string
		data *tdict.Data
		want any
		ok   bool
	}{
		{"one value", data(1, 3), int64(1), true},
		{"values that agree", texts("a", "a"), "a", true},
		{"values that differ", texts("a", "a", "b"), nil, false},
		{"numbers of two types", tensor.Must(tdict.DataFrom([]any{1, 1.0}, 2)), nil, false},
		{"lists that agree", tensor.Must(tdict.DataFrom([]any{[]any{1}, []any{1}}, 2)), []any{int64(1)}, true},
		{"a list and none", tensor.Must(tdict.DataFrom([]any{nil, []any{}}, 2)), nil, false},
		{"no row", data(1, 0), nil, false},
		{"one that differs from itself", tensor.Must(tdict.DataFrom([]any{nan, nan}, 2)), nil, false},
		{"without a batch", data("a"), "a", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := tt.data.Uniform()
			require.Equal(t, tt.ok, ok)
			require.Equal(t, tt.want, got)
		})
	}
}

// TestDataOfRowsRepeated looks at each row that an expansion repeats once.
func TestDataOfRowsRepeated(t *testing.T) {
	repeated := func(values ...string) *tdict.TensorDict {
		column := dict([]int{2, 1}, entry{"d", tensor.Must(tdict.DataFrom(values, 2, 1))})
		return tensor.Must(column.Expand(2, 1<<33))
	}
	for _, tt := range []struct {
		values []string
		ok     bool
		text   string
	}{
		{[]string{"a", "a"}, true, `data [2 8589934592] "a"`},
		{[]string{"a", "b"}, false, `data [2 8589934592] ["a" "a" "a" "a" "a" "a" "a" "a" ...]`},
	} {
		td := repeated(tt.values...)
		d := tensor.Must(tdict.Get[*tdict.Data](td, "d"))
		_, ok := d.Uniform()
		require.Equal(t, tt.ok, ok)
		require.Equal(t, tt.text, d.String())
		require.NotEmpty(t, td.String())
		require.ErrorIs(t, testkit.Err(td.MarshalJSON()), shapeops.ErrShape)
		require.Contains(t, string(tensor.Must(td.Preview(1).MarshalJSON())), `"first":["a"]`)
	}
	none := tensor.Must(tdict.Get[*tdict.Data](tensor.Must(repeated("a", "a").Narrow(1, 0, 0)), "d"))
	_, ok := none.Uniform()
	require.False(t, ok, "there is no row")
}

func TestDataAt(t *testing.T) {
	d := tensor.Must(tdict.DataFrom([]any{0, 1, 2, 3, 4, 5}, 2, 3))
	require.Equal(t, int64(5), tensor.Must(d.At(1, 2)))
	require.Equal(t, int64(3), tensor.Must(d.At(-1, -3)))
	for _, bad := range [][]int{{2, 0}, {0, -4}, {0}, {0, 0, 0}, {}} {
		require.ErrorIs(t, testkit.Err(d.At(bad...)), shapeops.ErrIndex, "%v", bad)
	}
	stopped := 0
	for range d.All() {
		if stopped++; stopped == 2 {
			break
		}
	}
	require.Equal(t, 2, stopped)
}

// Diff names the first row that differs.
func TestDataDiff(t *testing.T) {
	ab, ba := object(field("a", 1), field("b", 2)), object(field("b", 2), field("a", 1))
	tests := []struct {
		name string
		a, b *tdict.Data
		want string
	}{
		{"one value for all and one for each", data("a", 2), texts("a", "a"), ""},
		{"an element", texts("a", "b", "c"), texts("a", "x", "y"), `row 1 is "b", other "x"`},
		{"a shape", data("a", 2), data("a", 2, 1), "data [2], other data [2 1]"},
		{"a type", data(1, 1), data(1.0, 1), "row 0 is 1, other 1.0"},
		{"the order of fields", data(ab, 1), data(ba, 1), `row 0 is {"a":1,"b":2}, other {"b":2,"a":1}`},
		{"the same fields", data(ab, 1), data(map[string]any{"b": 2, "a": 1}, 1), ""},
		{"within a list", data([]any{1, 2}, 1), data([]any{1, 3}, 1), "row 0 is [1,2], other [1,3]"},
		{"NaN", data(math.NaN(), 1), data(math.NaN(), 1), `row 0 is "NaN", other "NaN"`},
		{"no row", data(1, 0), data(2, 0), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, leafDiff(tt.a, tt.b))
			require.Equal(t, tt.want == "", tt.a.Equal(tt.b))
			require.Equal(t, tt.want == "", tt.b.Equal(tt.a))
		})
	}
}

// What is given to Data is copied, and what an operation makes of it is its own: written to, it
// changes nothing else, nor the other way round.
func TestDataIsItsOwn(t *testing.T) {
	list, fields := []any{"a", []any{"b"}}, map[string]any{"k": 1}
	d := tensor.Must(tdict.DataFrom([]any{list, fields}, 2))
	was := d.String()
	list[0], list[1].([]any)[0], fields["k"] = "x", "x", 2
	require.Equal(t, was, d.String())

	td := dict([]int{4}, entry{"d", texts("a", "b", "c", "d")})
	ops := map[string]func() (*tdict.TensorDict, error){
		"range":   func() (*tdict.TensorDict, error) { return td.Index(ix.Range(1, 3)) },
		"take":    func() (*tdict.TensorDict, error) { return td.Index(ix.Take(1, 2)) },
		"all":     func() (*tdict.TensorDict, error) { return td.Index() },
		"reshape": func() (*tdict.TensorDict, error) { return td.Reshape(2, 2) },
		"expand":  func() (*tdict.TensorDict, error) { return td.Expand(2, 4) },
		"clone":   td.Clone,
		"cat":     func() (*tdict.TensorDict, error) { return shapeops.Cat([]*tdict.TensorDict{td, td}, 0) },
	}
	for name, op := range ops {
		for range 2 { // the second time, after td was written to
			got := tensor.Must(op())
			before, whole := fmt.Sprint(state(t, got)), state(t, td)
			require.NoError(t, got.SetIndex(data("x"), ix.Rest), name)
			require.Equal(t, whole, state(t, td), name)
			got = tensor.Must(op())
			require.NoError(t, td.SetIndex(data("y"), ix.Take(1, 1, 2)), name)
			require.Equal(t, before, state(t, got), name)
			require.NoError(t, td.SetIndex(texts("b", "c"), ix.Range(1, 3)), name)
			require.Equal(t, whole, state(t, td), name)

			for range 4 { // however much room there is after td's values
				twins := []*tdict.TensorDict{tensor.Must(op()), tensor.Must(op())}
				for i, twin := range twins { // all of them append a value now
					require.NoError(t, twin.SetIndex(data(i), ix.Rest))
				}
				require.NoError(t, td.SetIndex(texts("b"), ix.Range(1, 2)))
				for i, twin := range twins {
					one, _ := tensor.Must(tdict.Get[*tdict.Data](twin, "d")).Uniform()
					require.Equal(t, int64(i), one, name)
				}
			}
		}
	}
	require.NoError(t, td.SetIndex(texts("p", "q", "r"), ix.Take(0, 3, 0)))
	require.Equal(t, []any{"r", "b", "c", "q"}, slices.Collect(tensor.Must(tdict.Get[*tdict.Data](td, "d")).All()), "the last stays")
}

// catData joins data of one batch dim, as entries of dictionaries.
func catData(a, b *tdict.Data) *tdict.Data {
	in := func(d *tdict.Data) *tdict.TensorDict { return dict(d.Shape(), entry{"d", d}) }
	both := tensor.Must(shapeops.Cat([]*tdict.TensorDict{in(a), in(b)}, 0))
	return tensor.Must(tdict.Get[*tdict.Data](both, "d"))
}

// Data with one value costs the same for any number of rows.
func TestUniformDataOfManyRows(t *testing.T) {
	many := func(v any) *tdict.Data { return tensor.Must(tdict.NewData(v, 1<<30)) }
	testkit.MaxBytes(t, 1<<16, func() {
		a, b := many("x"), many("x")
		require.True(t, a.Equal(b))
		require.Equal(t, `data [1073741824] "x"`, a.String())
		both := catData(a, b)
		require.Equal(t, shapeops.Shape{1 << 31}, both.Shape())
		require.Equal(t, "x", tensor.Must(both.At(-1)))
	})
	rows, err := tdict.DataFrom([]string{"a", "a"}, 2)
	require.NoError(t, err)
	one := catData(rows, rows)
	require.Equal(t, `data [4] "a"`, one.String())
	_, err = tdict.DataFrom([]any{"a", make(chan int)}, 2)
	require.ErrorContains(t, err, "row 1: wrong kind of value")
	_, err = tdict.DataFrom([][]any{{}, {1, make(chan int)}}, 2)
	require.ErrorContains(t, err, "row 1: value[1]: wrong kind of value")
}

func field(name string, v any) tdict.Field { return tdict.Field{Name: name, Value: v} }

func object(fields ...tdict.Field) *tdict.Object { return tensor.Must(tdict.NewObject(fields...)) }

// An object keeps the order of its fields, and is not what it was made of.
func TestObject(t *testing.T) {
	list, inner := []any{1, "x"}, object(field("z", 1))
	fields := []tdict.Field{field("b", list), field("", nil), field("a", inner), field("m", map[string]any{"y": 2, "x": 1})}
	o := object(fields...)
	want := `{"b":[1,"x"],"":null,"a":{"z":1},"m":{"x":1,"y":2}}`
	require.Equal(t, want, o.String())
	list[0], fields[0].Name, fields[1].Value = "changed", "changed", "changed"
	require.Equal(t, want, o.String())

	names := []string{}
	for name, v := range o.All() {
		got, ok := o.Get(name)
		require.True(t, ok)
		require.Equal(t, v, got)
		names = append(names, name)
	}
	require.Equal(t, []string{"b", "", "a", "m"}, names)
	require.Equal(t, 4, o.Len())
	_, ok := o.Get("c")
	require.False(t, ok)
	for range o.All() {
		break
	}
	zero := &tdict.Object{}
	require.Equal(t, "{} 0", fmt.Sprint(zero, zero.Len()))
	require.Equal(t, "data [] {}", data(zero).String(), "the zero Object is a value")
	require.Equal(t, 0, object().Len())

	d := data(o)
	kept := tensor.Must(d.At()).(*tdict.Object)
	require.Equal(t, names, slices.Collect(func(yield func(string) bool) {
		for name := range kept.All() {
			if !yield(name) {
				return
			}
		}
	}))
}

// What an object prints is JSON that says the same.
func TestObjectJSON(t *testing.T) {
	tests := []struct {
		name  string
		value any
		want  string
	}{
		{"text", object(field("ä", "ö")), `{"ä":"ö"}`},
		{"quotes", object(field(`a"b`, "\n")), `{"a\"b":"\n"}`},
		{"no number", object(field("x", math.NaN()), field("y", []any{math.Inf(1), math.Inf(-1)})), `{"x":"NaN","y":["Infinity","-Infinity"]}`},
		{"within a list", []any{object(field("x", []any{object()}))}, `[{"x":[{}]}]`},
		{"the largest integer", int64(math.MaxInt64), "9223372036854775807"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, "data [] "+tt.want, data(tt.value).String())
			require.True(t, json.Valid([]byte(tt.want)))
			if o, ok := tt.value.(*tdict.Object); ok {
				require.Equal(t, tt.want, string(tensor.Must(json.Marshal(o))))
			}
		})
	}
}

func TestObjectRefuses(t *testing.T) {
	tests := []struct {
		name   string
		fields []tdict.Field
		want   error
	}{
		{"a name twice", []tdict.Field{field("a", 1), field("b", 1), field("a", 1)}, tdict.ErrExists},
		{"a name that is not UTF-8", []tdict.Field{field("\xff", 1)}, tdict.ErrKind},
		{"a value of another type", []tdict.Field{field("a", struct{}{})}, tdict.ErrKind},
		{"a value of another type within", []tdict.Field{field("a", map[string]any{"b": []any{1i}})}, tdict.ErrKind},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.want, testkit.Err(tdict.NewObject(tt.fields...))) })
	}
	deep := object()
	for range 256 {
		deep = object(field("a", deep))
	}
	require.ErrorIs(t, testkit.Err(tdict.NewObject(field("a", deep))), tdict.ErrDepth)
	require.ErrorIs(t, testkit.Err(tdict.NewData([]any{deep})), tdict.ErrDepth, "lists count with objects")
}

// JSON is not HTML: nothing is escaped for it, at any depth.
func TestObjectEscapesNoHTML(t *testing.T) {
	o := object(field("<&>", []any{object(field("<", ">"))}))
	require.Equal(t, `{"<&>":[{"<":">"}]}`, o.String())
}
