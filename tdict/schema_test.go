package tdict_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// allSpecs is a schema with each kind of entry.
func allSpecs() tdict.Schema {
	return tdict.Schema{
		{Key: "x", DType: tensor.Float32, Shape: shapeops.Shape{3}, Bare: true, Doc: "position,\nin metres"},
		{Key: "any", Shape: shapeops.Shape{tdict.Any, 2}, Optional: true},
		{Key: "visits/codes", Kind: tdict.KindRagged, DType: tensor.Int64, Depth: 2},
		{Key: "visits/pairs", Kind: tdict.KindRagged, DType: tensor.Int8, Depth: 1, Batch: shapeops.Shape{4}, Shape: shapeops.Shape{2}},
		{Key: "name", Kind: tdict.KindText},
		{Key: "names", Kind: tdict.KindText, Shape: shapeops.Shape{2}},
		{Key: "more", Kind: tdict.KindDict, Shape: shapeops.Shape{5}, Optional: true},
		{Key: "more/y", DType: tensor.Bool, Shape: shapeops.Shape{5}},
		{Key: "note", Kind: tdict.KindData, Shape: shapeops.Shape{1}},
		{Key: "table", Kind: tdict.KindUnbatched, DType: tensor.Float64, Shape: shapeops.Shape{7}},
		{Key: "born", DType: tensor.Int64, Mask: "born_known", Unit: "d", Time: "2006-01-02"},
		{Key: "born_known", DType: tensor.Bool},
		{Key: "sex", DType: tensor.Int32, Categories: []string{"f", "m"}, Columns: []string{"Sex / gender"}},
		{Key: "codes", Kind: tdict.KindDict, Depth: 1},
		{Key: "codes/names", Kind: tdict.KindText, Depth: 1, Mask: "codes/known"},
		{Key: "codes/known", Kind: tdict.KindRagged, DType: tensor.Bool, Depth: 1},
	}
}

// exactSpecs is allSpecs without what is any.
func exactSpecs() tdict.Schema {
	s := allSpecs()
	s[1].DType, s[1].Shape = tensor.Uint8, shapeops.Shape{6, 2}
	return s
}

func TestSchemaTable(t *testing.T) {
	require.Equal(t, strings.TrimPrefix(`
key           kind        dtype    shape    doc
x             tensor      float32  [3]      whole numbers without .0, position, in metres
any           tensor      ?        [? 2]    optional
visits/codes  ragged      int64    [* *]
visits/pairs  ragged      int8     [4 * 2]
name          text                 []
names         text                 [2]
more          dictionary           [5]      optional
more/y        tensor      bool     [5]
note          data                 [1]
table         unbatched   float64  [7]
born          tensor      int64    []       mask born_known, unit d, time 2006-01-02
born_known    tensor      bool     []
sex           tensor      int32    []       2 categories "f" "m", column "Sex / gender"
codes         dictionary           [*]
codes/names   text                 [*]      mask codes/known
codes/known   ragged      bool     [*]`, "\n"), allSpecs().String())
	require.Equal(t, "key  kind  dtype  shape  doc", tdict.Schema(nil).String())
	require.Contains(t, tdict.Schema{{Kind: 77, Depth: 1 << 60}}.String(), "Kind(77)")
}

func TestSchemaZeros(t *testing.T) {
	for _, batch := range [][]int{nil, {3}, {0}, {2, 3}} {
		for name, build := range map[string]func(...int) (*tdict.TensorDict, error){"zeros": exactSpecs().Zeros, "meta": exactSpecs().Meta} {
			td, err := build(batch...)
			require.NoError(t, err, name)
			require.True(t, td.Shape().Equal(batch))
			require.NoError(t, exactSpecs().Check(td))
			require.NoError(t, allSpecs().Check(td))
			again, err := tdict.SchemaOf(td).Zeros(batch...)
			require.NoError(t, err)
			require.Empty(t, tdict.SchemaOf(td).Diff(tdict.SchemaOf(again)))
			require.Equal(t, fmt.Sprint(keysOf(td)), fmt.Sprint(keysOf(again)))
		}
	}
	td := tensor.Must(exactSpecs().Zeros(2))
	require.Equal(t, []string{"", ""}, tensor.Must(ragged.Strings(tensor.Must(tdict.Get[*ragged.Tensor](td, "name")))))
	require.Equal(t, tensor.Meta, tensor.Must(tensor.Must(exactSpecs()[:2].Meta(1<<40)).Tensor("x")).Device())
	require.Empty(t, tdict.SchemaOf(nil))
}

