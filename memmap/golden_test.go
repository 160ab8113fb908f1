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
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A node is a value as the original loaded it.
type node struct {
	Kind    string          `json:"kind"`
	DType   string          `json:"dtype"`
	Shape   []int           `json:"shape"`
	Hex     string          `json:"hex"`
	Keys    map[string]node `json:"keys"`
	Dim     int             `json:"stack_dim"`
	Members []node          `json:"tds"`
	Data    json.RawMessage `json:"data"`
	Parts   []node          `json:"components"`
	Of      *node           `json:"tensordict"`

	// Fields are the fields of a tensorclass beside its dictionary.
	Fields map[string]json.RawMessage `json:"non_tensor"`
}

// readable reports whether a value consists of dictionaries, tensorclasses, tensors, data, and lazy
// stacks of dictionaries.
func (n node) readable() bool {
	switch n.Kind {
	case "tensor", "nontensorstack", "nested":
		return true
	case "nontensor":
		return !n.pickled()
	case "tensorclass":
		return n.Of.readable()
	case "lazystack":
		for _, m := range n.Members {
			if !m.readable() {
				return false
			}
		}
		return true
	}
	ok := n.Kind == "tensordict"
	for _, inner := range n.Keys {
		ok = ok && inner.readable()
	}
	return ok
}

// pickled reports whether the original pickled a value: JSON has nothing for it.
func (n node) pickled() bool { return bytes.Contains(n.Data, []byte(`"__repr__"`)) }

