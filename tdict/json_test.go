package tdict_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// readsBack checks that td reads back from its text, without a prototype, with the same structure
// and the same bits.
func readsBack(t testing.TB, td *tdict.TensorDict) {
	t.Helper()
	text, err := json.Marshal(td)
	require.NoError(t, err)
	var back tdict.TensorDict
	require.NoError(t, json.Unmarshal(text, &back), string(text))
	again, err := json.Marshal(&back)
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))
	sameDicts(t, td, &back)
}

// sameDicts checks that two dictionaries have the same keys in the same order, shapes, names, kinds
// of value and bits.
func sameDicts(t testing.TB, a, b *tdict.TensorDict) {
	t.Helper()
	require.True(t, a.Shape().Equal(b.Shape()))
	require.Equal(t, a.Names(), b.Names())
	require.Equal(t, slices.Collect(a.Keys()), slices.Collect(b.Keys()))
	for key, v := range a.All() {
		w := tensor.Must(b.Get(key))
		require.IsType(t, v, w, key)
		switch v := v.(type) {
		case *tdict.TensorDict:
			sameDicts(t, v, w.(*tdict.TensorDict))
		case *tensor.Tensor:
			require.Equal(t, bits(t, v), bits(t, w.(*tensor.Tensor)), key)
		case *ragged.Tensor:
			r := w.(*ragged.Tensor)
			require.Equal(t, v.Text(), r.Text())
			require.True(t, v.Layout().Equal(r.Layout()), key)
			require.Equal(t, bits(t, tensor.Must(v.Values())), bits(t, tensor.Must(r.Values())), key)
		case *tdict.Data:
			require.True(t, v.Shape().Equal(w.Shape()), key)
			require.Empty(t, leafDiff(v, w), key)
		case *tdict.Unbatched:
			require.True(t, v.Shape().Equal(w.Shape()), key)
			require.Equal(t, bits(t, v.Tensor()), bits(t, w.(*tdict.Unbatched).Tensor()), key)
		}
	}
}

// bits returns dtype, shape and the bytes of the elements.
func bits(t testing.TB, x *tensor.Tensor) string {
	t.Helper()
	var b bytes.Buffer
	_, err := x.WriteTo(&b)
	require.NoError(t, err)
	return fmt.Sprint(x.DType(), x.Shape(), b.Bytes())
}

func TestJSONReadsBack(t *testing.T) {
	deepest := tdict.New()
	for range tdict.MaxDepth {
		deepest = dict(nil, entry{"d", deepest})
	}
	inner := deepest
	for range tdict.MaxDepth {
		inner = tensor.Must(inner.Dict("d"))
	}
	nest := any(1.5)
	for range tdict.MaxDepth {
		nest = []any{nest}
	}
	require.NoError(t, inner.Set("data", tensor.Must(tdict.NewData(nest))))
	named := dict([]int{2, 3}, entry{"d/e", count(2, 3, 4)})
	require.NoError(t, named.SetNames("time", ""))
	odd := tdict.New(2)
	for _, name := range []string{"", "/", "~", "~1", "a/b", "<&>", "\x00", "\u2028", "\"", "\\", "é😀"} {
		require.NoError(t, odd.Set(nestedkey.Of(name), count(2)))
		require.NoError(t, odd.Set(nestedkey.Of("in", name, name), count(2)))
	}
	repeated := tensor.Must(dict([]int{1}, entry{"row", tensor.Must(tdict.DataFrom([]any{int64(1)}, 1))}).Expand(1 << 40))
	tests := []struct {
		name string
		td   *tdict.TensorDict
	}{
		{"nothing", tdict.New()},
		{"nothing of a batch", tdict.New(3, 0)},
		{"every kind", everyFinite()},
		{"of ragged rows", ward()},
		{"a row of every kind", tensor.Must(everyFinite().Index(ix.At(0)))},
		{"no row of every kind", tensor.Must(everyFinite().Narrow(0, 0, 0))},
		{"as deep as it can be", deepest},
		{"names of dims", named},
		{"names that are escaped", odd},
		{"a value for many rows", repeated},
		{"longer batch shapes within", sample()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { readsBack(t, tt.td) })
	}
}