// keysOf lists the keys of all entries.
func keysOf(td *tdict.TensorDict) (keys []nestedkey.Key) {
	for key := range td.NestedKeys() {
		keys = append(keys, key)
	}
	return keys
}

// SchemaOf says what there is: bytes are not text, nested dictionaries are listed if they are empty
// or have dims of their own.
func TestSchemaOf(t *testing.T) {
	td := tdict.New(2)
	set := func(key nestedkey.Key, v tdict.Value) { require.NoError(t, td.Set(key, v)) }
	set("text", tensor.Must(ragged.FromStrings([]string{"a", "b"})))
	set("a/x", tensor.Must(tensor.New(tensor.Int8, 2, 1)))
	set("none", tdict.New(2))
	set("wide", tdict.New(2, 3))
	set("wide/y", tensor.Must(tensor.New(tensor.Int8, 2, 3)))
	set("flat", tensor.Must(ragged.From[int8]([]int8{1, 2})))
	require.Equal(t, strings.TrimPrefix(`
key     kind        dtype  shape  doc
text    ragged      uint8  [*]
a/x     tensor      int8   [1]
none    dictionary         []
wide    dictionary         [3]
wide/y  tensor      int8   [3]
flat    ragged      int8   []`, "\n"), tdict.SchemaOf(td).String())
}

