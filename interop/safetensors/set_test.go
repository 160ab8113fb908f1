package safetensors_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// sharded saves parts as the shards of a set in a directory, and returns the path of the index.
func sharded(t testing.TB, dir string, parts ...*tdict.TensorDict) string {
	t.Helper()
	at := map[string]string{}
	for i, td := range parts {
		name := fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, len(parts))
		require.NoError(t, safetensors.SaveWith(t.Context(), filepath.Join(dir, name), td, safetensors.SaveOptions{NoSync: true}))
		for key := range tensor.Must(td.FlattenKeys(".")).All() {
			at[key.Name()] = name
		}
	}
	text := tensor.Must(json.Marshal(map[string]any{"metadata": map[string]any{"total_size": 12, "format": "pt"}, "weight_map": at}))
	return put(t, dir, "model.safetensors.index.json", text)
}

// layer returns the part of a model that has a number.
func layer(t testing.TB, i int) *tdict.TensorDict {
	td := tdict.New()
	require.NoError(t, td.Set(nestedkey.Of("layers", fmt.Sprint(i), "weight"), counted(t, tensor.Float32, 2, 1<<14)))
	require.NoError(t, td.Set(nestedkey.Of("layers", fmt.Sprint(i), "bias"), counted(t, tensor.Float32, 2)))
	return td
}

// TestSet opens a set: shards are mapped, and only the shards of Keys are opened.
func TestSet(t *testing.T) {
	live := mapping.Live()
	path := sharded(t, t.TempDir(), layer(t, 0), layer(t, 1), layer(t, 2))
	f := tensor.Must(safetensors.OpenWith(path, safetensors.Options{Metadata: "about", BatchDims: -1}))
	require.Equal(t, live+3, mapping.Live())
	require.Equal(t, 6, len(testkit.Keys(f.Tensors())))
	require.Equal(t, map[string]string{"total_size": "12", "format": "pt"}, stringsOf(t, f.TensorDict, "about"))
	require.Equal(t, []float32{0, 1}, testkit.Elements[float32](t, tensor.Must(f.Tensor("layers/1/bias"))))
	for i := range 3 {
		require.True(t, tensor.Must(layer(t, i).Dict("layers")).Equal(tensor.Must(tensor.Must(f.Dict("layers")).Select(nestedkey.Of(fmt.Sprint(i))))))
	}
	require.NoError(t, f.Close())
	require.ErrorIs(t, f.Close(), safetensors.ErrClosed)
	require.NoError(t, f.CloseWait(t.Context()))
	require.Equal(t, live, mapping.Live())

	require.NoError(t, os.Remove(filepath.Join(filepath.Dir(path), "model-00001-of-00003.safetensors")))
	require.ErrorIs(t, testkit.Err(safetensors.Open(path)), fs.ErrNotExist)
	f = tensor.Must(safetensors.OpenWith(path, safetensors.Options{Keys: []nestedkey.Key{"layers/2", "layers/1/bias"}}))
	require.Equal(t, []nestedkey.Key{"layers/2/bias", "layers/2/weight", "layers/1/bias"}, testkit.Keys(f.Tensors()))
	require.Equal(t, shapeops.Shape{2}, f.Shape())
	require.NoError(t, f.Close())
}

// A set may list nothing, in shards that hold more than the index says.
func TestSetOfNothing(t *testing.T) {
	for _, opt := range []safetensors.Options{{}, {Metadata: "about"}} {
		f := tensor.Must(safetensors.OpenWith(put(t, t.TempDir(), "x.index.json", []byte(`{"weight_map":{},"z":[{}]}`)), opt))
		require.Empty(t, testkit.Keys(f.Tensors()))
		require.NoError(t, f.Close())
		require.ErrorIs(t, f.Close(), safetensors.ErrClosed)
	}
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o777))
	require.NoError(t, safetensors.Save(filepath.Join(dir, "sub", "s"), layer(t, 0)))
	f := open(t, put(t, dir, "x.index.json", []byte(`{"metadata":null,"weight_map":{"layers.0.bias":"sub/s"}}`)))
	require.Equal(t, []nestedkey.Key{"layers/0/bias"}, testkit.Keys(f.Tensors()))
}

