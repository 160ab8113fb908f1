package safetensors_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestRoundTrip saves dictionaries and opens them: keys, shapes, names of dims, dtypes and elements
// are the same.
func TestRoundTrip(t *testing.T) {
	set := func(td *tdict.TensorDict, key nestedkey.Key, v tdict.Value) *tdict.TensorDict {
		require.NoError(t, td.Set(key, v))
		return td
	}
	named := func(td *tdict.TensorDict, names ...string) *tdict.TensorDict {
		require.NoError(t, td.SetNames(names...))
		return td
	}
	all := tdict.New(2)
	for _, d := range tensor.DTypes() {
		if d != tensor.Complex128 {
			set(all, nestedkey.Of(d.String()), counted(t, d, 2, 3))
		}
	}
	inner := named(set(tdict.New(4, 3), "x", counted(t, tensor.Int8, 4, 3, 2)), "time", "agent")
	tests := []struct {
		name string
		td   *tdict.TensorDict
		own  bool // whether something of ours is in the metadata
	}{
		{"two levels", batch(t), false},
		{"every dtype", all, true},
		{"nothing", tdict.New(), false},
		{"no tensors, and a batch shape", tdict.New(3), true},
		{"a scalar", set(tdict.New(), "x", tensor.Scalar(1.5)), false},
		{"shorter than what tensors begin with", set(tdict.New(), "x", counted(t, tensor.Int16, 4)), true},
		{"the same shape as all", set(tdict.New(4, 2), "x", counted(t, tensor.Int16, 4, 2)), false},
		{"no rows", set(set(tdict.New(0), "x", counted(t, tensor.Int16, 0, 3)), "y", counted(t, tensor.Int8, 0)), false},
		{"named", named(batch(t), "time"), true},
		{"a dictionary with a longer batch shape", set(batch(t), "inner", inner), true},
		{"the same in a named one", set(named(batch(t), "time"), "inner", inner), true},
		{"an empty dictionary, and one in it", set(set(batch(t), "empty", tdict.New(4)), "a/b", tdict.New(4)), true},
		{"odd names", set(set(set(tdict.New(), nestedkey.Of(""), tensor.Scalar(1.0)), nestedkey.Of("a/b", "~é\"\n"), tensor.Scalar(2.0)), nestedkey.Of(" "), tensor.Scalar(3.0)), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := saved(t, tt.td)
			f := open(t, path)
			require.Equal(t, "", tensor.Must(tt.td.Diff(f.TensorDict)))
			require.Equal(t, layouts(tt.td), layouts(f.TensorDict))
			require.Equal(t, tt.own, strings.Contains(string(tensor.Must(os.ReadFile(path))), "tensordict"))
			require.Equal(t, tensor.Must(os.ReadFile(path)), written(t, f.TensorDict))
			require.ErrorIs(t, f.Set("more", tensor.Scalar(1.0)), tdict.ErrLocked)
			require.Equal(t, fmt.Sprintf("%v", f), f.String())
		})
	}
}

// layouts returns the batch shapes and names of dims of td and of the dictionaries in it, by key.
func layouts(td *tdict.TensorDict) map[string]string {
	all := map[string]string{"the whole": fmt.Sprintf("%v %q", td.Shape(), td.Names())}
	for key := range td.NestedKeys() {
		if d, err := td.Dict(key); err == nil {
			all[string(key)] = fmt.Sprintf("%v %q", d.Shape(), d.Names())
		}
	}
	return all
}

