package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/datajson"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/nestedkey"
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
		found := tensor.Must(filepath.Glob(filepath.Join(dir, "st*", "data.safetensors")))
		require.True(t, len(found) > 0 || dir != dirs[0], dir)
		for _, file := range found {
			all = append(all, filepath.Dir(file))
		}
	}
	return all
}

// expected is what the original loads.
type expected struct {
	Root struct {
		Metadata map[string]string
		Order    []string
		Tensors  map[string]struct {
			DType string
			Shape []int
			Hex   string
		}
	}
}

// TestGolden opens each file of the original, and writes it again.
func TestGolden(t *testing.T) {
	for _, folder := range golden(t) {
		t.Run(filepath.Base(folder), func(t *testing.T) { checkGolden(t, folder) })
	}
}

func checkGolden(t *testing.T, folder string) {
	path := filepath.Join(folder, "data.safetensors")
	text := bytes.ReplaceAll(tensor.Must(os.ReadFile(filepath.Join(folder, "expected.json"))), []byte("NaN"), []byte("null"))
	var want expected
	require.NoError(t, json.Unmarshal(text, &want))

	f := tensor.Must(safetensors.OpenWith(path, safetensors.Options{RawFloat8: true, Metadata: "__metadata__"}))
	defer f.Close()
	require.True(t, f.Locked())
	var names []string
	for key, x := range f.Tensors() {
		name := strings.Join(slices.Collect(key.Parts()), ".")
		names = append(names, name)
		w := want.Root.Tensors[name]
		require.Equal(t, w.Shape, []int(x.Shape()), name)
		require.Equal(t, w.Hex, hex.EncodeToString(testkit.Content(t, x)), name)
		if !strings.HasPrefix(w.DType, "float8") {
			require.Equal(t, w.DType, x.DType().String(), name)
		}
	}
	require.Equal(t, want.Root.Order, names)
	metadata := stringsOf(t, f.TensorDict, "__metadata__")
	require.Equal(t, want.Root.Metadata, metadata)
	if strings.Contains(string(text), "float8") {
		_, err := safetensors.Open(path)
		require.ErrorIs(t, err, safetensors.ErrUnsupported)
		require.ErrorContains(t, err, "set RawFloat8 to open its bytes as uint8")
		return
	}
	copied := filepath.Join(t.TempDir(), "x")
	opt := safetensors.SaveOptions{Metadata: metadata, SkipOthers: true}
	require.NoError(t, safetensors.SaveWith(t.Context(), copied, f.TensorDict, opt))
	require.Equal(t, unordered(t, tensor.Must(os.ReadFile(path))), unordered(t, tensor.Must(os.ReadFile(copied))))
}

// unordered returns the text of a file with the pairs of its __metadata__ sorted: the original
// writes them in any order.
func unordered(t *testing.T, file []byte) string {
	t.Helper()
	var header map[string]json.RawMessage
	n := 8 + binary.LittleEndian.Uint64(file)
	require.NoError(t, json.Unmarshal(file[8:n], &header))
	raw, ok := header["__metadata__"]
	if !ok {
		return string(file)
	}
	var pairs map[string]string
	require.NoError(t, json.Unmarshal(raw, &pairs))
	sorted, err := json.Marshal(pairs)
	require.NoError(t, err)
	return strings.Replace(string(file), string(raw), string(sorted), 1)
}

// stringsOf returns the strings of the object under key, nil if there are none.
func stringsOf(t testing.TB, td *tdict.TensorDict, key nestedkey.Key) map[string]string {
	data := tensor.Must(tdict.Get[*tdict.Data](td, key))
	object, ok := datajson.Shared(data) // there may be no row
	require.True(t, ok || data.Shape().Size() == 0)
	var all map[string]string
	for name, text := range object.(*tdict.Object).All() {
		if all == nil {
			all = map[string]string{}
		}
		all[name] = text.(string)
	}
	return all
}

// A textError is an error with another text.
type textError struct {
	error
	text string
}

func (e textError) Error() string { return e.text }
func (e textError) Unwrap() error { return e.error }

// texted returns err with a text that has PATH for a path.
func texted(err error, path string) error {
	return textError{err, strings.ReplaceAll(err.Error(), path, "PATH")}
}
