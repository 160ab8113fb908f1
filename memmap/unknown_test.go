package memmap_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// later puts native fields that a later version may have into every object of native fields of a
// meta.json, at each depth.
func later(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, "meta.json")
	text := metaText(t, dir)
	text = strings.ReplaceAll(text, `"go":{"v":1`, `"go":{"v":1,"later":{"a":[1,{}]}`)
	text = strings.ReplaceAll(text, `"_go":[{"v":1`, `"_go":[{"v":1,"later":"x"`)
	text = strings.ReplaceAll(text, `"nodes":[{`, `"nodes":[{"later":true,`)
	if !strings.Contains(text, `"_go"`) {
		text = strings.TrimSuffix(text, "}") + `,"_go":[{"v":1,"later":"x"},{"v":1,"also":null}]}`
	}
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
}

// laterFields returns what later has put there, and how often.
func laterFields(t *testing.T, dir string) map[string]int {
	t.Helper()
	text := tensor.Must(os.ReadFile(filepath.Join(dir, "meta.json")))
	require.True(t, json.Valid(text), "%s", text)
	counts := map[string]int{}
	for _, field := range []string{`"later":{"a":[1,{}]}`, `"later":"x"`, `"also":null`, `"later":true`} {
		if n := strings.Count(string(text), field); n > 0 {
			counts[field] = n
		}
	}
	return counts
}

// TestUnknownNativeFieldsStay writes to leaves of a dictionary with native fields of a later
// version.
func TestUnknownNativeFieldsStay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	td := tdict.New(3)
	require.NoError(t, td.Set("x", tensor.Vector[int64](1, 2, 3)))
	require.NoError(t, td.Set("rows", tensor.Must(ragged.From[int64]([][]int64{{1}, {}, {2, 3}}))))
	require.NoError(t, memmap.Save(dir, td))
	later(t, dir)
	want := laterFields(t, dir)
	require.Len(t, want, 3)

	ds := writable(t, dir)
	require.NoError(t, tensor.Must(ds.Tensor("x")).SetIndex(tensor.Scalar[int64](7), ix.At(0)))
	require.Equal(t, want, laterFields(t, dir), "while sums are void")
	require.NoError(t, ds.AddLeaf("more", tensor.Must(tensor.New(tensor.Int8, 3))))
	require.NoError(t, ds.Flush())
	require.Equal(t, want, laterFields(t, dir), "when they are set again")
	require.NoError(t, ds.Close())
	report := tensor.Must(memmap.Verify(t.Context(), dir, memmap.VerifyOptions{}))
	require.Empty(t, report.Unsummed, "all but the new leaf had sums, and it has some too")
}

// TestUnknownNativeFieldsStayWhileItGrows goes on with a log that has native fields of a later
// version.
func TestUnknownNativeFieldsStayWhileItGrows(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	w := newWriter(t, dir)
	require.NoError(t, w.Append(rows(t, 0, 2)))
	require.NoError(t, w.Commit())
	require.NoError(t, w.Close())
	later(t, dir)
	want := laterFields(t, dir)
	require.Len(t, want, 3)
	w = newWriter(t, dir)
	require.NoError(t, w.Append(rows(t, 2, 2)))
	require.NoError(t, w.Commit())
	require.NoError(t, w.Close())
	require.Equal(t, want, laterFields(t, dir))
	requireSame(t, rows(t, 0, 4), open(t, dir).TensorDict)
}