// everyFinite returns a dictionary with a value of each kind, and no NaN.
func everyFinite() *tdict.TensorDict {
	return dict([]int{2},
		entry{"x", tensor.Vector(math.Inf(1), math.Copysign(0, -1))},
		entry{"next/z", tensor.Vector(complex(1, math.Inf(-1)), 2i)},
		entry{"empty", tdict.New(2, 0)},
		entry{"name", tensor.Must(tdict.NewData("NaN"))},
		entry{"none", tensor.Must(tdict.NewData(nil))},
		entry{"row", tensor.Must(tdict.DataFrom([]any{
			[]any{int64(1), 1.0, -0.5, 1e300, math.MaxInt64, true, nil, "", []any{}},
			map[string]any{"k": 1, "": map[string]any{}},
		}, 2))},
		entry{"mixed", tensor.Must(tdict.DataFrom([]any{int64(1), 1.0}, 2))},
		entry{"codes", tensor.Must(tdict.NewUnbatched(tensor.Vector[uint64](1, math.MaxUint64)))},
		entry{"days", tensor.Must(tensor.Must(ragged.From[float32]([][]float32{{0.1}, {}})).Index())},
	)
}

// TestJSONOfDataThatIsNotFinite: it becomes text, and stays text.
func TestJSONOfDataThatIsNotFinite(t *testing.T) {
	td := dict(nil, entry{"x", tensor.Must(tdict.NewData([]any{math.NaN(), math.Inf(1), math.Inf(-1)}))})
	var back tdict.TensorDict
	require.NoError(t, back.UnmarshalJSON(tensor.Must(td.MarshalJSON())))
	v, _ := tensor.Must(tdict.Get[*tdict.Data](&back, "x")).Uniform()
	require.Equal(t, []any{"NaN", "Infinity", "-Infinity"}, v)
	readsBack(t, &back)
}

// TestJSONReadsInfinitiesOfEveryKind in the spelling of Data, and writes those of tensors.
func TestJSONReadsInfinitiesOfEveryKind(t *testing.T) {
	const text = `{"batch":[1],"entries":{` +
		`"x":{"dtype":"float32","shape":[1],"values":["+Inf"]},` +
		`"z":{"dtype":"complex64","shape":[1],"values":["(1-Infi)"]},` +
		`"u":{"batch":[1],"unbatched":{"dtype":"float16","shape":[1],"values":["-Inf"]}},` +
		`"r":{"dtype":"float64","shape":"[1 *]","values":[["+Inf","-Inf"]]}}}`
	other := strings.NewReplacer("+Inf", "Infinity", "-Inf", "-Infinity").Replace(text)
	var td tdict.TensorDict
	require.NoError(t, td.UnmarshalJSON([]byte(other)))
	require.Equal(t, text, string(tensor.Must(td.MarshalJSON())))
}

// TestJSONWithinOthers: in a list, a struct and an indented text, dictionaries are read in place.
func TestJSONWithinOthers(t *testing.T) {
	type sample struct {
		ID  int
		Obs *tdict.TensorDict
		X   *tensor.Tensor
		R   ragged.Tensor
	}
	want := []*sample{{1, everyFinite(), count(2), ragged.Tensor{}}, {2, nil, nil, *tensor.Must(ragged.From[int64]([][]int64{{1}}))}}
	text, err := json.MarshalIndent(want, "", "\t")
	require.NoError(t, err)
	require.NotContains(t, string(text), `"R": {}`)
	var got []*sample
	require.NoError(t, json.Unmarshal(text, &got))
	sameDicts(t, want[0].Obs, got[0].Obs)
	require.True(t, got[0].X.Equal(count(2)))
	require.Nil(t, got[1].Obs)
}

