package memmap_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestWriterAppendsRaggedRows appends patients one by one and together: what is there is what was
// appended, at each commit, with offsets that are shared.
func TestWriterAppendsRaggedRows(t *testing.T) {
	td := visits(t)
	require.NoError(t, td.Delete("age"))
	dir := filepath.Join(testkit.TempDir(t), "log")
	w, err := memmap.NewWriter(dir, tensor.Must(td.Index(ix.At(0))), memmap.WriterOptions{})
	require.NoError(t, err)
	require.Zero(t, open(t, dir).Shape()[0])
	for first := range 3 {
		require.NoError(t, w.Append(tensor.Must(td.Index(ix.At(first)))))
		require.NoError(t, w.Commit())
		requireSame(t, tensor.Must(td.Index(ix.Range(0, first+1))), open(t, dir).TensorDict)
		requireSound(t, dir)
	}
	require.NoError(t, w.Finish())
	got := open(t, dir).TensorDict
	requireSame(t, td, got)
	requireSound(t, dir)
	saved := saveRows(t, td)
	require.Equal(t, tree(t, saved), tree(t, dir), "as if it had been saved")
}

// TestPythonOpensGrowingRows has Python open the directory at each commit, and when it is finished.
func TestPythonOpensGrowingRows(t *testing.T) {
	const script = `
import sys
from tensordict import TensorDict
td = TensorDict.load_memmap(sys.argv[1]).unflatten_keys()
print(list(td.batch_size), td.get("words").data, "/", td.get(("obs", "tags")).data, td.get("reward").tolist())
`
	dir := filepath.Join(testkit.TempDir(t), "log")
	w := newWriter(t, dir)
	for n := range 3 {
		require.NoError(t, w.Append(rows(t, n)))
		require.NoError(t, w.Commit())
		numbers := []string{"[0.0]", "[0.0, 1.0]", "[0.0, 1.0, 2.0]"}[n]
		require.Equal(t, fmt.Sprintf("[%d] ragged uint8 [* *] / ragged int32 [* * * 2] %s\n", n+1, numbers), python(t, script, dir))
	}
	require.NoError(t, w.Finish())
	require.Equal(t, "[3] ragged uint8 [3 *] / ragged int32 [3 * * 2] [0.0, 1.0, 2.0]\n", python(t, script, dir))
}

// TestRowsCutOtherwise appends rows of which leaves that share offsets are cut otherwise, or that
// are not like the row: nothing is appended.
func TestRowsCutOtherwise(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "log")
	w := newWriter(t, dir)
	words, tags := wordsAndTags(t, 0, 4)
	others, otherTags := wordsAndTags(t, 1, 4)
	tests := []struct {
		name string
		key  nestedkey.Key
		v    tdict.Value
		err  error
		text string
	}{
		{"cut otherwise", "words", others, ragged.ErrLengths, `append "words": it shares offsets with "obs/tags", so both must have equal lengths: lengths differ: level 1, row 0 has length `},
		{"the other cut otherwise", "obs/tags", otherTags, ragged.ErrLengths, `append "words": it shares offsets with "obs/tags", so both must have equal lengths: lengths differ: level 1, row 0 has length `},
		{"another dtype", "words", tensor.Must(words.Cast(tensor.Int8)), tensor.ErrDType, `append "words": dtype mismatch: got int8, want uint8`},
		{"another depth", "words", tags, tensor.ErrDType, `append "words": `},
		{"other features", "obs/tags", tensor.Must(rowsOver(t, tags.Layout(), 3).Cast(tensor.Int32)), shapeops.ErrShape, `append "obs/tags": shape mismatch: got ragged int32 [4 * * 3], want ragged int32 [4 * * 2]`},
		{"a level too few", "words", tensor.Must(ragged.New(tensor.Must(tensor.New(tensor.Uint8, 4)), layoutOf(t, shapeops.Shape{4}))), shapeops.ErrShape, `append "words": shape mismatch: got ragged uint8 [4], want ragged uint8 [4 *]`},
		{"a tensor", "words", tensor.Must(tensor.New(tensor.Uint8, 4)), tdict.ErrKind, `append "words": `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := rows(t, 0, 4)
			require.NoError(t, td.Set(tt.key, tt.v))
			err := w.Append(td)
			require.ErrorIs(t, err, tt.err)
			require.ErrorContains(t, err, tt.text)
			require.Zero(t, w.Len())
		})
	}
	td := rows(t, 0, 4)
	apart, _ := wordsAndTags(t, 0, 4)
	require.NoError(t, td.Set("words", apart), "equal, but another Layout")
	require.NoError(t, w.Append(td))
	require.NoError(t, w.Finish())
	requireSame(t, rows(t, 0, 4), open(t, dir).TensorDict)
}

