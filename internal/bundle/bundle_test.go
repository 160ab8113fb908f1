package bundle_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/bundle"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func zeros(shape ...int) *tensor.Tensor { return tensor.Must(tensor.Zeros[uint8](shape...)) }

func entry(key nestedkey.Key, shape ...int) bundle.Entry {
	return bundle.Entry{Key: key, Value: zeros(shape...)}
}

func TestKey(t *testing.T) {
	tests := []struct {
		name, separator string
		want            nestedkey.Key
		err             error
	}{
		{"obs.pos", ".", "obs/pos", nil},
		{"obs.pos", "", "obs.pos", nil},
		{"obs/pos", "", "obs~1pos", nil},
		{"obs/pos", ".", "obs~1pos", nil},
		{"obs/~", "/", "obs/~0", nil},
		{"a::b:c", "::", "a/b:c", nil},
		{"", ".", "", nil},
		{".", ".", "/", nil},
		{"\xff", ".", "", nestedkey.ErrKey},
		{strings.Repeat(".", tdict.MaxDepth), ".", nestedkey.Key(strings.Repeat("/", tdict.MaxDepth)), nil},
		{strings.Repeat(".", tdict.MaxDepth+1), ".", "", tdict.ErrDepth},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := bundle.Key(tt.name, tt.separator)
			require.ErrorIs(t, err, tt.err)
			if tt.err == nil {
				require.Equal(t, tt.want, got)
			}
		})
	}
}

func TestSelect(t *testing.T) {
	keys := []nestedkey.Key{"a", "b/x", "c", "b/y/z", "bb"}
	tests := []struct {
		name   string
		wanted []nestedkey.Key
		want   []int
		err    error
	}{
		{"all", nil, []int{0, 1, 2, 3, 4}, nil},
		{"none", []nestedkey.Key{}, []int{}, nil},
		{"in the order wanted", []nestedkey.Key{"c", "a"}, []int{2, 0}, nil},
		{"a dictionary", []nestedkey.Key{"b", "a"}, []int{1, 3, 0}, nil},
		{"one in another", []nestedkey.Key{"b/y", "bb"}, []int{3, 4}, nil},
		{"missing", []nestedkey.Key{"a", "nope"}, nil, tdict.ErrMissing},
		{"below a tensor", []nestedkey.Key{"a/x"}, nil, tdict.ErrMissing},
		{"twice", []nestedkey.Key{"a", "a"}, nil, tdict.ErrExists},
		{"below another", []nestedkey.Key{"b/y", "b"}, nil, tdict.ErrExists},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := bundle.Select(keys, tt.wanted)
			require.Equal(t, tt.want, got)
			if tt.err != nil {
				testkit.Fails(t, tt.err, err)
			}
		})
	}
}

func TestDictHasTheBatchShape(t *testing.T) {
	two := []bundle.Entry{entry("b/x", 4, 3, 2), entry("a", 4, 3, 5)}
	tests := []struct {
		name    string
		entries []bundle.Entry
		batch   shapeops.Shape
		dims    int
		want    shapeops.Shape
	}{
		{"common", two, nil, 0, shapeops.Shape{4, 3}},
		{"bounded", two, nil, 1, shapeops.Shape{4}},
		{"bounded by more than there are", two, nil, 5, shapeops.Shape{4, 3}},
		{"bounded by none", two, nil, -1, shapeops.Shape{}},
		{"given", two, shapeops.Shape{4}, 0, shapeops.Shape{4}},
		{"given without dims", two, shapeops.Shape{}, 0, shapeops.Shape{}},
		{"one", two[:1], nil, 0, shapeops.Shape{4, 3, 2}},
		{"a scalar", append(two[:2:2], entry("s")), nil, 0, shapeops.Shape{}},
		{"nothing in common", append(two[:2:2], entry("s", 3)), nil, 0, shapeops.Shape{}},
		{"none", nil, nil, 2, nil},
		{"none, given", nil, shapeops.Shape{7}, 0, shapeops.Shape{7}},
		{"data is for all rows", append(two[:2:2], bundle.Entry{Key: "m", Value: tensor.Must(tdict.NewData("x"))}), nil, 0, shapeops.Shape{4, 3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td, err := bundle.Dict(tt.entries, tt.batch, tt.dims)
			require.NoError(t, err)
			require.True(t, td.Shape().Equal(tt.want), "got %v", td.Shape())
			require.True(t, td.Locked())
			require.ErrorContains(t, td.Set("new", zeros(td.Shape()...)), bundle.WhyLocked)
			for _, e := range tt.entries {
				require.True(t, td.Has(e.Key))
			}
			if len(tt.entries) >= 2 {
				require.Equal(t, td.Shape(), tensor.Must(td.Dict("b")).Shape())
				x := tensor.Must(td.Tensor("b/x"))
				require.Same(t, tt.entries[0].Value, x, "values are shared")
			}
		})
	}
}