// TestGolden opens what Python's tensordict saved, and saves it again.
func TestGolden(t *testing.T) {
	dirs := []string{filepath.Join("..", "testdata", "golden")}
	if dir := os.Getenv("GOLDEN_DIR"); dir != "" {
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		folders := tensor.Must(filepath.Glob(filepath.Join(dir, "td*", "data")))
		require.True(t, len(folders) > 0 || dir != dirs[0], dir)
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
	require.NoError(t, memmap.Copy(t.Context(), data, again, memmap.CopyOptions{}))
	sameMeta(t, data, again, false)
	back := tensor.Must(memmap.Open(again))
	defer back.Close()
	sameAsNode(t, want.Root, back.TensorDict)
}

// sameTree compares the files of two directories, but for native fields.
func sameTree(t *testing.T, dirA, dirB string) {
	t.Helper()
	a, b := tree(t, dirA), tree(t, dirB)
	for name, text := range b {
		b[name] = withoutNative(text)
	}
	require.Equal(t, a, b)
}

// sameAsNode compares a dictionary with what the original loaded: shapes, keys, dtypes and bytes.
func sameAsNode(t *testing.T, want node, got *tdict.TensorDict) {
	t.Helper()
	switch {
	case want.Of != nil:
		sameAsNode(t, *want.Of, withoutFields(t, want, got))
		return
	case want.Kind == "lazystack":
		sameAsMembers(t, want, got)
		return
	}
	require.Equal(t, want.Shape, []int(got.Shape().Clone()))
	require.Equal(t, len(want.Keys), got.NumEntries())
	for name, inner := range want.Keys {
		v := tensor.Must(got.Get(nestedkey.Of(name)))
		switch v := v.(type) {
		case *tdict.TensorDict:
			sameAsNode(t, inner, v)
			continue
		case *tdict.Data:
			sameAsData(t, inner, v)
			continue
		case *ragged.Tensor:
			sameAsParts(t, inner, v)
			continue
		}
		leaf, ok := v.(*tensor.Tensor)
		if !ok { // Python writes an unbatched tensor like any other
			leaf = v.(*tdict.Unbatched).Tensor()
		}
		require.Equal(t, inner.DType, leaf.DType().String(), name)
		require.Equal(t, inner.Shape, []int(leaf.Shape().Clone()), name)
		require.Equal(t, inner.Hex, hex.EncodeToString(testkit.Content(t, leaf)), name)
	}
}

// withoutFields returns the dictionary of a tensorclass without the entries that are fields beside
// it in Python, which it compares.
func withoutFields(t *testing.T, want node, got *tdict.TensorDict) *tdict.TensorDict {
	t.Helper()
	for name, value := range want.Fields {
		if _, ok := want.Of.Keys[name]; !ok {
			key := nestedkey.Of(name)
			sameAsData(t, node{Kind: "nontensor", Shape: want.Of.Shape, Data: value}, tensor.Must(tdict.Get[*tdict.Data](got, key)))
			got = got.Exclude(key)
		}
	}
	return got
}

// sameAsMembers compares a dictionary of stacked leaves with the members of a lazy stack.
func sameAsMembers(t *testing.T, want node, got *tdict.TensorDict) {
	t.Helper()
	dim, members, err := tdict.Members(got)
	require.NoError(t, err)
	require.Equal(t, want.Dim, dim)
	require.Len(t, members, len(want.Members))
	for i, m := range members {
		sameAsNode(t, want.Members[i], m)
	}
}

// sameAsParts compares ragged rows with the components of a nested tensor.
func sameAsParts(t *testing.T, want node, got *ragged.Tensor) {
	t.Helper()
	require.Equal(t, "nested", want.Kind)
	require.Equal(t, want.DType, got.DType().String())
	require.Equal(t, []int{len(want.Parts)}, []int(got.Shape()))
	require.Equal(t, 1, got.Depth(), "as in all golden files")
	offsets, hexes := []int64{0}, ""
	for i, part := range want.Parts {
		offsets, hexes = append(offsets, offsets[i]+int64(part.Shape[0])), hexes+part.Hex
		require.Equal(t, part.Shape[1:], []int(got.Features()))
	}
	require.Equal(t, offsets, tensor.Must(got.Layout().Offsets(1)))
	require.Equal(t, hexes, hex.EncodeToString(testkit.Content(t, tensor.Must(got.Values()))))
}

// sameAsData compares data with what the original loaded: the shape, and one value or one for each
// row.
func sameAsData(t *testing.T, want node, got *tdict.Data) {
	t.Helper()
	require.Equal(t, want.Shape, []int(got.Shape().Clone()))
	d := json.NewDecoder(bytes.NewReader(want.Data))
	d.UseNumber()
	var value any
	require.NoError(t, d.Decode(&value))
	if want.Kind == "nontensor" {
		one, ok := got.Uniform()
		require.True(t, ok)
		require.Equal(t, value, asJSON(one))
		return
	}
	rows := []any{value}
	for range want.Shape {
		var inner []any
		for _, row := range rows {
			inner = append(inner, row.([]any)...)
		}
		rows = inner
	}
	i := 0
	for row := range got.All() {
		require.Equal(t, rows[i], asJSON(row))
		i++
	}
	require.Len(t, rows, i)
}

// asJSON returns a value of data as a decoder of JSON does that keeps the spelling of numbers.
func asJSON(v any) any {
	switch v := v.(type) {
	case int64:
		return json.Number(strconv.FormatInt(v, 10))
	case float64:
		text := strconv.FormatFloat(v, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return json.Number(text)
	case []any:
		out := []any{}
		for _, x := range v {
			out = append(out, asJSON(x))
		}
		return out
	case *tdict.Object:
		out := map[string]any{}
		for name, x := range v.All() {
			out[name] = asJSON(x)
		}
		return out
	}
	return v
}

// sameMeta compares the meta.json files of two saved nodes, at every level: the same entries in the
// same order (any order inStack), with the same shapes and dtypes, and the same batch shapes, stack
// dims, types and fields of classes. Each node of data must have the same text, byte for byte,
// unless all rows of a NonTensorStack have one value, which is saved as NonTensorData.
func sameMeta(t *testing.T, dirA, dirB string, inStack bool) {
	t.Helper()
	a, b := readFields(t, dirA), readFields(t, dirB)
	switch class := string(a.raw["_type"]); {
	case strings.Contains(class, ".NonTensorStack'") && strings.Contains(string(b.raw["_type"]), ".NonTensorData'"):
		return // sameAsData compares the values
	case strings.Contains(class, ".NonTensor"):
		require.Equal(t, metaText(t, dirA), withoutNative(metaText(t, dirB)))
		return
	case strings.Contains(class, ".LazyStackedTensorDict'"):
		require.Equal(t, withoutNative(metaText(t, dirA)), withoutNative(metaText(t, dirB)))
		for i := 0; ; i++ {
			name := strconv.Itoa(i)
			_, errA := os.Stat(filepath.Join(dirA, name))
			_, errB := os.Stat(filepath.Join(dirB, name))
			require.Equal(t, errA == nil, errB == nil, "member %d of %s", i, dirA)
			if errA != nil {
				return
			}
			sameMeta(t, filepath.Join(dirA, name), filepath.Join(dirB, name), true)
		}
	case a.raw["shape"] == nil: // an instance of a class
		sameInstance(t, a, b, dirA, dirB, inStack)
		return
	}
	if inStack { // keys are in the order of their first appearance in a member
		require.ElementsMatch(t, a.names, b.names)
	} else {
		require.Equal(t, a.names, b.names)
	}
	require.JSONEq(t, string(a.raw["shape"]), string(b.raw["shape"]))
	require.Equal(t, string(a.raw["_type"]), string(b.raw["_type"]))
	for _, name := range a.names {
		var x, y struct {
			Type   *string
			Shape  []int
			DType  string
			Nested bool `json:"is_nested"`
		}
		require.NoError(t, json.Unmarshal(a.raw[name], &x))
		require.NoError(t, json.Unmarshal(b.raw[name], &y))
		if x.Type != nil && *x.Type == "NonTensorStack" && *y.Type == "NonTensorData" {
			x.Type = y.Type
		}
		require.Equal(t, x, y, name)
		if x.Type != nil {
			sameMeta(t, entryDir(t, dirA, name), entryDir(t, dirB, name), inStack)
		}
	}
}

// sameInstance compares two instances of classes. Fields of None may come in any order, and in the
// dictionary or beside it.
func sameInstance(t *testing.T, a, b fields, dirA, dirB string, inStack bool) {
	t.Helper()
	require.JSONEq(t, string(tensor.Must(json.Marshal(a.raw))), string(tensor.Must(json.Marshal(b.raw))))
	sameMeta(t, filepath.Join(dirA, "_tensordict"), filepath.Join(dirB, "_tensordict"), inStack)
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

// metaText returns the text of the meta.json of a directory without its sum, and without the sums
// of data.
func metaText(t *testing.T, dir string) string {
	t.Helper()
	return withoutSum(string(tensor.Must(os.ReadFile(filepath.Join(dir, "meta.json")))))
}

var metaSum = regexp.MustCompile(`,"_crc":"[0-9a-f]{8}"`)

var (
	dataSum   = regexp.MustCompile(`("type":"NonTensor(?:Data|Stack)","go":\{"v":1(?:,"(?:path|shape)":\[[^]]*\])*),"sums":\["[0-9a-f]{8}"\]`)
	emptyFact = regexp.MustCompile(`("type":"NonTensor(?:Data|Stack)"),"go":\{"v":1\}`)
)

// withoutSum returns the text of a meta.json without its sum and those of data, so that a test can
// change it, and what they are of.
func withoutSum(text string) string {
	text = metaSum.ReplaceAllString(text, "")
	return emptyFact.ReplaceAllString(dataSum.ReplaceAllString(text, "$1"), "$1")
}

// TestGoldenPickled: what Python has pickled is never executed; the error says which entry it is,
// and the others can be had without it.
func TestGoldenPickled(t *testing.T) {
	data := filepath.Join("..", "testdata", "golden", "td08_nontensor_pickle", "data")
	_, err := memmap.Open(data)
	require.ErrorIs(t, err, memmap.ErrUnsupported)
	require.EqualError(t, err, "open "+data+`: rng/other.pickle: unsupported: entry "rng", a NonTensorData, is pickled, and pickles are never executed: leave it out with SkipPickled`)

	ds := openWith(t, data, memmap.OpenOptions{SkipPickled: true})
	require.Equal(t, 1, ds.NumEntries())
	sameAsNode(t, node{Shape: []int{}, Keys: map[string]node{"t": {DType: "float32", Shape: []int{2}, Hex: "000000000000803f"}}}, ds.TensorDict)
}

// native is what Save adds to an entry, and nothing else.
var native = regexp.MustCompile(`,"go":\{"v":1(,"(unbatched|shape)":\[[0-9,]*\])?(,"nested":\{"sums":\[("[0-9a-f]{8}",?)*\]\})?(,"sums":\[("[0-9a-f]{8}",?)*\])?\}|,"_go":\[\{"v":1,("members":[0-9]+,"kinds":\{[^}]*\}(,"dims":\{[^}]*\})?|"outer":"[0-9a-f]{8}")\}\]`)

// withoutNative returns the text of a meta.json without what only this module writes.
func withoutNative(text string) string { return native.ReplaceAllString(withoutSum(text), "") }

// TestWithoutNative checks the check: it changes no file of Python's, and takes out what is added.
func TestWithoutNative(t *testing.T) {
	files := tensor.Must(filepath.Glob(filepath.Join("..", "testdata", "golden", "td*")))
	n := 0
	for _, folder := range files {
		for name, text := range tree(t, folder) {
			if strings.HasSuffix(name, "meta.json") {
				require.Equal(t, text, withoutNative(text), name)
				n++
			}
		}
	}
	require.Greater(t, n, 40)
	tests := []struct{ name, text, want string }{
		{"sums of blocks", `{"x":{"a":1,"go":{"v":1,"sums":["0123abcd","00000000"]}}}`, `{"x":{"a":1}}`},
		{"an unbatched tensor", `{"x":{"a":1,"go":{"v":1,"unbatched":[2,3],"sums":["0123abcd"]}},"y":2}`, `{"x":{"a":1},"y":2}`},
		{"a batch shape", `{"x":{"a":1,"go":{"v":1,"shape":[]}}}`, `{"x":{"a":1}}`},
		{"sums of the shapes of a nested tensor", `{"x":{"a":1,"go":{"v":1,"nested":{"sums":["0123abcd"]},"sums":["0123abcd"]}}}`, `{"x":{"a":1}}`},
		{"an entry of that name stays", `{"x":1,"go":{"type":"TensorDict"}}`, `{"x":1,"go":{"type":"TensorDict"}}`},
		{"another version stays", `{"x":{"a":1,"go":{"v":2}}}`, `{"x":{"a":1,"go":{"v":2}}}`},
		{"other facts stay", `{"x":{"a":1,"go":{"v":1,"b":[]}}}`, `{"x":{"a":1,"go":{"v":1,"b":[]}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, withoutNative(tt.text)) })
	}
}

// TestWritesWhatPythonWrites compares whole directories with those of Python's tensordict, byte for
// byte but for native fields.
func TestWritesWhatPythonWrites(t *testing.T) {
	for _, name := range []string{"td01_flat", "td02_nested3", "td03_dtypes", "td04_scalar_batch", "td05_zero_size", "td06_odd_keys", "td08_nontensor", "td09_nontensorstack", "td11_nested_strided", "td13_device_cpu"} {
		t.Run(name, func(t *testing.T) {
			data := filepath.Join("..", "testdata", "golden", name, "data")
			ds := tensor.Must(memmap.Open(data))
			defer ds.Close()
			again := filepath.Join(t.TempDir(), "again")
			require.NoError(t, memmap.Copy(t.Context(), data, again, memmap.CopyOptions{}))
			wrote := tree(t, again)
			for file, text := range wrote {
				if filepath.Base(file) == "meta.json" {
					wrote[file] = withoutNative(text)
				}
			}
			require.Equal(t, tree(t, data), wrote)
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
	f.Add([]byte(`{"@lengths":{"dtype":"torch.int64","shape":[1]},"@pool":{"dtype":"torch.int8","shape":[1,2]},"@row":{"dtype":"torch.int64","shape":[1]},"shape":[1],"_type":"TensorDict"}`), []byte("\x02\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte(`{"r.@lengths":{"dtype":"torch.int64","shape":[2]},"r.@lengths2":{"dtype":"torch.int64","shape":[2,0]},"r.@pool":{"dtype":"torch.int8","shape":[2,0]},"r.@row":{"dtype":"torch.int64","shape":[2]},"shape":[2],"_type":"TensorDict"}`), []byte("\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte(`{"a":{"dtype":"torch.int8","shape":[2,1],"is_nested":true},"shape":[2],"_type":"TensorDict"}`), []byte("\x03\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte(`{"a":{"dtype":"torch.int8","shape":[1,2],"is_nested":true},"shape":[1],"_type":"TensorDict"}`), []byte("\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, meta, leaf []byte) {
		dir := t.TempDir()
		write(t, dir, "meta.json", string(meta))
		write(t, dir, "a.memmap", string(leaf))
		write(t, dir, "a.shape.memmap", string(leaf))
		for _, part := range []string{"@lengths", "@lengths2", "@pool", "@row"} { // of a, where it is a dictionary with the same meta.json, and of flat ones
			write(t, dir, "a/"+part+".memmap", string(leaf))
			write(t, dir, "r."+part+".memmap", string(leaf))
		}
		write(t, dir, "a/meta.json", strings.ReplaceAll(string(meta), `"r.@`, `"@`))
		ds, err := memmap.Open(dir)
		if err != nil {
			if _, ok := errors.AsType[*memmap.DatasetError](err); !ok {
				t.Fatalf("unclassified error %v", err)
			}
			return
		}
		defer ds.Close()
		for key, l := range ds.Leaves() {
			if _, ok := l.(*tdict.Data); ok {
				continue
			}
			var b bytes.Buffer
			x, ok := l.(*tensor.Tensor)
			if r, is := l.(*ragged.Tensor); is {
				requireSoundRows(t, r)
				x = tensor.Must(r.Values())
			} else if u, is := l.(*tdict.Unbatched); is {
				x = u.Tensor()
			} else if !ok {
				t.Fatalf("%q: %T", key, l)
			}
			n, err := x.WriteTo(&b)
			if err != nil || n > int64(len(leaf)) {
				t.Fatalf("%q: read %d bytes of %d: %v", key, n, len(leaf), err)
			}
		}
	})
}
