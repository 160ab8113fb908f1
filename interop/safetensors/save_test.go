package safetensors_test

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// dict returns a dictionary of batch shape [2] with values under keys that alternate.
func dict(t testing.TB, entries ...any) *tdict.TensorDict {
	td := tdict.New(2)
	for i := 0; i < len(entries); i += 2 {
		require.NoError(t, td.Set(entries[i].(nestedkey.Key), entries[i+1].(tdict.Value)))
	}
	return td
}

// TestSaveRefusesTheNameOfAnIndex: Open would take the file for the index of a set.
func TestSaveRefusesTheNameOfAnIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.safetensors.index.json")
	require.ErrorIs(t, safetensors.Save(path, tdict.New()), fs.ErrInvalid)
	require.NoFileExists(t, path)
}

func TestSaveRefuses(t *testing.T) {
	x := tensor.Vector[int64](1, 2)
	rows := tensor.Must(ragged.New(x, tensor.Must(tensor.Must(ragged.NewLayout([]int{2})).Nest([]int64{0, 1, 2}))))
	data := tensor.Must(tdict.NewData("reach"))
	unbatched := tensor.Must(tdict.NewUnbatched(x))
	key := func(parts ...string) nestedkey.Key { return nestedkey.Of(parts[0], parts[1:]...) }
	tests := []struct {
		name string
		td   *tdict.TensorDict
		opt  safetensors.SaveOptions
		err  error
	}{
		{"no dictionary", nil, safetensors.SaveOptions{}, shapeops.ErrKind},
		{"data, ragged and unbatched tensors", dict(t, key("x"), x, key("info", "task"), data, key("rows"), rows, key("table"), unbatched), safetensors.SaveOptions{}, safetensors.ErrUnsupported},
		{"complex128", dict(t, key("a", "z"), tensor.Must(x.Cast(tensor.Complex128))), safetensors.SaveOptions{}, safetensors.ErrUnsupported},
		{"two keys of one name", dict(t, key("a.b"), x, key("a", "b"), x), safetensors.SaveOptions{}, tdict.ErrExists},
		{"two keys of one name, by another separator", dict(t, key("a__b"), x, key("a", "b"), x), safetensors.SaveOptions{Separator: "__"}, tdict.ErrExists},
		{"two dictionaries of one name", dict(t, key("a.b"), tdict.New(2), key("a", "b"), tdict.New(2, 3)), safetensors.SaveOptions{}, safetensors.ErrUnsupported},
		{"a dictionary with the name of a tensor", dict(t, key("a.b"), x, key("a", "b"), tdict.New(2)), safetensors.SaveOptions{}, safetensors.ErrUnsupported},
		{"a dictionary below the name of a tensor", dict(t, key("a__b"), x, key("a", "b", "c"), tdict.New(2)), safetensors.SaveOptions{Separator: "__"}, safetensors.ErrUnsupported},
		{"a tensor that comes to lie in a dictionary of another shape", dict(t, key("a.b"), tdict.New(2, 3), key("a", "b.z"), x), safetensors.SaveOptions{}, safetensors.ErrUnsupported},
		{"a name of a dictionary that is not UTF-8", dict(t, key("x", "y"), tdict.New(2)), safetensors.SaveOptions{Separator: "\xff"}, safetensors.ErrUnsupported},
		{"the name of the metadata", dict(t, key("__metadata__"), x), safetensors.SaveOptions{}, safetensors.ErrUnsupported},
		{"a string of ours", dict(t, key("x"), x), safetensors.SaveOptions{Metadata: map[string]string{"tensordict": "[]"}}, safetensors.ErrUnsupported},
		{"a string that is not UTF-8", dict(t, key("x"), x), safetensors.SaveOptions{Metadata: map[string]string{"format": "\xff"}}, safetensors.ErrUnsupported},
		{"a separator that is not UTF-8", dict(t, key("x", "y"), x), safetensors.SaveOptions{Separator: "\xff"}, safetensors.ErrUnsupported},
		{"more than 64 dims", dict(t, key("x"), tensor.Must(x.Reshape(append([]int{2}, bytesOf(64)...)...))), safetensors.SaveOptions{}, safetensors.ErrUnsupported},
		{"no elements", dict(t, key("x"), tensor.Must(tensor.NewMeta(tensor.Int64, 2))), safetensors.SaveOptions{}, tensor.ErrMeta},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "data.safetensors")
			err := safetensors.SaveWith(t.Context(), path, tt.td, tt.opt)
			require.ErrorContains(t, err, "save "+path+": ")
			testkit.Fails(t, tt.err, texted(err, path))
			require.Empty(t, tensor.Must(os.ReadDir(filepath.Dir(path))))
		})
	}
	err := safetensors.Write(io.Discard, dict(t, key("x"), data), safetensors.SaveOptions{})
	require.EqualError(t, err, `write: unsupported: got leaves that are not tensors: "x": set SkipOthers to leave them out`)
}