// TestOptions opens a file with tensors of several shapes, which says nothing of a batch shape.
func TestOptions(t *testing.T) {
	td := tdict.New()
	for key, shape := range map[nestedkey.Key][]int{"a/x": {4, 3, 2}, "a/y": {4, 3}, "b": {4}, nestedkey.Of("c.d"): {}} {
		require.NoError(t, td.Set(key, counted(t, tensor.Int32, shape...)))
	}
	path := saved(t, td)
	batchless, dot := []int{}, nestedkey.Of("c.d")
	tests := []struct {
		name  string
		opt   safetensors.Options
		keys  []nestedkey.Key
		shape shapeops.Shape
		err   error
	}{
		{"all", safetensors.Options{}, []nestedkey.Key{"a/x", "a/y", "b", "c/d"}, shapeops.Shape{}, nil},
		{"some", safetensors.Options{Keys: []nestedkey.Key{"b", "a"}}, []nestedkey.Key{"b", "a/x", "a/y"}, shapeops.Shape{4}, nil},
		{"bounded", safetensors.Options{Keys: []nestedkey.Key{"a"}, BatchDims: 1}, []nestedkey.Key{"a/x", "a/y"}, shapeops.Shape{4}, nil},
		{"not bounded", safetensors.Options{Keys: []nestedkey.Key{"a"}}, []nestedkey.Key{"a/x", "a/y"}, shapeops.Shape{4, 3}, nil},
		{"no batch dims", safetensors.Options{Keys: []nestedkey.Key{"a"}, BatchDims: -1}, []nestedkey.Key{"a/x", "a/y"}, shapeops.Shape{}, nil},
		{"given", safetensors.Options{Keys: []nestedkey.Key{"a"}, Batch: batchless}, []nestedkey.Key{"a/x", "a/y"}, shapeops.Shape{}, nil},
		{"none", safetensors.Options{Keys: []nestedkey.Key{}}, []nestedkey.Key{}, shapeops.Shape{}, nil},
		{"flat", safetensors.Options{Flat: true, Separator: "."}, []nestedkey.Key{"a.x", "a.y", "b", dot}, shapeops.Shape{}, nil},
		{"another separator", safetensors.Options{Separator: "/"}, []nestedkey.Key{"a.x", "a.y", "b", dot}, shapeops.Shape{}, nil},
		{"given, and wrong", safetensors.Options{Batch: []int{4}}, nil, nil, shapeops.ErrShape},
		{"given, and no shape", safetensors.Options{Batch: []int{-4}}, nil, nil, shapeops.ErrShape},
		{"a key that is not there", safetensors.Options{Keys: []nestedkey.Key{"b", "z"}}, nil, nil, tdict.ErrMissing},
		{"a key twice", safetensors.Options{Keys: []nestedkey.Key{"b", "b"}}, nil, nil, tdict.ErrExists},
		{"metadata where a tensor is", safetensors.Options{Metadata: "b"}, nil, nil, tdict.ErrExists},
		{"metadata in a tensor", safetensors.Options{Metadata: "b/c"}, nil, nil, tdict.ErrExists},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := safetensors.OpenWith(path, tt.opt)
			if tt.err != nil {
				testkit.Fails(t, tt.err, texted(err, path))
				return
			}
			require.NoError(t, err)
			defer f.Close()
			require.Equal(t, tt.keys, testkit.Keys(f.Leaves()))
			require.Equal(t, []int(tt.shape), append([]int{}, f.Shape()...))
		})
	}
}

// Of a file with layouts, Keys pick the dictionaries around their tensors too.
func TestKeysWithLayouts(t *testing.T) {
	td := batch(t)
	require.NoError(t, td.Set("a", tdict.New(4, 3)))
	require.NoError(t, td.Set("a/x", counted(t, tensor.Int8, 4, 3)))
	require.NoError(t, td.Set("a/y", counted(t, tensor.Int8, 4, 3)))
	require.NoError(t, td.Set("b", tdict.New(4, 1)))
	path := saved(t, td)
	f := tensor.Must(safetensors.OpenWith(path, safetensors.Options{Keys: []nestedkey.Key{"a/y", "reward"}}))
	defer f.Close()
	require.Equal(t, map[string]string{"the whole": `[4] [""]`, "a": `[4 3] ["" ""]`}, layouts(f.TensorDict))
	require.Equal(t, []nestedkey.Key{"a/y", "reward"}, testkit.Keys(f.Leaves()))
	g := tensor.Must(safetensors.OpenWith(path, safetensors.Options{Batch: []int{}}))
	defer g.Close()
	require.Equal(t, map[string]string{"the whole": `[] []`, "a": `[] []`, "obs": `[] []`}, layouts(g.TensorDict))
	h := tensor.Must(safetensors.OpenWith(path, safetensors.Options{Flat: true}))
	defer h.Close()
	require.Equal(t, map[string]string{"the whole": `[4] [""]`}, layouts(h.TensorDict))
}

