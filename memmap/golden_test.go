package memmap_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A node is a value as the original loaded it.
type node struct {
	Kind  string          `json:"kind"`
	DType string          `json:"dtype"`
	Shape []int           `json:"shape"`
	Hex   string          `json:"hex"`
	Keys  map[string]node `json:"keys"`
}

// readable reports whether a value consists of dictionaries and dense tensors.
func (n node) readable() bool {
	if n.Kind == "tensor" {
		return true
	}
	ok := n.Kind == "tensordict"
	for _, inner := range n.Keys {
		ok = ok && inner.readable()
	}
	return ok
}

// TestGolden opens what Python's tensordict saved, and saves it again.
func TestGolden(t *testing.T) {
	dirs := []string{filepath.Join("..", "testdata", "golden")}
	if dir := os.Getenv("GOLDEN_DIR"); dir != "" {
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		folders := tensor.Must(filepath.Glob(filepath.Join(dir, "td*", "data")))
		require.NotEmpty(t, folders, dir)
		for _, folder := range folders {
			name := filepath.Base(filepath.Dir(folder))
			t.Run(name, func(t *testing.T) { checkGolden(t, filepath.Dir(folder)) })
		}
	}
}

func checkGolden(t *testing.T, folder string) {
	var want struct {
		Root node `json:"root"`
	}
	text := tensor.Must(os.ReadFile(filepath.Join(folder, "expected.json")))
	require.NoError(t, json.Unmarshal(text, &want))

	data := filepath.Join(folder, "data")
	ds, err := memmap.Open(data)
	if !want.Root.readable() {
		require.ErrorIs(t, err, memmap.ErrUnsupported)
		return
	}
	require.NoError(t, err)
	defer ds.Close()
	sameAsNode(t, want.Root, ds.TensorDict)

	again := filepath.Join(t.TempDir(), "again")
	require.NoError(t, memmap.Save(again, ds.TensorDict))
	sameMeta(t, data, again)
	back := tensor.Must(memmap.Open(again))
	defer back.Close()
	sameAsNode(t, want.Root, back.TensorDict)
}

// sameAsNode compares a dictionary with what the original loaded: shapes, keys, dtypes and bytes.
func sameAsNode(t *testing.T, want node, got *tdict.TensorDict) {
	t.Helper()
	require.Equal(t, want.Shape, []int(got.Shape().Clone()))
	require.Equal(t, len(want.Keys), got.NumEntries())
	for name, inner := range want.Keys {
		v := tensor.Must(got.Get(nestedkey.Of(name)))
		if d, ok := v.(*tdict.TensorDict); ok {
			sameAsNode(t, inner, d)
			continue
		}
		leaf := v.(*tensor.Tensor)
		require.Equal(t, inner.DType, leaf.DType().String(), name)
		require.Equal(t, inner.Shape, []int(leaf.Shape().Clone()), name)
		require.Equal(t, inner.Hex, hex.EncodeToString(testkit.Content(t, leaf)), name)
	}
}

// sameMeta compares the meta.json files of two saved dictionaries, at every level: the same entries
// in the same order, with the same shapes and dtypes, and the same batch shapes and types. Each
// leaf must have the same bytes.
func sameMeta(t *testing.T, dirA, dirB string) {
	t.Helper()
	a, b := readFields(t, dirA), readFields(t, dirB)
	require.Equal(t, a.names, b.names)
	require.JSONEq(t, string(a.raw["shape"]), string(b.raw["shape"]))
	require.Equal(t, string(a.raw["_type"]), string(b.raw["_type"]))
	for _, name := range a.names {
		var x, y struct {
			Type  *string
			Shape []int
			DType string
		}
		require.NoError(t, json.Unmarshal(a.raw[name], &x))
		require.NoError(t, json.Unmarshal(b.raw[name], &y))
		require.Equal(t, x, y, name)
		if x.Type != nil {
			sameMeta(t, entryDir(t, dirA, name), entryDir(t, dirB, name))
		}
	}
}

// entryDir returns the directory of a nested dictionary: the one whose name, percent-decoded, is
// that of the entry, or as old writers left it.
func entryDir(t *testing.T, dir, name string) string {
	t.Helper()
	found := tensor.Must(os.ReadDir(dir))
	i := slices.IndexFunc(found, func(d os.DirEntry) bool {
		text, err := url.PathUnescape(d.Name())
		return d.IsDir() && (err == nil && text == name || d.Name() == name || d.Name() == "%" && name == "")
	})
	require.GreaterOrEqual(t, i, 0, "%s has no directory of %q", dir, name)
	return filepath.Join(dir, found[i].Name())
}

