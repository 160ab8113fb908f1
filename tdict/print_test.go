package tdict_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestPrint(t *testing.T) {
	td := dict([]int{2},
		entry{"a", tensor.Must(tensor.Must(tensor.Zeros[float32](3, 2)).Transpose(0, 1))},
		entry{"b/c~1d", tensor.Vector(true, false)},
		entry{"b/e", tdict.New(2, 0)},
	)
	tensor.Must(td.Dict("b")).Lock()
	tests := []struct {
		name, format string
		value        any
		want         string
	}{
		{"empty", "%v", tdict.New(), "TensorDict(\n    fields={},\n    batch=[])"},
		{"empty, in full", "%+v", tdict.New(3), "TensorDict(\n    fields={},\n    batch=[3],\n    locked=false)"},
		{"nil", "%v", (*tdict.TensorDict)(nil), "<nil>"},
		{"another verb", "%d", tdict.New(), "%!d(*tdict.TensorDict)"},
		{"nested", "%v", td, `TensorDict(
    fields={
        a: Tensor(shape=[2 3], dtype=float32),
        b: TensorDict(
            fields={
                c~1d: Tensor(shape=[2], dtype=bool),
                e: TensorDict(
                    fields={},
                    batch=[2 0])},
            batch=[2])},
    batch=[2])`},
		{"nested, in full", "%+v", td, `TensorDict(
    fields={
        a: Tensor(shape=[2 3], dtype=float32, bytes=24, memory=go, strides=[1 2]),
        b: TensorDict(
            fields={
                c~1d: Tensor(shape=[2], dtype=bool, bytes=2, memory=go),
                e: TensorDict(
                    fields={},
                    batch=[2 0],
                    locked=true)},
            batch=[2],
            locked=true)},
    batch=[2],
    locked=false)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, fmt.Sprintf(tt.format, tt.value)) })
	}
	require.Equal(t, fmt.Sprintf("%v", td), td.String())
	require.Equal(t, td.String(), fmt.Sprintf("%s", td))
}

// leavesIn returns how many leaves a text prints and counts.
func leavesIn(t testing.TB, text string) int {
	t.Helper()
	leaves := strings.Count(text, "Tensor(")
	for _, found := range regexp.MustCompile(`\.\.\. and (\d+) more (?:leaf|leaves)|TensorDict\((\d+) (?:leaf|leaves),`).FindAllStringSubmatch(text, -1) {
		leaves += tensor.Must(strconv.Atoi(found[1] + found[2]))
	}
	return leaves
}

// TestPrintNamesEveryEntry before it prints what is in one of them.
func TestPrintNamesEveryEntry(t *testing.T) {
	groups := tdict.New(2)
	for i := range 300 {
		require.NoError(t, groups.Set(key(fmt.Sprintf("group%02d/x%02d", i/30, i%30)), count(2)))
	}
	text := groups.String()
	require.Equal(t, 300, leavesIn(t, text))
	require.LessOrEqual(t, strings.Count(text, "\n"), 45)
	require.Contains(t, text, "            x27: Tensor(shape=[2], dtype=int64),\n                ... and 2 more leaves},\n            batch=[2]),\n")
	for i := 1; i < 10; i++ {
		require.Contains(t, text, fmt.Sprintf("\n        group%02d: TensorDict(30 leaves, batch=[2])", i))
	}
	require.True(t, strings.HasSuffix(text, "\n    batch=[2]) (%+v prints all 300 leaves)"), text)

	mixed := tdict.New()
	for i := range 100 {
		require.NoError(t, mixed.Set(key(fmt.Sprintf("large/deep/x%02d", i)), count()))
	}
	require.NoError(t, mixed.Set("small/y", count()))
	require.NoError(t, mixed.Set("none", tdict.New()))
	require.NoError(t, mixed.Set("z", count()))
	text = mixed.String()
	require.Equal(t, 102, leavesIn(t, text))
	for _, want := range []string{"x25: Tensor(", "\n                        ... and 74 more leaves}", "\n                y: Tensor(", "\n        none: TensorDict(\n", "\n        z: Tensor("} {
		require.Contains(t, text, want)
	}
}

// TestPrintOfMany: one screen, whatever there is, with a count of the leaves that are left out.
func TestPrintOfMany(t *testing.T) {
	flat, nested, deep := tdict.New(), tdict.New(), tdict.New()
	for i := range 500 {
		require.NoError(t, flat.Set(key(fmt.Sprintf("k%03d", i)), count()))
		require.NoError(t, nested.Set(key(fmt.Sprintf("d%03d/x", i)), count()))
	}
	for i := range 100 {
		deep = dict(nil, entry{"d", deep}, entry{key(fmt.Sprint("x", i)), count()})
	}
	for name, td := range map[string]*tdict.TensorDict{"flat": flat, "nested": nested, "deep": deep} {
		text := td.String()
		require.LessOrEqual(t, strings.Count(text, "\n"), 60, name)
		all := strings.Count(fmt.Sprintf("%+v", td), "Tensor(")
		require.Equal(t, all, leavesIn(t, text), text)
		require.True(t, strings.HasSuffix(text, fmt.Sprintf(") (%%+v prints all %d leaves)", all)), text)
	}
	require.Contains(t, flat.String(), "        k039: Tensor(shape=[], dtype=int64),\n        ... and 460 more leaves},\n    batch=[])")
	all := tdict.New()
	for i := range 40 {
		require.NoError(t, all.Set(key(fmt.Sprint("k", i)), count()))
	}
	require.NotContains(t, all.String(), "more")
	require.NoError(t, all.Set("last", count()))
	require.Contains(t, all.String(), "... and 1 more leaf}")
}

// TestPrintData shows the value of all rows, or the first ones.
func TestPrintData(t *testing.T) {
	td := dict([]int{4}, entry{"one", data("v", 4)}, entry{"each", tensor.Must(tdict.DataFrom([]any{"a", 1, 1.0, nil}, 4))})
	require.Contains(t, td.String(), `one: Data(shape=[4], value="v")`)
	require.Contains(t, td.String(), `each: Data(shape=[4], values=["a" 1 1.0 ...])`)
	for _, none := range []*tdict.Data{nil, {}} {
		require.Equal(t, "data <nil>", none.String())
		require.Nil(t, none.Shape())
		_, uniform := none.Uniform()
		require.False(t, uniform)
	}
}

// TestPrintOfShared counts the leaves of a dictionary once, however often it is entered.
func TestPrintOfShared(t *testing.T) {
	td := dict(nil, entry{"x", count()})
	for range 70 {
		td = dict(nil, entry{"a", td}, entry{"b", td})
	}
	require.Contains(t, td.String(), fmt.Sprintf("all %d leaves)", math.MaxInt))
}

// everyKind returns a dictionary with a value of each kind, and what JSON has no number for.
func everyKind() *tdict.TensorDict {
	return dict([]int{2},
		entry{"reward", tensor.Vector(0.5, math.NaN())},
		entry{"next/done", tensor.Vector(true, false)},
		entry{"next/z", tensor.Vector(1+2i, complex(0, math.Inf(1)))},
		entry{"km~1h", tensor.Must(tensor.Zeros[uint8](2, 501))},
		entry{"name", tensor.Must(tdict.NewData("<a>"))},
		entry{"none", tensor.Must(tdict.NewData(nil))},
		entry{"row", tensor.Must(tdict.DataFrom([]any{[]any{math.Inf(-1)}, map[string]any{"k": 1}}, 2))},
		entry{"codes", tensor.Must(tdict.NewUnbatched(tensor.Vector[int8](1, 2, 3)))},
	)
}

func TestMarshalJSON(t *testing.T) {
	got, err := json.Marshal(everyKind())
	require.NoError(t, err)
	require.True(t, json.Valid(got))
	zeros := "[0" + strings.Repeat(",0", 500) + "]"
	require.JSONEq(t, `{"batch":[2],"entries":{
		"reward":{"dtype":"float64","shape":[2],"values":[0.5,"NaN"]},
		"next":{"batch":[2],"entries":{
			"done":{"dtype":"bool","shape":[2],"values":[true,false]},
			"z":{"dtype":"complex128","shape":[2],"values":["(1+2i)","(0+Infi)"]}}},
		"km/h":{"dtype":"uint8","shape":[2,501],"values":[`+zeros+`,`+zeros+`]},
		"name":{"shape":[2],"value":"<a>"},
		"none":{"shape":[2],"value":null},
		"row":{"shape":[2],"values":[["-Infinity"],{"k":1}]},
		"codes":{"batch":[2],"unbatched":{"dtype":"int8","shape":[3],"values":[1,2,3]}}}}`, string(got))
}

func TestLogValue(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(slog.NewTextHandler(&b, nil))
	log.Info("m", "td", everyKind())
	for _, want := range []string{
		`td.batch=[2]`, `td.reward="float64 [2] [0.5,\"NaN\"]"`, `td.next/done="bool [2] [true,false]"`,
		`td.km~1h="uint8 [2 501]"`, `td.name="data [2] \"<a>\""`, "td.codes=",
	} {
		require.Contains(t, b.String(), want)
	}
	many := tdict.New()
	for i := range 70 {
		require.NoError(t, many.Set(key(fmt.Sprint("k", i)), tensor.Scalar(1.0)))
	}
	b.Reset()
	log.Info("m", "td", many, "none", (*tdict.TensorDict)(nil))
	require.Contains(t, b.String(), "td.k63=")
	require.NotContains(t, b.String(), "td.k64=")
	require.Contains(t, b.String(), "td.more=6 none=<nil>")
}

func TestDiff(t *testing.T) {
	codes := func(v ...int8) *tdict.Unbatched { return tensor.Must(tdict.NewUnbatched(tensor.Vector(v...))) }
	base := func(change ...func(td *tdict.TensorDict)) *tdict.TensorDict {
		td := dict([]int{2},
			entry{"a", count(2)},
			entry{"d/x", count(2, 2)},
			entry{"d/name", tensor.Must(tdict.NewData("n"))},
			entry{"u", codes(1, 2)},
		)
		for _, fn := range change {
			fn(td)
		}
		return td
	}
	set := func(key nestedkey.Key, v tdict.Value) func(td *tdict.TensorDict) {
		return func(td *tdict.TensorDict) { _ = tensor.Must(0, td.Set(key, v)) }
	}
	drop := func(key nestedkey.Key) func(td *tdict.TensorDict) {
		return func(td *tdict.TensorDict) { _ = tensor.Must(0, td.Delete(key)) }
	}
	tests := []struct {
		name  string
		other *tdict.TensorDict
		want  string
	}{
		{"none", base(), ""},
		{"the order of keys is none", base(drop("a"), set("a", count(2))), ""},
		{"a batch shape", dict([]int{1}), "batch [2], other [1]"},
		{"a batch shape within", base(drop("d"), set("d", tdict.New(2, 2))), `"d": batch [2], other [2 2]`},
		{"an element", base(set("d/x", tensor.Must(tensor.From([]int64{1, 1, 2, 3}, 2, 2)))), `"d/x": element [0 0] is 0, other 1`},
		{"a key that other lacks", base(drop("d/x")), `"d/x" is missing in other`},
		{"a key of other", base(set("d/y", count(2))), `"d/y" is only in other`},
		{"a kind", base(set("a", tdict.New(2))), `"a": int64 [2], other dictionary [2]`},
		{"a value of data", base(set("d/name", tensor.Must(tdict.NewData("m")))), `"d/name": row 0 is "n", other "m"`},
		{"an unbatched tensor", base(set("u", codes(1, 3))), `"u": element [1] is 2, other 3`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := base().Diff(tt.other)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.want == "", base().Equal(tt.other))
		})
	}
	gone := tensor.Must(tensor.FromLender(tensor.Int64, &testkit.Lender{Fail: errors.New("closed")}, 0, 2, 2))
	require.EqualError(t, testkit.Err(base().Diff(base(set("d/x", gone)))), `diff "d/x": closed`)
}

func TestWithBatch(t *testing.T) {
	td := dict([]int{2}, entry{"a", count(2, 3)}, entry{"d/x", count(2, 3)}, entry{"n", tensor.Must(tdict.NewData("n"))})
	longer := tensor.Must(td.WithBatch(2, 3))
	consistent(t, longer)
	require.Equal(t, shapeops.Shape{2, 3}, tensor.Must(longer.Dict("d")).Shape(), "dictionaries follow")
	shorter := tensor.Must(longer.WithBatch())
	require.Equal(t, shapeops.Shape{2, 3}, tensor.Must(shorter.Dict("d")).Shape(), "what fits stays")
	require.Equal(t, shapeops.Shape{2}, tensor.Must(td.Dict("d")).Shape(), "td has not changed")
	for _, bad := range [][]int{{3}, {2, 3, 1}, {-1}} {
		require.ErrorIs(t, testkit.Err(td.WithBatch(bad...)), shapeops.ErrShape)
	}
}