func TestSchemaCheck(t *testing.T) {
	x := func(d tensor.DType, shape ...int) tdict.Value { return tensor.Must(tensor.New(d, shape...)) }
	text := tensor.Must(ragged.FromStrings([]string{"a", "\xff"}))
	numbers := tensor.Must(ragged.From[int64]([][]int64{{1}, {}}))
	one := func(s tdict.Spec) tdict.Schema { s.Key = "k"; return tdict.Schema{s} }
	tests := []struct {
		name   string
		schema tdict.Schema
		has    tdict.Entries
		want   string // "" if it fits
	}{
		{"a tensor", one(tdict.Spec{DType: tensor.Int8}), tdict.Entries{"k": x(tensor.Int8, 2)}, ""},
		{"any dtype", one(tdict.Spec{}), tdict.Entries{"k": x(tensor.Int8, 2)}, ""},
		{"any size", one(tdict.Spec{Shape: shapeops.Shape{tdict.Any}}), tdict.Entries{"k": x(tensor.Int8, 2, 9)}, ""},
		{"no dim for any size", one(tdict.Spec{Shape: shapeops.Shape{tdict.Any}}), tdict.Entries{"k": x(tensor.Int8, 2)},
			`check "k": schema mismatch: got tensor int8 [2], want tensor ? [2 ?]`},
		{"another dtype", one(tdict.Spec{DType: tensor.Int8}), tdict.Entries{"k": x(tensor.Bool, 2)},
			`check "k": schema mismatch: got tensor bool [2], want tensor int8 [2]`},
		{"another size", one(tdict.Spec{Shape: shapeops.Shape{3}}), tdict.Entries{"k": x(tensor.Bool, 2, 4)},
			`check "k": schema mismatch: got tensor bool [2 4], want tensor ? [2 3]`},
		{"text", one(tdict.Spec{Kind: tdict.KindText}), tdict.Entries{"k": text}, ""},
		{"bytes", one(tdict.Spec{Kind: tdict.KindRagged, DType: tensor.Uint8, Depth: 1}), tdict.Entries{"k": text}, ""},
		{"numbers for text", one(tdict.Spec{Kind: tdict.KindText}), tdict.Entries{"k": numbers},
			`check "k": schema mismatch: got ragged int64 [2 *], want text [2]`},
		{"another depth", one(tdict.Spec{Kind: tdict.KindRagged, Depth: 2}), tdict.Entries{"k": numbers},
			`check "k": schema mismatch: got ragged int64 [2 *], want ragged ? [2 * *]`},
		{"data for text", one(tdict.Spec{Kind: tdict.KindText}), tdict.Entries{"k": tensor.Must(tdict.NewData("a", 2))},
			`check "k": schema mismatch: got data [2], want text [2]`},
		{"an unbatched tensor", one(tdict.Spec{Kind: tdict.KindUnbatched, Shape: shapeops.Shape{4}}),
			tdict.Entries{"k": tensor.Must(tdict.NewUnbatched(tensor.Vector[int8](1, 2, 3)))},
			`check "k": schema mismatch: got unbatched int8 [3], want unbatched ? [4]`},
		{"a missing entry", one(tdict.Spec{Shape: shapeops.Shape{1}}), nil,
			`check "k": schema mismatch: got none, want tensor ? [2 1]`},
		{"an optional one", one(tdict.Spec{Optional: true}), nil, ""},
		{"another entry", nil, tdict.Entries{"z": x(tensor.Int8, 2)},
			`check "z": schema mismatch: got int8 [2], want no such entry`},
		{"another dictionary, once", nil, tdict.Entries{"z/a": x(tensor.Int8, 2), "z/b": x(tensor.Int8, 2)},
			`check "z": schema mismatch: got dictionary [2], want no such entry`},
		{"another entry in a dictionary", tdict.Schema{{Key: "d/k"}}, tdict.Entries{"d/k": x(tensor.Int8, 2), "d/e/z": x(tensor.Int8, 2)},
			`check "d/e": schema mismatch: got dictionary [2], want no such entry`},
		{"a tensor for a dictionary", tdict.Schema{{Key: "d/k"}, {Key: "d/l"}}, tdict.Entries{"d": x(tensor.Int8, 2)},
			`check "d": schema mismatch: got int8 [2], want a dictionary`},
		{"a tensor for a dictionary that is listed", tdict.Schema{{Key: "d", Kind: tdict.KindDict}, {Key: "d/k"}}, tdict.Entries{"d": x(tensor.Int8, 2)},
			`check "d": schema mismatch: got tensor int8 [2], want dictionary [2]`},
		{"a dictionary for a tensor", tdict.Schema{{Key: "d"}}, tdict.Entries{"d/k": x(tensor.Int8, 2)},
			`check "d": schema mismatch: got dictionary [2], want tensor ? [2]`},
		{"an optional dictionary", tdict.Schema{{Key: "d", Kind: tdict.KindDict, Optional: true}, {Key: "d/k"}}, nil, ""},
		{"in an optional dictionary", tdict.Schema{{Key: "d", Kind: tdict.KindDict, Optional: true}, {Key: "d/k"}}, tdict.Entries{"d": tdict.New(2)},
			`check "d/k": schema mismatch: got none, want tensor ? [2]`},
		{"empty names", tdict.Schema{{Key: "/"}, {Key: "/k"}}, tdict.Entries{"": tdict.New(2), "/": x(tensor.Int8, 2), "/z": x(tensor.Int8, 2)},
			`check "/k": schema mismatch: got none, want tensor ? [2]` + "\n" +
				`check "/z": schema mismatch: got int8 [2], want no such entry`},
		{"all at once", tdict.Schema{{Key: "a"}, {Key: "b", DType: tensor.Int8}}, tdict.Entries{"b": x(tensor.Bool, 2), "c": x(tensor.Bool, 2)},
			`check "a": schema mismatch: got none, want tensor ? [2]` + "\n" +
				`check "b": schema mismatch: got tensor bool [2], want tensor int8 [2]` + "\n" +
				`check "c": schema mismatch: got bool [2], want no such entry`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := tensor.Must(tdict.FromMap(shapeops.Shape{2}, tt.has))
			err := tt.schema.Check(td)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, tt.want)
			all := err.(interface{ Unwrap() []error }).Unwrap()
			require.Len(t, all, strings.Count(tt.want, "\n")+1)
			for _, err := range all {
				_, ok := errors.AsType[*tdict.KeyError](err)
				require.True(t, ok)
				require.ErrorIs(t, err, tdict.ErrSchema)
			}
		})
	}
}

