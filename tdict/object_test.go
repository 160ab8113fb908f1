package tdict_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

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