// TestGoldenWithEncodedDirectory checks the check: the directory of a nested dictionary may have
// another name than the entry.
func TestGoldenWithEncodedDirectory(t *testing.T) {
	const tail = `"shape":[2],"device":"cpu","_type":"<class 'tensordict._td.TensorDict'>"}`
	for _, name := range []string{"a/b", "100%", "", "plain"} {
		t.Run(name, func(t *testing.T) {
			folder, encoded := t.TempDir(), cmp.Or(strings.NewReplacer("%", "%25", "/", "%2F").Replace(name), "%")
			write(t, folder, "expected.json", `{"root":{"kind":"tensordict","shape":[2],"keys":{"`+name+`":{"kind":"tensordict","shape":[2],
				"keys":{"x":{"kind":"tensor","dtype":"uint8","shape":[2],"hex":"0709"}}}}}}`)
			write(t, folder, "data/meta.json", `{"`+name+`":{"type":"TensorDict"},`+tail)
			write(t, folder, "data/"+encoded+"/meta.json", `{"x":{"device":"cpu","shape":[2],"dtype":"torch.uint8","is_nested":false},`+tail)
			write(t, folder, "data/"+encoded+"/x.memmap", "\x07\x09")
			checkGolden(t, folder)
			require.Equal(t, filepath.Join(folder, "data", encoded), entryDir(t, filepath.Join(folder, "data"), name))
		})
	}
}

// fields are the fields of a meta.json; names are those of entries, in order.
type fields struct {
	names []string
	raw   map[string]json.RawMessage
}

func readFields(t *testing.T, dir string) fields {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "meta.json"))
	require.NoError(t, err)
	f := fields{raw: map[string]json.RawMessage{}}
	d := json.NewDecoder(bytes.NewReader(text))
	require.NoError(t, testkit.Err(d.Token()))
	for d.More() {
		name := tensor.Must(d.Token())
		var raw json.RawMessage
		require.NoError(t, d.Decode(&raw))
		f.raw[name.(string)] = raw
		if strings.HasPrefix(string(raw), "{") {
			f.names = append(f.names, name.(string))
		}
	}
	return f
}

// TestWritesWhatPythonWrites compares whole directories with those of Python's tensordict, byte for
// byte.
func TestWritesWhatPythonWrites(t *testing.T) {
	for _, name := range []string{"td01_flat", "td02_nested3", "td03_dtypes", "td04_scalar_batch", "td05_zero_size", "td06_odd_keys", "td13_device_cpu"} {
		t.Run(name, func(t *testing.T) {
			data := filepath.Join("..", "testdata", "golden", name, "data")
			ds := tensor.Must(memmap.Open(data))
			defer ds.Close()
			again := filepath.Join(t.TempDir(), "again")
			require.NoError(t, memmap.Save(again, ds.TensorDict))
			require.Equal(t, tree(t, data), tree(t, again))
		})
	}
}

// tree returns the text of every file below dir.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		out[name] = string(text)
		return err
	}))
	return out
}

// FuzzMeta opens directories with any meta.json beside a small file: it is refused with an error
// that names a file, or every leaf can be read in full and is no longer than the file allows.
func FuzzMeta(f *testing.F) {
	golden, _ := filepath.Glob(filepath.Join("..", "testdata", "golden", "td*", "data", "meta.json"))
	for _, file := range golden {
		if text, err := os.ReadFile(file); err == nil {
			f.Add(text, []byte("0123456789abcdef"))
		}
	}
	f.Add([]byte(`{"a":{"shape":[2,-3],"dtype":"torch.int8"},"shape":[2],"_type":"TensorDict"}`), []byte("012345"))
	f.Add([]byte(`{"a":{"shape":[4611686018427387904,0],"dtype":"torch.int8"},"shape":[],"_type":"TensorDict"}`), []byte{})
	f.Add([]byte(`{"a":{"type":"TensorDict"},"shape":[],"_type":"TensorDict"}`), []byte{})
	f.Fuzz(func(t *testing.T, meta, leaf []byte) {
		dir := t.TempDir()
		write(t, dir, "meta.json", string(meta))
		write(t, dir, "a.memmap", string(leaf))
		ds, err := memmap.Open(dir)
		if err != nil {
			if _, ok := errors.AsType[*memmap.FileError](err); !ok {
				t.Fatalf("unclassified error %v", err)
			}
			return
		}
		defer ds.Close()
		for key, l := range ds.Leaves() {
			var b bytes.Buffer
			n, err := l.(*tensor.Tensor).WriteTo(&b)
			if err != nil || n > int64(len(leaf)) {
				t.Fatalf("%q: read %d bytes of %d: %v", key, n, len(leaf), err)
			}
		}
	})
}