func TestSchemaRefusals(t *testing.T) {
	one := func(s tdict.Spec) error { return tdict.Schema{s}.Validate() }
	deep := nestedkey.Key(strings.Repeat("k/", tdict.MaxDepth+1) + "k")
	tests := []struct {
		name string
		err  error
		want error
	}{
		{"a bad key", one(tdict.Spec{Key: "a~"}), nestedkey.ErrKey},
		{"a key twice", tdict.Schema{{Key: "a"}, {Key: "a"}}.Validate(), tdict.ErrSchema},
		{"an entry in a tensor", tdict.Schema{{Key: "a"}, {Key: "a/b/c"}}.Validate(), tdict.ErrSchema},
		{"a tensor around an entry", tdict.Schema{{Key: "a/b/c"}, {Key: "a"}}.Validate(), tdict.ErrSchema},
		{"a dictionary too late", tdict.Schema{{Key: "a/b"}, {Key: "a", Kind: tdict.KindDict}}.Validate(), tdict.ErrSchema},
		{"a kind that is none", one(tdict.Spec{Key: "a", Kind: 7}), tdict.ErrKind},
		{"a dtype that is none", one(tdict.Spec{Key: "a", DType: 99}), tensor.ErrDType},
		{"a dtype of text", one(tdict.Spec{Key: "a", Kind: tdict.KindText, DType: tensor.Uint8}), tensor.ErrDType},
		{"a negative depth", one(tdict.Spec{Key: "a", Kind: tdict.KindRagged, Depth: -1}), shapeops.ErrDim},
		{"a huge depth", one(tdict.Spec{Key: "a", Kind: tdict.KindRagged, Depth: 1 << 60}), shapeops.ErrDim},
		{"a batch of a tensor", one(tdict.Spec{Key: "a", Batch: shapeops.Shape{2}}), shapeops.ErrShape},
		{"a negative size", one(tdict.Spec{Key: "a", Shape: shapeops.Shape{-2}}), shapeops.ErrShape},
		{"a doc that is not text", one(tdict.Spec{Key: "a", Doc: "\xff"}), tdict.ErrSchema},
		{"check of an invalid schema", tdict.Schema{{Depth: 1}}.Check(tdict.New()), tdict.ErrSchema},
		{"zeros of any dtype", testkit.Err(tdict.Schema{{Key: "d/a"}}.Zeros(2)), tdict.ErrSchema},
		{"zeros of any size", testkit.Err(tdict.Schema{{Key: "a", DType: tensor.Int8, Shape: shapeops.Shape{3, tdict.Any}}}.Zeros(2)), tdict.ErrSchema},
		{"zeros of a negative batch", testkit.Err(exactSpecs().Zeros(-2)), shapeops.ErrShape},
		{"zeros beyond memory", testkit.Err(tdict.Schema{{Key: "a", DType: tensor.Int8, Shape: shapeops.Shape{1 << 40, 1 << 40}}}.Zeros(2)), shapeops.ErrShape},
		{"zeros of a dictionary that cannot be counted", testkit.Err(tdict.Schema{{Key: "a", Kind: tdict.KindDict, Shape: shapeops.Shape{1 << 40, 1 << 40}}}.Meta(2)), shapeops.ErrShape},
		{"zeros of rows beyond memory", testkit.Err(tdict.Schema{{Key: "a", Kind: tdict.KindText, Shape: shapeops.Shape{1 << 50}}}.Zeros(2)), shapeops.ErrShape},
		{"zeros of an invalid schema", testkit.Err(tdict.Schema{{Depth: 1}}.Meta()), tdict.ErrSchema},
		{"JSON of an invalid schema", testkit.Err(tdict.Schema{{Depth: 1}}.MarshalJSON()), tdict.ErrSchema},
		{"a key too deep", one(tdict.Spec{Key: deep}), tdict.ErrDepth},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.want, tt.err) })
	}
}

func TestSchemaDiff(t *testing.T) {
	a, b := allSpecs(), allSpecs()
	b[0], b[1] = b[1], b[0]
	b[0].Doc = "other"
	require.Empty(t, a.Diff(b))
	b[0].Optional, b[2].Depth = false, 1
	b[3].Key, b[9].Batch = "visits/new", shapeops.Shape{2}
	require.Equal(t, strings.TrimPrefix(`
"any": tensor ? [? 2], optional, other tensor ? [? 2]
"visits/codes": ragged int64 [* *], other ragged int64 [*]
"visits/pairs": ragged int8 [4 * 2], other none
"table": unbatched float64 [7], other unbatched float64 [7] with Batch [2]
"visits/new": none, other ragged int8 [4 * 2]`, "\n"), a.Diff(b))
}

