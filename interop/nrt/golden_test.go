package nrt_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// golden returns the folders of files that the original wrote.
func golden(t testing.TB) []string {
	dirs := []string{filepath.Join("..", "..", "testdata", "golden")}
	if dir := os.Getenv("GOLDEN_DIR"); dir != "" {
		dirs = append(dirs, dir)
	}
	var all []string
	for _, dir := range dirs {
		found := tensor.Must(filepath.Glob(filepath.Join(dir, "nrt*")))
		require.True(t, len(found) > 0 || dir != dirs[0], dir)
		all = append(all, found...)
	}
	return all
}

// expected is what the original saved and loaded.
type expected struct {
	Source struct {
		Raw map[string]any
	}
	Root struct {
		Schema  map[string]string
		Tensors map[string]struct{ Hex string }
	}
}

// TestGolden makes each file of the original from the lists that it was made of, and reads it.
func TestGolden(t *testing.T) {
	for _, folder := range golden(t) {
		t.Run(filepath.Base(folder), func(t *testing.T) { checkGolden(t, folder) })
	}
}

func checkGolden(t *testing.T, folder string) {
	path := filepath.Join(folder, "data.nrt")
	file := tensor.Must(os.ReadFile(path))
	text := bytes.ReplaceAll(tensor.Must(os.ReadFile(filepath.Join(folder, "expected.json"))), []byte("NaN"), []byte(`"NaN"`))
	var want expected
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	require.NoError(t, d.Decode(&want))

	var s tdict.Schema
	lists := map[string]any{}
	for name, raw := range want.Source.Raw {
		s = append(s, tdict.Spec{Key: nestedkey.Of(name), Kind: tdict.KindRagged, DType: tensor.Must(tensor.ParseDType(want.Root.Schema[name])), Depth: tdict.Any})
		lists[name] = numbers(t, raw)
	}
	made := tensor.Must(nrt.FromLists(lists, s))
	require.Equal(t, string(file), string(written(t, made)))

	f := open(t, path)
	require.Equal(t, string(file), string(written(t, f.Joint)))
	again := tensor.Must(nrt.Read(written(t, made)))
	for name, field := range fieldsOf(f.Joint) {
		var b bytes.Buffer
		_, err := tensor.Must(field.Tensor.Values()).WriteTo(&b)
		require.NoError(t, err)
		require.Equal(t, want.Root.Tensors[name].Hex, hex.EncodeToString(b.Bytes()), name)
	}
	require.Len(t, want.Root.Schema, len(f.Names()))
	if !strings.Contains(string(text), `"NaN"`) { // which equals nothing
		require.True(t, made.Equal(f.Joint))
		require.True(t, made.Equal(again))
	}
}

// fieldsOf returns the fields by the names of their arrays.
func fieldsOf(j *joint.Joint) map[string]joint.Field {
	out := map[string]joint.Field{}
	for f := range j.Fields() {
		out["dim"+string(rune('0'+f.Tensor.Depth()))+"/"+f.Name] = f
	}
	return out
}

// numbers returns nested lists of JSON with each number as an int or a float.
func numbers(t *testing.T, v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = numbers(t, v[i])
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		return tensor.Must(v.Float64())
	}
	return v
}

// written returns the file of a collection.
func written(t testing.TB, j *joint.Joint) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, nrt.Write(&b, j))
	return b.Bytes()
}

// open opens a file until the end of the test.
func open(t testing.TB, path string) *nrt.File {
	t.Helper()
	f, err := nrt.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() }) // it may be closed
	return f
}

// saved returns the path of a file of a collection.
func saved(t testing.TB, j *joint.Joint) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.nrt")
	require.NoError(t, nrt.Save(path, j))
	return path
}

// visits returns a collection with fields at three depths, which G1 of N63 is made of.
func visits() *joint.Joint {
	return tensor.Must(nrt.FromLists(map[string]any{
		"s":  []any{7, 8, 9},
		"ts": []any{[]any{1, 2}, []any{3}, []any{4, 5, 6}},
		"v":  []any{[]any{[]any{}, []any{3, 0}}, []any{[]any{3, 4, 5}}, []any{[]any{}, []any{}, []any{2}}},
	}, nil))
}

// mixed returns the collection of several dtypes that G2 of N63 is made of.
func mixed() *joint.Joint {
	return tensor.Must(nrt.FromLists(map[string]any{
		"z": []any{1.5, 2.5},
		"m": []any{true, false},
		"i": []any{[]any{1, -2}, []any{3}},
		"f": []any{[]any{1.0, 2.0}, []any{3.0}},
	}, nil))
}

const (
	visitsFile = "\x38\x01\x00\x00\x00\x00\x00\x00" +
		`{"dim1/bounds":{"dtype":"I64","shape":[3],"data_offsets":[0,24]},` +
		`"dim2/bounds":{"dtype":"I64","shape":[6],"data_offsets":[24,72]},` +
		`"dim0/s":{"dtype":"U8","shape":[3],"data_offsets":[72,75]},` +
		`"dim1/ts":{"dtype":"U8","shape":[6],"data_offsets":[75,81]},` +
		`"dim2/v":{"dtype":"U8","shape":[6],"data_offsets":[81,87]}}    ` +
		"\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00" +
		"\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00" +
		"\x05\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00" +
		"\x07\x08\x09\x01\x02\x03\x04\x05\x06\x03\x00\x03\x04\x05\x02"
	mixedFile = "\x38\x01\x00\x00\x00\x00\x00\x00" +
		`{"dim1/bounds":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},` +
		`"dim0/z":{"dtype":"F32","shape":[2],"data_offsets":[16,24]},` +
		`"dim1/f":{"dtype":"F32","shape":[3],"data_offsets":[24,36]},` +
		`"dim1/i":{"dtype":"I8","shape":[3],"data_offsets":[36,39]},` +
		`"dim0/m":{"dtype":"BOOL","shape":[2],"data_offsets":[39,41]}}       ` +
		"\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00" +
		"\x00\x00\xc0\x3f\x00\x00\x20\x40\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x01\xfe\x03\x01\x00"
)

// TestN63 writes the two files that the description of the format has byte by byte, and reads them,
// and one field of the first.
func TestN63(t *testing.T) {
	tests := []struct {
		name, file string
		made       *joint.Joint
	}{
		{"G1", visitsFile, visits()},
		{"G2", mixedFile, mixed()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := saved(t, tt.made)
			require.Equal(t, tt.file, string(tensor.Must(os.ReadFile(path))))
			require.True(t, tt.made.Equal(open(t, path).Joint))
			require.True(t, tt.made.Equal(tensor.Must(nrt.Read([]byte(tt.file)))))
		})
	}
	f := tensor.Must(nrt.OpenWith(saved(t, visits()), nrt.Options{Keys: []string{"ts"}}))
	defer f.Close()
	require.Equal(t, []string{"ts"}, f.Names())
	require.True(t, f.Equal(tensor.Must(visits().Select("ts"))))
}

// TestN64 writes and reads fields without values, which keep their depths.
func TestN64(t *testing.T) {
	s := tdict.Schema{{Key: "T", DType: tensor.Int64}, {Key: "Z", Kind: tdict.KindRagged, DType: tensor.Int64, Depth: 1}}
	j := tensor.Must(nrt.FromLists(map[string]any{"T": []any{1, 2}, "Z": []any{[]any{}, []any{}}}, s))
	path := saved(t, j)
	require.True(t, j.Equal(open(t, path).Joint))
	require.Contains(t, string(tensor.Must(os.ReadFile(path))), `"dim1/Z":{"dtype":"I64","shape":[0],"data_offsets":[16,16]}`)
}