// TestJSONRefuses: whatever is wrong, the receiver is as it was.
func TestJSONRefuses(t *testing.T) {
	one := `{"dtype":"int8","shape":[1],"values":[1]}`
	entries := func(batch, text string) string { return `{"batch":` + batch + `,"entries":{` + text + `}}` }
	deep := func(open, inner, shut string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(shut, n)
	}
	tests := []struct {
		name, text string
		want       error
	}{
		{"nothing", ``, tensor.ErrJSON},
		{"a list", `[]`, tensor.ErrJSON},
		{"a tensor", one, tensor.ErrJSON},
		{"data", `{"shape":[],"value":1}`, tensor.ErrJSON},
		{"trailing data", entries("[]", "") + "{}", tensor.ErrJSON},
		{"the end is missing", `{"batch":[]`, tensor.ErrJSON},
		{"no batch", `{"entries":{}}`, tensor.ErrJSON},
		{"no entries", `{"batch":[]}`, tensor.ErrJSON},
		{"an unknown field", `{"batch":[],"entries":{},"locked":true}`, tensor.ErrJSON},
		{"an unknown field within", entries("[]", `"d":{"batch":[],"entries":{},"device":"cpu"}`), tensor.ErrJSON},
		{"a field of another kind", entries("[1]", `"x":{"batch":[1],"dtype":"int8","shape":[1],"values":[1]}`), tensor.ErrJSON},
		{"a field twice", `{"batch":[],"batch":[],"entries":{}}`, tensor.ErrJSON},
		{"an entry twice", entries("[1]", `"x":`+one+`,"\u0078":`+one), tensor.ErrJSON},
		{"an entry that is null", entries("[]", `"x":null`), tensor.ErrJSON},
		{"an entry that is a number", entries("[]", `"x":1`), tensor.ErrJSON},
		{"an entry that says no kind", entries("[]", `"x":{}`), tensor.ErrJSON},
		{"a preview", string(tensor.Must(everyFinite().Preview(3).MarshalJSON())), tensor.ErrJSON},
		{"a preview within", entries("[2]", `"x":`+string(tensor.Must(count(2).Preview(1).MarshalJSON()))), tensor.ErrJSON},
		{"a value that does not begin with the batch shape", entries("[2]", `"d":{"batch":[2],"entries":{"x":`+one+`}}`), shapeops.ErrShape},
		{"a dictionary with a shorter batch shape", entries("[2]", `"d":{"batch":[],"entries":{}}`), shapeops.ErrShape},
		{"a batch shape that cannot be counted", entries("[9223372036854775807,2]", ""), shapeops.ErrShape},
		{"a negative size", entries("[-1]", ""), tensor.ErrJSON},
		{"names for other dims", `{"batch":[1],"names":["a","b"],"entries":{}}`, tdict.ErrName},
		{"a name twice", `{"batch":[1,1],"names":["a","a"],"entries":{}}`, tdict.ErrName},
		{"data that is too deep", entries("[]", `"x":{"shape":[],"value":`+deep("[", "1", "]", 257)+"}"), tdict.ErrDepth},
		{"lists that are too deep", entries("[]", `"x":{"shape":[],"value":`+deep("[", "1", "]", 2000)+"}"), tdict.ErrDepth},
		{"a key that is not UTF-8", entries("[1]", "\"\xff\":"+one), tensor.ErrJSON},
		{"data that is not UTF-8", entries("[]", "\"x\":{\"shape\":[],\"value\":\"\xff\"}"), tensor.ErrJSON},
		{"half a character", entries("[]", `"x":{"shape":[],"value":"\ud800"}`), tensor.ErrJSON},
		{"data with a number that is too large", entries("[]", `"x":{"shape":[],"value":9223372036854775808}`), tensor.ErrJSON},
		{"data with a float that is too large", entries("[]", `"x":{"shape":[],"value":1e999}`), tensor.ErrJSON},
		{"data with a word", entries("[]", `"x":{"shape":[],"value":[-Infinity]}`), tensor.ErrJSON},
		{"data with a field twice", entries("[]", `"x":{"shape":[],"value":{"a":1,"a":2}}`), tensor.ErrJSON},
		{"data with a value and values", entries("[]", `"x":{"shape":[],"value":1,"values":[1]}`), tensor.ErrJSON},
		{"data with fewer values than rows", entries("[]", `"x":{"shape":[1099511627776],"values":[1]}`), shapeops.ErrShape},
		{"data of a shorter batch shape", entries("[2]", `"x":{"shape":[],"value":1}`), shapeops.ErrShape},
		{"data without a shape", entries("[]", `"x":{"value":1}`), tensor.ErrJSON},
		{"data of a ragged shape", entries("[]", `"x":{"shape":"[1 *]","value":1}`), tensor.ErrJSON},
		{"an unbatched null", entries("[]", `"x":{"batch":[],"unbatched":null}`), tensor.ErrJSON},
		{"an unbatched tensor of a shorter batch shape", entries("[2,1]", `"x":{"batch":[1],"unbatched":`+one+"}"), shapeops.ErrShape},
		{"an unbatched tensor that cannot be counted", entries("[]", `"x":{"batch":[9223372036854775807],"unbatched":{"dtype":"int8","shape":[2],"values":[1,2]}}`), shapeops.ErrShape},
		{"ragged rows of another batch", entries("[2]", `"x":{"dtype":"int8","shape":"[1 *]","values":[[]]}`), shapeops.ErrShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := everyFinite()
			before := state(t, td)
			testkit.Fails(t, tt.want, td.UnmarshalJSON([]byte(tt.text)))
			require.Equal(t, before, state(t, td), "nothing has changed")
			require.ErrorIs(t, new(tdict.TensorDict).UnmarshalJSON([]byte(tt.text)), tt.want)
		})
	}
	tooDeep := deep(`{"batch":[],"entries":{"d":`, `{"batch":[],"entries":{}}`, "}}", tdict.MaxDepth+1)
	require.ErrorIs(t, new(tdict.TensorDict).UnmarshalJSON([]byte(tooDeep)), tdict.ErrDepth)
	require.ErrorIs(t, (*tdict.TensorDict)(nil).UnmarshalJSON([]byte(entries("[]", ""))), tdict.ErrKind)
}

