package memmap_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/pool"
)

// A pythonMeta is a meta.json as Python reads it, with nothing but encoding/json.
type pythonMeta struct {
	dir     string
	fields  map[string]json.RawMessage
	shape   []int
	class   string
	entries map[string]pythonEntry
}

// A pythonEntry is a field whose value is an object.
type pythonEntry struct {
	Type  json.RawMessage
	DType string
	Shape *[]int
	Go    struct {
		Unbatched *[]int
		Shape     *[]int
	}
}

// readPython reads the meta.json of a directory, in which no field comes twice.
func readPython(t *testing.T, dir string) *pythonMeta {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "meta.json"))
	require.NoError(t, err)
	m := &pythonMeta{dir: dir, entries: map[string]pythonEntry{}}
	require.NoError(t, json.Unmarshal(text, &m.fields), "%s", text)
	require.Equal(t, len(m.fields), countFields(t, text), "a field twice: %s", text)
	require.NoError(t, json.Unmarshal(m.fields["_type"], &m.class))
	if m.fields["shape"] != nil {
		require.NoError(t, json.Unmarshal(m.fields["shape"], &m.shape))
	}
	for name, value := range m.fields {
		if value[0] != '{' || m.isData() {
			continue
		}
		var e pythonEntry
		require.NoError(t, json.Unmarshal(value, &e))
		m.entries[name] = e
	}
	return m
}

// countFields returns how many fields a JSON object has, those that come twice counted twice.
func countFields(t *testing.T, text []byte) (n int) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	_, err := d.Token()
	require.NoError(t, err)
	for ; d.More(); n++ {
		_, err := d.Token()
		require.NoError(t, err)
		var value json.RawMessage
		require.NoError(t, d.Decode(&value))
	}
	return n
}

// isData reports whether the directory is no dictionary but a value, which has no entries.
func (m *pythonMeta) isData() bool { return strings.Contains(m.class, "NonTensor") }

// growing reports whether a Writer has not finished it, which Python does not ask.
func (m *pythonMeta) growing() bool { return bytes.Contains(m.fields["_go"], []byte(`"growing":true`)) }

// widths are the bytes of an element.
var widths = map[string]int64{
	"torch.bool": 1, "torch.uint8": 1, "torch.int8": 1, "torch.int16": 2, "torch.float16": 2, "torch.int32": 4,
	"torch.float32": 4, "torch.int64": 8, "torch.uint64": 8, "torch.float64": 8,
}

// encoded returns the name of a file as Python encodes that of a key, slashes left alone.
func encoded(name string) string { return strings.NewReplacer("%", "%25", " ", "%20").Replace(name) }

// requireRules checks that Python can load the directory and those below it: what an entry says of
// itself fits the batch shape, and is there. If exact, files have no byte too many.
func (m *pythonMeta) requireRules(t *testing.T, exact bool) {
	t.Helper()
	if m.isData() {
		require.Contains(t, m.fields, "data")
		return
	}
	require.Contains(t, m.class, "tensordict._td.TensorDict")
	require.Equal(t, byte('['), m.fields["shape"][0])
	if m.fields["_go"] != nil {
		require.Equal(t, byte('['), m.fields["_go"][0], "Python would take an object for an entry")
	}
	for name, e := range m.entries {
		switch {
		case e.Type != nil:
			inner := readPython(t, filepath.Join(m.dir, encoded(name)))
			require.True(t, inner.isData() || begins(inner.shape, m.shape), "%s: %v in %v", name, inner.shape, m.shape)
			inner.requireRules(t, exact)
		case e.DType != "" && e.Shape != nil:
			require.True(t, e.Go.Unbatched != nil || begins(*e.Shape, m.shape), "%s: %v in %v", name, *e.Shape, m.shape)
			m.requireFile(t, name, e, exact)
		default:
			require.Fail(t, "neither a node nor a leaf", name)
		}
	}
}

// begins reports whether a shape begins with the batch shape.
func begins(shape, batch []int) bool {
	return len(shape) >= len(batch) && slices.Equal(shape[:len(batch)], batch)
}

// requireFile checks that the file of a leaf has its bytes. A pool, or lengths below the first
// level, may have more, since it is never truncated.
func (m *pythonMeta) requireFile(t *testing.T, name string, e pythonEntry, exact bool) {
	t.Helper()
	bytes := widths[e.DType]
	require.NotZero(t, bytes, e.DType)
	for _, size := range *e.Shape {
		bytes *= int64(size)
	}
	if bytes == 0 {
		return
	}
	info, err := os.Lstat(filepath.Join(m.dir, encoded(name)+".memmap"))
	require.NoError(t, err, name)
	require.True(t, info.Mode().IsRegular(), name)
	require.GreaterOrEqual(t, info.Size(), bytes, name)
	exact = exact && name != pool.Values && pool.Level(name) < 2
	require.True(t, !exact || info.Size() == bytes, "%s: got %d bytes, want %d", name, info.Size(), bytes)
}