// TestOrderOfKeysWithLayouts: a dictionary with a layout is where the first of its keys is.
func TestOrderOfKeysWithLayouts(t *testing.T) {
	td := batch(t)
	for _, key := range []nestedkey.Key{"b", "b/c"} {
		require.NoError(t, td.Set(key, tdict.New(4, 3)))
	}
	for _, key := range []nestedkey.Key{"a", "b/x", "b/c/y"} {
		require.NoError(t, td.Set(key, counted(t, tensor.Int8, 4, 3)))
	}
	f := tensor.Must(safetensors.OpenWith(saved(t, td), safetensors.Options{Keys: []nestedkey.Key{"reward", "b/c/y", "a", "b/x"}}))
	defer f.Close()
	require.Equal(t, []nestedkey.Key{"reward", "b", "b/c", "b/c/y", "b/x", "a"}, slices.Collect(f.NestedKeys()))
}

func TestMetadata(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	metadata := map[string]string{"format": "pt", "é": "\n"}
	td := batch(t)
	require.NoError(t, td.SetNames("time"))
	require.NoError(t, safetensors.SaveWith(t.Context(), path, td, safetensors.SaveOptions{Metadata: metadata, NoSync: true}))
	f := tensor.Must(safetensors.OpenWith(path, safetensors.Options{Metadata: "about/file"}))
	defer f.Close()
	require.Equal(t, metadata, stringsOf(t, f.TensorDict, "about/file"))
	require.Equal(t, metadata, f.Metadata())
	delete(f.Metadata(), "format")
	require.Equal(t, metadata, f.Metadata())
	require.Equal(t, []string{"time"}, f.Names())
	about := tensor.Must(f.Dict("about"))
	require.Equal(t, shapeops.Shape{4}, about.Shape())
	changed := tdict.New()
	require.NoError(t, changed.Set("file", tensor.Must(tdict.NewData("x"))))
	require.ErrorIs(t, about.SetIndex(changed, ix.At(0)), tensor.ErrReadOnly)
	require.Equal(t, map[string]string{"format": "pt", "é": "\n"}, metadata, "it is not changed")
}

// TestMisaligned reads a file whose tensors begin anywhere.
func TestMisaligned(t *testing.T) {
	text := `{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F64","shape":[1],"data_offsets":[1,9]}}`
	path := put(t, t.TempDir(), "x", fileOf(text, 7, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f))
	b := tensor.Must(open(t, path).Tensor("b"))
	require.ErrorIs(t, testkit.Err(tensor.Of[float64](b)), tensor.ErrLayout)
	require.Equal(t, []float64{1.5}, testkit.Elements[float64](t, b))
	require.Equal(t, []float64{1.5}, tensor.Must(tensor.Of[float64](tensor.Must(b.Clone()))))
}

// Opening takes memory in proportion to the number of tensors, and one mapping.
func TestManyTensors(t *testing.T) {
	path := func(n int) string {
		td := tdict.New(2)
		for i := range n {
			require.NoError(t, td.Set(nestedkey.Of(fmt.Sprint("layer", i%100), fmt.Sprint("x", i)), tensor.Vector[uint8](1, 2)))
		}
		return saved(t, td)
	}
	n := longtests.Times(30_000, 100_000)
	paths := []string{path(n / 100), path(n / 10), path(n)}
	live := mapping.Live()
	files := make([]*safetensors.File, len(paths))
	for i, path := range paths {
		files[i] = open(t, path)
	}
	require.Equal(t, live+len(paths), mapping.Live())
	require.Equal(t, n, len(testkit.Keys(files[2].Tensors())))
	require.Equal(t, []uint8{1, 2}, testkit.Elements[uint8](t, tensor.Must(files[2].Tensor(nestedkey.Of("layer99", fmt.Sprint("x", n-1))))))
	for _, pair := range [][]string{paths[:2], paths[1:]} {
		testkit.Near(t, 12, func() { _ = open(t, pair[0]) }, func() { _ = open(t, pair[1]) })
	}
}

// Keys are in their order, not in the order of the bytes.
func TestOrderOfKeys(t *testing.T) {
	td := tdict.New()
	for i, name := range []string{"z", "a-b", "a.b", "a.a", "A", "é"} {
		require.NoError(t, td.Set(nestedkey.Of(name), counted(t, tensor.DTypes()[i], 1)))
	}
	keys := testkit.Keys(open(t, saved(t, td)).Leaves())
	require.Equal(t, []nestedkey.Key{"A", "a/a", "a/b", "a-b", "z", "é"}, keys)
	require.True(t, slices.IsSortedFunc(keys, nestedkey.Compare))
}