// TestNewWriterOnOtherRows goes on with a log whose rows are cut otherwise than row, or whose
// meta.json contradicts itself.
func TestNewWriterOnOtherRows(t *testing.T) {
	log := func(t *testing.T, old, new string) string {
		dir := filepath.Join(testkit.TempDir(t), "log")
		w := newWriter(t, dir)
		require.NoError(t, w.Append(rows(t, 0, 4)))
		require.NoError(t, w.Commit())
		require.NoError(t, w.Close())
		text := metaText(t, dir)
		require.Contains(t, text, old)
		write(t, dir, "meta.json", strings.Replace(text, old, new, 1))
		return dir
	}
	deeper := rows(t, 0)
	require.NoError(t, deeper.Set("words", tensor.Must(rowsOver(t, layoutOf(t, nil, []int64{0}, []int64{})).Cast(tensor.Uint8))))
	tests := []struct {
		name, old, new string
		row            *tdict.TensorDict
		err            error
		text           string
	}{
		{"another depth", "", "", deeper, shapeops.ErrShape, ": words: shape mismatch: got ragged uint8 [4 * *], want ragged uint8 [4 *]"},
		{"another number of ragged rows", `"batch":[4]`, `"batch":[5]`, rows(t, 0), memmap.ErrCorrupt, ": obs.tags: corrupt: got shape [5], want 4 rows"},
		{"ragged rows of no batch", `"batch":[4]`, `"batch":[]`, rows(t, 0), memmap.ErrCorrupt, ": obs.tags: corrupt: got shape [], want 4 rows"},
		{"another number of rows", `"shape":[4]`, `"shape":[5]`, rows(t, 0), memmap.ErrCorrupt, ": reward: corrupt: got shape [5], want 4 rows"},
		{"another path", `"path":["reward"]`, `"path":["x"]`, rows(t, 0), tdict.ErrMissing, ": reward: missing key: got an entry that the dataset does not have, want the same entries in the same order"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := memmap.NewWriter(log(t, tt.old, tt.new), tt.row, memmap.WriterOptions{})
			require.ErrorIs(t, err, tt.err)
			require.ErrorContains(t, err, tt.text)
		})
	}
}

// TestSharedOffsetsStayShared goes on with a log, given a row whose leaves share no Layout.
func TestSharedOffsetsStayShared(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "log")
	w := newWriter(t, dir)
	require.NoError(t, w.Append(rows(t, 0, 4)))
	require.NoError(t, w.Commit())
	require.NoError(t, w.Close())
	apart := func(first int, batch ...int) *tdict.TensorDict {
		td := rows(t, 0, batch...)
		words, _ := wordsAndTags(t, first, batch...)
		require.NoError(t, td.Set("words", words))
		return td
	}
	w, err := memmap.NewWriter(dir, apart(0), memmap.WriterOptions{})
	require.NoError(t, err)
	require.ErrorIs(t, w.Append(apart(1, 4)), ragged.ErrLengths)
	require.NoError(t, w.Append(rows(t, 4, 2)))
	require.NoError(t, w.Finish())
	requireSame(t, rows(t, 0, 6), open(t, dir).TensorDict)
}