// In the cache of Hugging Face's hub the index and the shards are links to files that lie
// elsewhere.
func TestSetOfLinks(t *testing.T) {
	blobs, snapshot := t.TempDir(), t.TempDir()
	path := sharded(t, blobs, layer(t, 0), layer(t, 1))
	for _, name := range []string{"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"} {
		require.NoError(t, os.Rename(filepath.Join(blobs, name), filepath.Join(blobs, name[:11])))
		require.NoError(t, os.Symlink(filepath.Join(blobs, name[:11]), filepath.Join(snapshot, name)))
	}
	link := filepath.Join(snapshot, filepath.Base(path))
	require.NoError(t, os.Symlink(path, link))
	require.Equal(t, 4, len(testkit.Keys(open(t, link).Tensors())))
}

// TestSetBehindALink: the shards are beside the index, as the system finds it.
func TestSetBehindALink(t *testing.T) {
	there, here := t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(there, "sub"), 0o777))
	path := sharded(t, there, layer(t, 0))
	require.NoError(t, os.Symlink(filepath.Join(there, "sub"), filepath.Join(here, "link")))
	around := strings.Join([]string{here, "link", "..", filepath.Base(path)}, string(filepath.Separator))
	if runtime.GOOS == "windows" {
		t.Skip("the system cleans paths")
	}
	require.Len(t, testkit.Keys(open(t, around).Leaves()), 2)
	t.Chdir(there)
	require.Len(t, testkit.Keys(open(t, filepath.Base(path)).Leaves()), 2)
}

// manyShards returns the path of the index of a set of n shards, of a scalar each.
func manyShards(t testing.TB, n int) string {
	dir, at := t.TempDir(), map[string]string{}
	for i := range n {
		td := tdict.New()
		require.NoError(t, td.Set(nestedkey.Of(fmt.Sprint(i)), tensor.Scalar(float64(i))))
		name := fmt.Sprint(i, ".safetensors")
		put(t, dir, name, written(t, td))
		at[fmt.Sprint(i)] = name
	}
	return put(t, dir, "x.index.json", tensor.Must(json.Marshal(map[string]any{"weight_map": at})))
}

// TestShardReplaced: whoever has a set open keeps its shards.
func TestShardReplaced(t *testing.T) {
	path := sharded(t, t.TempDir(), layer(t, 0), layer(t, 1))
	f := open(t, path)
	shard := filepath.Join(filepath.Dir(path), "model-00001-of-00002.safetensors")
	require.NoError(t, safetensors.Save(shard, layer(t, 7)))
	require.Equal(t, []float32{0, 1}, testkit.Elements[float32](t, tensor.Must(f.Tensor("layers/0/bias"))))
	require.ErrorIs(t, testkit.Err(safetensors.Open(path)), safetensors.ErrCorrupt)
}

// FuzzOpen opens a set by an index of any text, beside shards that are sound. Whatever it is,
// opening takes little memory, errors have a class, and tensors are the same as in the shards.
func FuzzOpen(f *testing.F) {
	dir := testkit.MemoryDir(f)
	text := tensor.Must(os.ReadFile(sharded(f, dir, layer(f, 0), layer(f, 1))))
	f.Add(text)
	for _, file := range tensor.Must(filepath.Glob(filepath.Join(brokenDir, "index-*.txt"))) {
		_, body, _ := strings.Cut(string(tensor.Must(os.ReadFile(file))), "-- model.safetensors.index.json --\n")
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := put(t, dir, "fuzz.index.json", text)
		var got *safetensors.File
		var err error
		testkit.MaxBytes(t, 64*uint64(len(text))+128<<10, func() { got, err = safetensors.Open(path) })
		if err != nil {
			requireClass(t, err)
			return
		}
		defer got.Close()
		for key, x := range got.Tensors() {
			want, err := layer(t, int(key[len("layers/")]-'0')).Tensor(key)
			require.NoError(t, err)
			require.True(t, want.Equal(x), key)
		}
	})
}

// requireClass requires that err names a file, and is of a class that the package documents.
func requireClass(t *testing.T, err error) {
	t.Helper()
	_, ok := errors.AsType[*safetensors.FileError](err)
	require.True(t, ok, "%T", err)
	for _, class := range []error{safetensors.ErrCorrupt, safetensors.ErrUnsupported, tdict.ErrExists, tdict.ErrDepth, fs.ErrNotExist} {
		if errors.Is(err, class) {
			return
		}
	}
	if _, ok := errors.AsType[syscall.Errno](err); !ok { // such as a name that is too long
		t.Fatalf("unclassified error %v", err)
	}
}