// TestJSONReplaces what a dictionary holds, as far as others that hold it allow.
func TestJSONReplaces(t *testing.T) {
	text := tensor.Must(sample().MarshalJSON())
	td := dict([]int{3}, entry{"old", count(3)})
	require.NoError(t, td.UnmarshalJSON(text))
	require.True(t, td.Equal(sample()))
	require.NoError(t, td.UnmarshalJSON([]byte(" null ")))
	require.True(t, td.Equal(sample()), "null changes nothing")

	outer := dict([]int{2}, entry{"d", td2()})
	require.NoError(t, outer.SetNames("time"))
	in := tensor.Must(outer.Dict("d"))
	require.ErrorIs(t, in.UnmarshalJSON(text), shapeops.ErrShape, "the outer dictionary relies on the batch shape")
	testkit.Fails(t, shapeops.ErrShape, in.UnmarshalJSON([]byte(`{"batch":[],"entries":{}}`)))
	require.True(t, in.Equal(td2()), "nothing has changed")
	require.NoError(t, in.UnmarshalJSON([]byte(`{"batch":[2,1],"names":["step","b"],"entries":{}}`)))
	require.Equal(t, []string{"time", "b"}, in.Names(), "and on the names")
	consistent(t, outer)

	outer.Lock()
	require.ErrorIs(t, in.UnmarshalJSON([]byte(`{"batch":[2],"entries":{}}`)), tdict.ErrLocked)
	require.Equal(t, shapeops.Shape{2, 1}, in.Shape())
	require.NoError(t, in.UnmarshalJSON([]byte(`null`)))
}

func td2() *tdict.TensorDict { return dict([]int{2}, entry{"x", count(2)}) }

// TestJSONOfTooMuch names the leaf, and what to do.
func TestJSONOfTooMuch(t *testing.T) {
	large := tensor.Must(tensor.Scalar[int8](1).Expand(2, 1<<23+1))
	td := dict([]int{2}, entry{"d/x", large})
	testkit.Fails(t, shapeops.ErrShape, testkit.Err(td.MarshalJSON()))
	require.Equal(t, `{"preview":1,"batch":[2],"entries":{"d":{"preview":1,"batch":[2],"entries":{"x":{"preview":1,"dtype":"int8","shape":[2,8388609],"first":[1]}}}}}`,
		string(tensor.Must(json.Marshal(td.Preview(1)))))
	b, err := td.Ops().AppendJSON([]byte("x"))
	require.Error(t, err)
	require.Equal(t, "x", string(b))

	list := slices.Repeat([]any{nil}, 1<<12)
	rows := tensor.Must(tdict.DataFrom([]any{list, "last"}, 2))
	many := tensor.Must(dict([]int{2}, entry{"d", rows}).Expand(1<<12, 2))
	require.ErrorIs(t, testkit.Err(many.MarshalJSON()), shapeops.ErrShape, "values in lists count too")
	endless := tensor.Must(dict([]int{1, 2}, entry{"d", tensor.Must(tdict.DataFrom([]string{"a", "b"}, 1, 2))}).Expand(1<<40, 2))
	endless = tensor.Must(endless.Permute(1, 0)) // 1<<40 times "a" comes first
	require.ErrorIs(t, testkit.Err(endless.MarshalJSON()), shapeops.ErrShape)
	require.Contains(t, string(tensor.Must(json.Marshal(endless.Preview(2)))), `"first":["a","a"]`)
}