// bytesOf returns n ones.
func bytesOf(n int) []int {
	ones := make([]int, n)
	for i := range ones {
		ones[i] = 1
	}
	return ones
}

func TestSkipOthers(t *testing.T) {
	td := batch(t)
	require.NoError(t, td.Set("info/task", tensor.Must(tdict.NewData("reach"))))
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, safetensors.SaveWith(t.Context(), path, td, safetensors.SaveOptions{SkipOthers: true}))
	require.True(t, batch(t).Equal(open(t, path).TensorDict))
}

// A name with another separator is opened with that.
func TestSeparator(t *testing.T) {
	td := batch(t)
	require.NoError(t, td.Set(nestedkey.Of("a.b"), counted(t, tensor.Int8, 4)))
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, safetensors.SaveWith(t.Context(), path, td, safetensors.SaveOptions{Separator: "::"}))
	f := tensor.Must(safetensors.OpenWith(path, safetensors.Options{Separator: "::"}))
	defer f.Close()
	require.True(t, td.Equal(f.TensorDict))
	require.True(t, open(t, path).Has("obs::pos"))
}

// TestNamesBelowOthers: a file may have a name that goes on where another ends.
func TestNamesBelowOthers(t *testing.T) {
	path := saved(t, dict(t, nestedkey.Of("a"), tensor.Vector(1, 2.5), nestedkey.Of("a.b"), tensor.Vector(3, 4.5)))
	_, err := safetensors.Open(path)
	testkit.Fails(t, tdict.ErrExists, texted(err, path))
	f := tensor.Must(safetensors.OpenWith(path, safetensors.Options{Flat: true}))
	defer f.Close()
	require.Equal(t, []float64{3, 4.5}, testkit.Elements[float64](t, tensor.Must(f.Tensor("a.b"))))
}

// TestWhatIsWrittenIsInOrder writes tensors that are not contiguous, in memory and mapped.
func TestWhatIsWrittenIsInOrder(t *testing.T) {
	f := open(t, saved(t, batch(t)))
	for _, td := range []*tdict.TensorDict{batch(t), f.TensorDict} {
		for _, expr := range [][]ix.Index{{ix.Range(1, 4).Step(2)}, {ix.At(2)}, {ix.Take(3, 0, 0)}, {ix.Range(0, 0)}} {
			part := tensor.Must(td.Index(expr...))
			require.Equal(t, written(t, tensor.Must(part.Clone())), written(t, part))
			require.True(t, part.Equal(open(t, saved(t, part)).TensorDict))
		}
	}
}

// TestWriteIsSave: both write the same bytes, whatever the options.
func TestWriteIsSave(t *testing.T) {
	td := batch(t)
	require.NoError(t, td.Set("info/task", tensor.Must(tdict.NewData("reach"))))
	opt := safetensors.SaveOptions{Separator: ":", Metadata: map[string]string{"format": "pt"}, SkipOthers: true}
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, safetensors.SaveWith(t.Context(), path, td, opt))
	var b bytes.Buffer
	require.NoError(t, safetensors.Write(&b, td, opt))
	require.Equal(t, string(tensor.Must(os.ReadFile(path))), b.String())
}

// TestLongErrors: a text stays short, whatever a file holds.
func TestLongErrors(t *testing.T) {
	long := strings.Repeat("é", 1000)
	td := dict(t, nestedkey.Of(long), tensor.Must(tdict.NewData(1)))
	require.Less(t, len(safetensors.Write(io.Discard, td, safetensors.SaveOptions{}).Error()), 1000)
	path := saved(t, dict(t, nestedkey.Of(long), tensor.Vector(1.5, 2)))
	_, err := safetensors.OpenWith(path, safetensors.Options{Keys: []nestedkey.Key{nestedkey.Key(long + "x")}})
	require.ErrorIs(t, err, tdict.ErrMissing)
	require.Less(t, len(err.Error()), 1000)
}