func TestSchemaJSON(t *testing.T) {
	text, err := json.Marshal(allSpecs())
	require.NoError(t, err)
	require.Equal(t, `{"version":1,"entries":[`+
		`{"key":"x","kind":"tensor","dtype":"float32","shape":[3],"doc":"position,\nin metres","bare":true},`+
		`{"key":"any","kind":"tensor","shape":[null,2],"optional":true},`+
		`{"key":"visits/codes","kind":"ragged","dtype":"int64","depth":2},`+
		`{"key":"visits/pairs","kind":"ragged","dtype":"int8","batch":[4],"depth":1,"shape":[2]},`+
		`{"key":"name","kind":"text"},`+
		`{"key":"names","kind":"text","shape":[2]},`+
		`{"key":"more","kind":"dictionary","shape":[5],"optional":true},`+
		`{"key":"more/y","kind":"tensor","dtype":"bool","shape":[5]},`+
		`{"key":"note","kind":"data","shape":[1]},`+
		`{"key":"table","kind":"unbatched","dtype":"float64","shape":[7]},`+
		`{"key":"born","kind":"tensor","dtype":"int64","mask":"born_known","unit":"d","time":"2006-01-02"},`+
		`{"key":"born_known","kind":"tensor","dtype":"bool"},`+
		`{"key":"sex","kind":"tensor","dtype":"int32","columns":["Sex / gender"],"categories":["f","m"]},`+
		`{"key":"codes","kind":"dictionary","depth":1},`+
		`{"key":"codes/names","kind":"text","depth":1,"mask":"codes/known"},`+
		`{"key":"codes/known","kind":"ragged","dtype":"bool","depth":1}]}`, string(text))
	var s tdict.Schema
	require.NoError(t, json.Unmarshal(text, &s))
	require.Equal(t, allSpecs(), s)
	require.NoError(t, json.Unmarshal([]byte("null"), &s))
	require.Len(t, s, 16)
	require.NoError(t, json.Unmarshal([]byte(`{"entries":[],"version":1}`), &s))
	require.Equal(t, tdict.Schema{}, s)
	text, err = json.Marshal(tdict.Schema(nil))
	require.NoError(t, err)
	require.Equal(t, `{"version":1,"entries":[]}`, string(text))
}

func TestSchemaJSONRefusals(t *testing.T) {
	entry := func(text string) string { return `{"version":1,"entries":[{"key":"a","kind":"tensor"},` + text + `]}` }
	tests := []struct {
		name, text string
		want       error
	}{
		{"no object", `[]`, tensor.ErrJSON},
		{"no version", `{"entries":[]}`, tensor.ErrJSON},
		{"another version", `{"version":2,"entries":[]}`, tensor.ErrJSON},
		{"no entries", `{"version":1}`, tensor.ErrJSON},
		{"an unknown field", `{"version":1,"entries":[],"more":1}`, tensor.ErrJSON},
		{"a field twice", `{"version":1,"entries":[],"entries":[]}`, tensor.ErrJSON},
		{"trailing data", `{"version":1,"entries":[]} 1`, tensor.ErrJSON},
		{"no key", entry(`{"kind":"tensor"}`), tensor.ErrJSON},
		{"no kind", entry(`{"key":"b"}`), tensor.ErrJSON},
		{"a kind that is none", entry(`{"key":"b","kind":"float"}`), tensor.ErrJSON},
		{"a kind that is a number", entry(`{"key":"b","kind":1}`), tensor.ErrJSON},
		{"a dtype that is none", entry(`{"key":"b","kind":"tensor","dtype":"int"}`), tensor.ErrJSON},
		{"a dtype that is null", entry(`{"key":"b","kind":"tensor","dtype":null}`), tensor.ErrJSON},
		{"a negative size", entry(`{"key":"b","kind":"tensor","shape":[-1]}`), tensor.ErrJSON},
		{"a fraction", entry(`{"key":"b","kind":"tensor","shape":[1.0]}`), tensor.ErrJSON},
		{"an unknown field of an entry", entry(`{"key":"b","kind":"tensor","Shape":[1]}`), tensor.ErrJSON},
		{"a field of an entry twice", entry(`{"key":"b","kind":"tensor","key":"c"}`), tensor.ErrJSON},
		{"a huge depth", entry(`{"key":"b","kind":"ragged","depth":9000000000000000000}`), tdict.ErrSchema},
		{"a key twice", entry(`{"key":"a","kind":"tensor"}`), tdict.ErrSchema},
		{"a bad key", entry(`{"key":"a~","kind":"tensor"}`), nestedkey.ErrKey},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := allSpecs()
			err := s.UnmarshalJSON([]byte(tt.text))
			require.Equal(t, allSpecs(), s)
			testkit.Fails(t, tt.want, err)
		})
	}
}