// TestPreviewOfData has whole rows.
func TestPreviewOfData(t *testing.T) {
	tests := []struct {
		name string
		d    *tdict.Data
		n    int
		want string
	}{
		{"one value", data("v"), 1, `{"preview":1,"shape":[],"value":"v"}`},
		{"not even one", data("v"), 0, `{"preview":0,"shape":[],"first":[]}`},
		{"rows", tensor.Must(tdict.DataFrom([]string{"a", "b", "c"}, 3)), 2, `{"preview":2,"shape":[3],"first":["a","b"]}`},
		{"all rows", tensor.Must(tdict.DataFrom([]string{"a", "b", "c"}, 3)), 3, `{"preview":3,"shape":[3],"values":["a","b","c"]}`},
		{"a list that is too long", tensor.Must(tdict.DataFrom([]any{"a", []any{1, 2}, "b"}, 3)), 3, `{"preview":3,"shape":[3],"first":["a"]}`},
		{"an object that is too long", tensor.Must(tdict.DataFrom([]any{"a", map[string]any{"k": nil}}, 2)), 2, `{"preview":2,"shape":[2],"first":["a"]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, leafPreview(tt.d, tt.n))
		})
	}
	u := tensor.Must(tdict.NewUnbatched(count(3)))
	require.Equal(t, `{"preview":1,"batch":[],"unbatched":{"preview":1,"dtype":"int64","shape":[3],"first":[0]}}`, leafPreview(u, 1))
	gone := tensor.Must(tensor.FromLender(tensor.Int64, &testkit.Lender{Fail: errors.New("closed")}, 0, 2))
	require.EqualError(t, testkit.Err(dict([]int{2}, entry{"d/x", gone}).Preview(1).MarshalJSON()), `marshal "d/x": closed`)
}

// TestPreviewCutsTexts, and names in objects, between characters, and says so by "...".
func TestPreviewCutsTexts(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"as long as can be", strings.Repeat("a", 200), strings.Repeat("a", 200)},
		{"a byte longer", strings.Repeat("a", 201), strings.Repeat("a", 200) + "..."},
		{"within a character", "a" + strings.Repeat("\u00e4", 100), "a" + strings.Repeat("\u00e4", 99) + "..."},
		{"very long", strings.Repeat("\U0001f600", 1<<18), strings.Repeat("\U0001f600", 50) + "..."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, d := range []*tdict.Data{
				data(tt.text), data([]any{tt.text}), data(map[string]any{tt.text: tt.text}),
				tensor.Must(tdict.DataFrom([]string{tt.text, "b", "c", "d"}, 4)),
			} {
				text := string(tensor.Must(dict(d.Shape(), entry{"x", d}).Preview(3).MarshalJSON()))
				require.True(t, json.Valid([]byte(text)))
				require.Contains(t, text, `"`+tt.want+`"`)
				require.Less(t, len(text), 1000)
				whole := string(tensor.Must(d.MarshalJSON()))
				require.Contains(t, whole, `"`+tt.text+`"`, "only previews are cut")
			}
		})
	}
	twins := data(map[string]any{strings.Repeat("a", 300) + "1": 1, strings.Repeat("a", 300) + "2": 2})
	require.True(t, json.Valid([]byte(leafPreview(twins, 9))))
}

// TestJSONGrowsLinearly: neither many leaves nor many dictionaries, one in the other, cost more
// than their text.
func TestJSONGrowsLinearly(t *testing.T) {
	for _, n := range []int{2, 20, 200} {
		chain := dict([]int{500}, entry{"x", count(500)})
		wide := tdict.New(2)
		for i := range n {
			chain = dict([]int{500}, entry{"x", count(500)}, entry{"d", chain})
			for j := range 10 {
				require.NoError(t, wide.Set(key(fmt.Sprint("k", i, ".", j)), count(2)))
			}
		}
		for name, td := range map[string]*tdict.TensorDict{"deep": chain, "wide": wide} {
			text := tensor.Must(td.MarshalJSON())
			b := make([]byte, 0, len(text))
			testkit.MaxBytes(t, uint64(4*len(text)), func() { _ = tensor.Must(td.Ops().AppendJSON(b)) })
			testkit.MaxBytes(t, uint64(50*len(text)), func() { _ = new(tdict.TensorDict).UnmarshalJSON(text) })
			require.Less(t, testing.AllocsPerRun(1, func() { _ = new(tdict.TensorDict).UnmarshalJSON(text) })/float64(len(text)), 1.0, name)
		}
	}
}

// FuzzJSON: what is read is consistent, and is written as a text that reads back equal; what is
// refused changes nothing; memory is in proportion to the text.
func FuzzJSON(f *testing.F) {
	for _, td := range []*tdict.TensorDict{everyFinite(), ward(), sample(), everyKind()} {
		f.Add(tensor.Must(td.MarshalJSON()))
		f.Add(tensor.Must(td.Preview(1).MarshalJSON()))
	}
	f.Add([]byte(`{"entries":{"x":{"values":[1.0,1],"shape":[2]},"d":{"entries":{},"names":["b",null],"batch":[2,0]}},"names":["a"],"batch":[2]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		td := dict(nil, entry{"old", count()})
		if err := td.UnmarshalJSON(text); err != nil {
			if td.NumEntries() != 1 || !td.Has("old") || len(td.Shape()) > 0 {
				t.Fatalf("%v: the receiver has changed", err)
			}
			return
		}
		consistent(t, td)
		if n := size(td); n > 24*len(text) {
			t.Fatalf("%d bytes of leaves of a text of %d", n, len(text))
		}
		first := tensor.Must(td.MarshalJSON())
		var back tdict.TensorDict
		if err := back.UnmarshalJSON(first); err != nil {
			t.Fatalf("%s of %q: %v", first, text, err)
		}
		if again := tensor.Must(back.MarshalJSON()); !bytes.Equal(first, again) {
			t.Fatalf("%s, then %s", first, again)
		}
		if !strings.Contains(string(first), "NaN") {
			sameDicts(t, td, &back)
		}
	})
}

// size returns how many bytes the elements of tensors, and the values of ragged ones, take.
func size(td *tdict.TensorDict) int {
	n := 0
	for _, v := range td.Leaves() {
		switch v := v.(type) {
		case *tensor.Tensor:
			n += v.ByteSize()
		case *ragged.Tensor:
			n += v.ByteSize()
		case *tdict.Unbatched:
			n += v.Tensor().ByteSize()
		}
	}
	return n
}

// TestJSONErrorsSayTheByte of the whole text, in whatever order fields come: @ marks it.
func TestJSONErrorsSayTheByte(t *testing.T) {
	tests := []struct{ name, text string }{
		{"in order", `{"dtype":"int8","shape":[1],"values":@7}`},
		{"values first", `{"values": @7,"dtype":"int8","shape":[1]}`},
		{"a list within", `{"values":[[1],@2],"dtype":"int8","shape":[2,1]}`},
		{"ragged values first", `{"values":[[1],@2],"dtype":"int8","shape":"[2 *]"}`},
		{"unbatched", `{"batch":[],"unbatched":{"dtype":"int8","shape":[1],"values":@7}}`},
		{"unbatched, values first", `{"unbatched":{"values":@7,"dtype":"int8","shape":[1]},"batch":[]}`},
		{"data", `{"shape":[1],"values":@7}`},
		{"data, half a character", `{"values":["a","\ud800@"],"shape":[2]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := `{"entries":{"x":` + tt.text + `},"batch":[]}`
			at := strings.Index(text, "@")
			err := new(tdict.TensorDict).UnmarshalJSON([]byte(strings.Replace(text, "@", "", 1)))
			require.ErrorIs(t, err, tensor.ErrJSON)
			require.ErrorContains(t, err, fmt.Sprintf("byte %d: ", at))
		})
	}
}

// The class of a dictionary is in its JSON.
func TestJSONKeepsTheClass(t *testing.T) {
	td := classed(t)
	text := tensor.Must(json.Marshal(td))
	require.Contains(t, string(text), `{"batch":[2,3],"class":"my.Outer","entries":{`)
	var back tdict.TensorDict
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, "my.Outer", back.Class())
	require.Equal(t, "my.Inner", tensor.Must(back.Dict("in")).Class())
	require.NoError(t, json.Unmarshal([]byte(`{"batch":[2,3],"entries":{}}`), &back))
	require.Equal(t, "my.Outer", back.Class(), "without one, the class stays")
	require.EqualError(t, json.Unmarshal([]byte(`{"batch":[],"class":"a b","entries":{}}`), new(tdict.TensorDict)),
		`unmarshal: bad name: got the class "a b", want a name such as my.module.Frame`)
	require.ErrorIs(t, json.Unmarshal([]byte(`{"batch":[],"class":3,"entries":{}}`), new(tdict.TensorDict)), tensor.ErrJSON)
}
