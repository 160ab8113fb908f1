package tdictcmp_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tdict/tdictcmp"
	"github.com/go-tensordict/tensordict/tensor"
)

// dict returns a dictionary of every kind of value, changed.
func dict(change ...func(td *tdict.TensorDict)) *tdict.TensorDict {
	td := tdict.New(2)
	must := func(err error) { _ = tensor.Must(0, err) }
	must(td.Set("obs/x", tensor.Must(tensor.From([]float32{0, 1, 2, 3}, 2, 2))))
	must(td.Set("obs/days", tensor.Must(ragged.From[int64]([][]int64{{1, 2}, {}}))))
	must(td.Set("name", tensor.Must(tdict.DataFrom([]string{"a", "b"}, 2))))
	must(td.Set("codes", tensor.Must(tdict.NewUnbatched(tensor.Vector[int8](1, 2, 3)))))
	must(td.Set("empty", tdict.New(2, 1)))
	for _, fn := range change {
		fn(td)
	}
	return td
}

func set(key nestedkey.Key, v tdict.Value) func(td *tdict.TensorDict) {
	return func(td *tdict.TensorDict) { _ = tensor.Must(0, td.Set(key, v)) }
}

func drop(key nestedkey.Key) func(td *tdict.TensorDict) {
	return func(td *tdict.TensorDict) { _ = tensor.Must(0, td.Delete(key)) }
}

// TestDiff: the text has the key and both sides of what differs, and an equal pair has none.
func TestDiff(t *testing.T) {
	other := tensor.Must(tensor.From([]float32{0, 1.5, 2, 4}, 2, 2))
	tests := []struct {
		name string
		b    *tdict.TensorDict
		want []string
	}{
		{"nothing", dict(), nil},
		{"the order of keys", dict(drop("name"), set("name", tensor.Must(tdict.DataFrom([]string{"a", "b"}, 2)))), nil},
		{"elements", dict(set("obs/x", other)), []string{`"obs/x"`, "float32 [2 2], 2 differ: [0 1]=1 [1 1]=3", "float32 [2 2], 2 differ: [0 1]=1.5 [1 1]=4"}},
		{"a dtype", dict(set("obs/x", tensor.Must(tensor.Zeros[int8](2, 2)))), []string{`"obs/x"`, "float32 [2 2]", "int8 [2 2]"}},
		{"a shape", dict(set("obs/x", tensor.Must(tensor.Zeros[float32](2, 3)))), []string{`"obs/x"`, "float32 [2 2]", "float32 [2 3]"}},
		{"a kind", dict(set("obs/x", tensor.Must(tdict.NewData(1)))), []string{`"obs/x"`, "float32 [2 2]", "data [2]"}},
		{"a key that is missing", dict(drop("codes")), []string{`"codes"`, "unbatched int8 [3]"}},
		{"a key that is new", dict(set("new", tensor.Vector(1.0, 2))), []string{`"new"`, "float64 [2]"}},
		{"an empty dictionary", dict(drop("empty")), []string{`"empty"`, "[2 1]"}},
		{"a batch shape within", dict(set("empty", tdict.New(2, 2))), []string{`"empty"`, "[2 1]", "[2 2]"}},
		{"ragged values", dict(set("obs/days", tensor.Must(ragged.From[int64]([][]int64{{1, 3}, {}})))), []string{`"obs/days"`, "1 differ: [0 1]=2", "1 differ: [0 1]=3"}},
		{"ragged lengths", dict(set("obs/days", tensor.Must(ragged.From[int64]([][]int64{{1}, {2}})))), []string{`"obs/days"`, "ragged int64 [2 *]: level 1, row 0 has length 2, other 1", "has length 1, other 2"}},
		{"data", dict(set("name", tensor.Must(tdict.DataFrom([]string{"a", "c"}, 2)))), []string{`"name"`, `data [2], 1 differ: [1]=\"b\"`}},
		{"none", nil, []string{"nil"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			diff := strings.ReplaceAll(cmp.Diff(dict(), tt.b, tdictcmp.Options...), "\u00a0", " ")
			require.Equal(t, tt.want == nil, diff == "", diff)
			for _, want := range tt.want {
				if !strings.Contains(diff, want) && !strings.Contains(diff, strings.ReplaceAll(want, `\"`, `"`)) {
					t.Errorf("got\n%s\nwant it to have %s", diff, want)
				}
			}
			require.Equal(t, tt.want == nil, cmp.Equal(tt.b, dict(), tdictcmp.Options...), "the other way")
		})
	}
}