// Whatever is read is valid, and is read again as the same.
func FuzzSchemaJSON(f *testing.F) {
	f.Add(tensor.Must(allSpecs().MarshalJSON()))
	f.Add(tensor.Must(exactSpecs().MarshalJSON()))
	f.Add([]byte(`{"entries":[{"kind":"text","key":"a~1b/\u00e9","shape":[null,0],"optional":false}],"version":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var s, again tdict.Schema
		if err := s.UnmarshalJSON(text); err != nil || s == nil {
			require.Nil(t, s)
			return
		}
		require.NoError(t, s.Validate())
		written := tensor.Must(s.MarshalJSON())
		require.NoError(t, again.UnmarshalJSON(written))
		require.Empty(t, s.Diff(again))
		require.Equal(t, string(written), string(tensor.Must(again.MarshalJSON())))
		require.Equal(t, s.String(), again.String())
		if td, err := s.Meta(0); err == nil {
			require.NoError(t, s.Check(td))
		}
	})
}

func TestSchemaHead(t *testing.T) {
	texts := []string{"Ada", "", "Émilie", "\xff\t", strings.Repeat("日本", 1000)}
	td := tdict.New(5)
	require.NoError(t, td.Set("p/name", tensor.Must(ragged.FromStrings(texts))))
	require.NoError(t, td.Set("n", tensor.Vector[int8](1, 2, 3, 4, 5)))
	require.NoError(t, td.Set("two", tensor.Must(ragged.FromStrings(append(texts, texts...), 5, 2))))
	require.NoError(t, td.Set("bad", tensor.Must(ragged.From[int8]([][]int8{{1}, {}, {}, {}, {}}))))
	schema := tdict.Schema{
		{Key: "p/name", Kind: tdict.KindText}, {Key: "n", Kind: tdict.KindText},
		{Key: "two", Kind: tdict.KindText, Shape: shapeops.Shape{2}}, {Key: "bad", Kind: tdict.KindText},
	}
	require.Equal(t, strings.TrimPrefix(`
p/name  n  two                  bad
"Ada"   1  ["Ada" ""]           dtype mismatch: got r...
""      2  ["Émilie" "\xff\t"]  dtype mismatch: got r...
2 rows more`, "\n"), schema.Head(tensor.Must(td.Index(ix.Range(0, 4))), 2))
	require.Contains(t, schema.Head(td, 5), `"日本日本日本日本日本日本日本日本日本日本...`)
	require.Contains(t, schema.Head(td, 5), `"\xff\t"`)
	require.Equal(t, td.Head(5), tdict.Schema(nil).Head(td, 5))
}

// randomSpecs returns a schema of entries of every kind, at several depths.
func randomSpecs(r *rand.Rand) tdict.Schema {
	sizes := func() (s shapeops.Shape) {
		for range r.IntN(3) {
			s = append(s, 1+r.IntN(3))
		}
		return s
	}
	var s tdict.Schema
	for i := range 1 + r.IntN(8) {
		key := nestedkey.Key(strings.Repeat("d/", r.IntN(3)) + fmt.Sprint("k", i))
		spec := tdict.Spec{Key: key, Kind: tdict.Kind(r.IntN(6)), Shape: sizes(), Optional: r.IntN(3) == 0}
		switch spec.Kind {
		case tdict.KindRagged:
			spec.DType, spec.Depth, spec.Batch = tensor.Int32, 1+r.IntN(2), sizes()
		case tdict.KindTensor, tdict.KindUnbatched:
			spec.DType = tensor.Float32
		}
		s = append(s, spec)
	}
	return s
}

// wrongFor returns values for an entry which break one rule each: kind, dtype, a size, a dim.
func wrongFor(t *testing.T, s tdict.Spec, batch ...int) map[string]tdict.Value {
	change := func(f func(*tdict.Spec)) tdict.Value {
		c := s
		c.Shape, c.Batch = s.Shape.Clone(), s.Batch.Clone()
		f(&c)
		return tensor.Must(tensor.Must(tdict.Schema{c}.Zeros(batch...)).Get(s.Key))
	}
	wrong := map[string]tdict.Value{
		"a dim":  change(func(s *tdict.Spec) { s.Shape = append(s.Shape, 1) }),
		"a kind": change(func(c *tdict.Spec) { *c = tdict.Spec{Key: s.Key, Kind: tdict.KindData, Shape: s.Shape} }),
	}
	if s.Kind == tdict.KindData {
		wrong["a kind"] = change(func(c *tdict.Spec) { *c = tdict.Spec{Key: s.Key, Kind: tdict.KindDict, Shape: s.Shape} })
	}
	if s.DType != 0 {
		wrong["a dtype"] = change(func(s *tdict.Spec) { s.DType = tensor.Bool })
	}
	if len(s.Shape) > 0 {
		wrong["a size"] = change(func(s *tdict.Spec) { s.Shape[0]++ })
	}
	if s.Depth > 0 {
		wrong["a level"] = change(func(s *tdict.Spec) { s.Depth++ })
		wrong["a batch dim"] = change(func(s *tdict.Spec) { s.Batch = append(s.Batch, 2) })
	}
	return wrong
}

// TestCheckRandomSchemas checks that zeros fit a schema, and that each change which breaks one rule
// is refused, and no other is.
func TestCheckRandomSchemas(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		schema := randomSpecs(r)
		td := tensor.Must(schema.Zeros(2))
		require.NoError(t, schema.Check(td))
		check := func(what string, change func(td *tdict.TensorDict) error, breaks bool) {
			changed := td.Copy()
			require.NoError(t, change(changed), what)
			err := schema.Check(changed)
			require.Equal(t, breaks, err != nil, "%s: %v\n%v", what, err, schema)
			require.True(t, !breaks || errors.Is(err, tdict.ErrSchema), what)
		}
		for _, s := range schema {
			for what, v := range wrongFor(t, s, 2) {
				check(string(s.Key)+" has another "+what, func(td *tdict.TensorDict) error { return td.Set(s.Key, v) }, true)
			}
			check(string(s.Key)+" is set again", func(td *tdict.TensorDict) error {
				return td.Set(s.Key, tensor.Must(tensor.Must(tdict.Schema{s}.Zeros(2)).Get(s.Key)))
			}, false)
			check(string(s.Key)+" goes", func(td *tdict.TensorDict) error { return td.Delete(s.Key) }, !s.Optional)
		}
		check("a further entry", func(td *tdict.TensorDict) error { return td.Set("more", tensor.Must(tensor.New(tensor.Int8, 2))) }, true)
	}
}

func TestSpell(t *testing.T) {
	day, ms := tdict.Spec{Time: time.DateOnly, Unit: "d"}, tdict.Spec{Time: "15:04:05.000", Unit: "ms"}
	sex := tdict.Spec{Categories: []string{"f", "m"}}
	tests := []struct {
		name       string
		spec       tdict.Spec
		text, want string
	}{
		{"a day", day, "1", "1970-01-02"},
		{"a day before 1970", day, "-1", "1969-12-31"},
		{"more seconds than int64 holds", day, "9223372036854775807", "9223372036854775807"},
		{"fewer seconds than int64 holds", day, "-9223372036854775808", "-9223372036854775808"},
		{"milliseconds before 1970", ms, "-1", "23:59:59.999"},
		{"a category", sex, "1", `"m"`},
		{"a code without a text", sex, "2", "2"},
		{"a negative code", sex, "-1", "-1"},
		{"no integer", sex, "NA", "NA"},
		{"a number without a meaning", tdict.Spec{}, "1", "1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tt.spec.Spell(tt.text)) })
	}
}

// TestHeadOfTextsInLists: texts in lists are quoted, and what cannot be text is an error in its
// cells.
func TestHeadOfTextsInLists(t *testing.T) {
	texts := tensor.Must(ragged.FromStrings([]string{"a", "", "é\n"}))
	lists := tensor.Must(texts.Group(2, 0, 1))
	td := dict([]int{3}, entry{"l", lists}, entry{"ll", tensor.Must(lists.Group(2, 0, 1))}, entry{"n", tensor.Must(ragged.From[int64]([][][]int64{{}, {}, {{1}}}))})
	schema := tdict.Schema{{Key: "l", Kind: tdict.KindText, Depth: 1}, {Key: "ll", Kind: tdict.KindText, Depth: 2}, {Key: "n", Kind: tdict.KindText, Depth: 1}}
	require.Equal(t, `l         ll             n
["a" ""]  [["a" ""] []]  dtype mismatch: got r...
[]        []             dtype mismatch: got r...
["é\n"]   [["é\n"]]      dtype mismatch: got r...`, schema.Head(td, 3))
}