func TestDictRefuses(t *testing.T) {
	tests := []struct {
		name    string
		entries []bundle.Entry
		batch   shapeops.Shape
		err     error
	}{
		{"two of one key", []bundle.Entry{entry("a/x", 2), entry("a/x", 2)}, nil, tdict.ErrExists},
		{"one above another", []bundle.Entry{entry("a/x", 2), entry("a", 2)}, nil, tdict.ErrExists},
		{"one below another", []bundle.Entry{entry("a", 2), entry("a/x", 2)}, nil, tdict.ErrExists},
		{"another batch shape", []bundle.Entry{entry("a/x", 2, 3)}, shapeops.Shape{3}, shapeops.ErrShape},
		{"a batch shape that is none", nil, shapeops.Shape{-1}, shapeops.ErrShape},
		{"no value", []bundle.Entry{{Key: "a"}}, nil, tdict.ErrKind},
		{"a nil tensor", []bundle.Entry{{Key: "a", Value: (*tensor.Tensor)(nil)}}, nil, tdict.ErrKind},
		{"an ill-formed key", []bundle.Entry{entry("~", 2)}, nil, nestedkey.ErrKey},
		{"too deep", []bundle.Entry{entry(nestedkey.Key(strings.Repeat("/", tdict.MaxDepth+1)), 2)}, nil, tdict.ErrDepth},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := bundle.Dict(tt.entries, tt.batch, 0)
			testkit.Fails(t, tt.err, err)
		})
	}
}

// Many entries take memory in proportion to their number.
func TestDictOfMany(t *testing.T) {
	x := zeros(2)
	dict := func(n int) func() {
		entries := make([]bundle.Entry, n)
		for i := range entries {
			entries[i] = bundle.Entry{Key: nestedkey.Of(fmt.Sprint("d", i%97), fmt.Sprint("x", i)), Value: x}
		}
		return func() { _, _ = bundle.Dict(entries, nil, 0) }
	}
	testkit.Near(t, 4.6, dict(10_000), dict(40_000))
}

func BenchmarkDict(b *testing.B) {
	x := zeros(2)
	for _, n := range []int{1000, 100_000} {
		entries := make([]bundle.Entry, n)
		for i := range entries {
			entries[i] = bundle.Entry{Key: nestedkey.Of(fmt.Sprint("d", i%97), fmt.Sprint("x", i)), Value: x}
		}
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := bundle.Dict(entries, nil, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func ExampleDict() {
	pos := bundle.Entry{Key: tensor.Must(bundle.Key("obs.pos", ".")), Value: zeros(5, 2)}
	vel := bundle.Entry{Key: tensor.Must(bundle.Key("obs.vel", ".")), Value: zeros(5, 3)}
	td, err := bundle.Dict([]bundle.Entry{pos, vel}, nil, 0)
	fmt.Println(td.Shape(), td.Has("obs/pos"), err)
	// Output: [5] true <nil>
}