// TestManyElements: large leaves show the first elements, and dictionaries the keys that differ.
func TestManyElements(t *testing.T) {
	a, b := tdict.New(), tdict.New()
	for i := range 200 {
		key := nestedkey.Key(fmt.Sprintf("k%03d", i))
		set(key, tensor.Must(tensor.Zeros[float32](1000, 10)))(a)
		set(key, tensor.Must(tensor.Full(float32(i/100), 1000, 10)))(b)
	}
	diff := strings.ReplaceAll(cmp.Diff(a, b, tdictcmp.Options...), "\u00a0", " ")
	require.Contains(t, diff, "float32 [1000 10], 10000 differ: [0 0]=1 [0 1]=1 [0 2]=1 [0 3]=1 ...")
	require.NotContains(t, diff, "k000")
	require.Less(t, strings.Count(diff, "\n"), 2*100+20, "two lines for each key that differs")
}

// TestWithin: a tolerance holds for elements, in either order.
func TestWithin(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		name string
		a, b tdict.Leaf
		tol  tensor.Tolerance
		want bool
	}{
		{"an absolute one", tensor.Vector(1.0, 2), tensor.Vector(1.1, 2), tensor.Tolerance{Absolute: 0.2}, true},
		{"one that is too small", tensor.Vector(1.0, 2), tensor.Vector(1.1, 2), tensor.Tolerance{Absolute: 0.05}, false},
		{"a relative one", tensor.Vector(100.0), tensor.Vector(101.0), tensor.Tolerance{Relative: 0.01}, true},
		{"a relative one, of the smaller", tensor.Vector(100.0), tensor.Vector(101.0), tensor.Tolerance{Relative: 0.00995}, false},
		{"of integers", tensor.Vector[uint8](100), tensor.Vector[uint8](101), tensor.Tolerance{Absolute: 1}, true},
		{"integers that are one float64", tensor.Vector[int64](1 << 60), tensor.Vector[int64](1<<60 + 1), tensor.Tolerance{EqualNaN: true}, false},
		{"of halves", tensor.Vector(tensor.F16Of(1)), tensor.Vector(tensor.F16Of(1.001)), tensor.Tolerance{Relative: 0.01}, true},
		{"of complex numbers", tensor.Vector(1i), tensor.Vector(1.1i), tensor.Tolerance{Absolute: 0.2}, true},
		{"an infinity is close to itself only", tensor.Vector(math.Inf(1)), tensor.Vector(1e300), tensor.Tolerance{Relative: 10}, false},
		{"NaN", tensor.Vector(nan), tensor.Vector(nan), tensor.Tolerance{Absolute: 1}, false},
		{"NaN that equals itself", tensor.Vector(nan), tensor.Vector(nan), tensor.Tolerance{EqualNaN: true}, true},
		{"a dtype has none", tensor.Vector(1.0), tensor.Vector[float32](1), tensor.Tolerance{Absolute: 1}, false},
		{"ragged values", tensor.Must(ragged.From[float64]([]float64{1})), tensor.Must(ragged.From[float64]([]float64{1.1})), tensor.Tolerance{Absolute: 0.2}, true},
		{"data has none", tensor.Must(tdict.NewData(1.0)), tensor.Must(tdict.NewData(1.1)), tensor.Tolerance{Absolute: 1}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opts := tdictcmp.Within(tt.tol)
			require.Equal(t, tt.want, cmp.Equal(tt.a, tt.b, opts...))
			require.Equal(t, tt.want, cmp.Equal(tt.b, tt.a, opts...))
			a, b := tdict.New(), tdict.New()
			set("x", tt.a)(a)
			set("x", tt.b)(b)
			require.Equal(t, tt.want, cmp.Equal(a, b, opts...))
			require.Equal(t, tt.want, cmp.Diff(map[string]any{"td": a}, map[string]any{"td": b}, opts...) == "", "within others")
		})
	}
}

// TestTextsThatAreAlike: cmp.Diff prints neither fields nor addresses, whatever differs.
func TestTextsThatAreAlike(t *testing.T) {
	nan := math.NaN()
	vector := func(v ...float32) tdict.Leaf { return tensor.Vector(v...) }
	row := func(lists ...[]float64) tdict.Leaf { return tensor.Must(ragged.From[float64](lists)) }
	values := func(v any) tdict.Leaf { return tensor.Must(tdict.NewData(v)) }
	unreadable := func() tdict.Leaf {
		return tensor.Must(tensor.FromLender(tensor.Int64, &testkit.Lender{Fail: errors.New("closed")}, 0, 3))
	}
	deep := func(last int) tdict.Leaf {
		return tensor.Must(tensor.Zeros[int8](append(slices.Repeat([]int{1}, 200), last)...))
	}
	long := strings.Repeat("\U0001f600", 60)
	const hint = "(NaN differs from itself: see Tolerance.EqualNaN)"
	tests := []struct {
		name string
		a, b tdict.Leaf
		want string
	}{
		{"a tensor", vector(0, float32(nan), 2), vector(0, float32(nan), 2), "float32 [3], 1 differ: [1]=NaN " + hint},
		{"complex numbers", tensor.Vector(complex(nan, 1)), tensor.Vector(complex(nan, 1)), "[0]=(NaN+1i) " + hint},
		{"halves", tensor.Vector(tensor.F16Of(nan)), tensor.Vector(tensor.F16Of(nan)), "[0]=NaN " + hint},
		{"ragged rows", row([]float64{1, nan}, nil), row([]float64{1, nan}, nil), "[0 1]=NaN " + hint},
		{"unbatched", tensor.Must(tdict.NewUnbatched(tensor.Vector(nan))), tensor.Must(tdict.NewUnbatched(tensor.Vector(nan))), "[0]=NaN " + hint},
		{"data", values(nan), values(nan), "(NaN differs from itself)"},
		{"data, in a list", values([]any{1, nan}), values([]any{1, nan}), "(NaN differs from itself)"},
		{"data with long texts", values(long + "a"), values(long + "b"), "(they differ after this text)"},
		{"after the first elements", vector(float32(nan), float32(nan), float32(nan), float32(nan), 1), vector(float32(nan), float32(nan), float32(nan), float32(nan), 2), hint},
		{"unreadable", unreadable(), unreadable(), "(it cannot be compared)"},
		{"a shape of many dims", deep(2), deep(3), "(they differ after this text)"},
	}
	for _, tt := range tests {
		a, b := tdict.New(), tdict.New()
		set("d/x", tt.a)(a)
		set("d/x", tt.b)(b)
		forms := map[string][2]any{
			"alone": {tt.a, tt.b}, "in a dictionary": {a, b}, "in a struct": {struct{ X tdict.Leaf }{tt.a}, struct{ X tdict.Leaf }{tt.b}},
			"in a map": {map[string]tdict.Leaf{"k": tt.a}, map[string]tdict.Leaf{"k": tt.b}},
			"in lists": {[]tdict.Leaf{tt.a, tt.a}, []tdict.Leaf{tt.b}}, "in a list": {[]tdict.Leaf{tt.a}, []tdict.Leaf{tt.b}},
			"in lists of dictionaries": {[]*tdict.TensorDict{a, tdict.New()}, []*tdict.TensorDict{tdict.New(1), b}},
		}
		for form, pair := range forms {
			t.Run(tt.name+" "+form, func(t *testing.T) {
				diff := strings.ReplaceAll(cmp.Diff(pair[0], pair[1], tdictcmp.Options...), "\u00a0", " ")
				require.NotEmpty(t, diff)
				require.NotRegexp(t, `0x[0-9a-f]{4}|⟪|value:|dtype:|\bmem\b|rows:`, diff)
				if !strings.HasPrefix(form, "in lists") {
					require.Equal(t, 1, strings.Count(diff, tt.want), diff)
				}
			})
		}
	}
}
