package memmap_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
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

// TestRowsOfOtherKinds appends ragged rows that are not like the row: nothing is appended.
func TestRowsOfOtherKinds(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "log")
	w := newWriter(t, dir)
	words, tags := wordsAndTags(t, 0, 4)
	tests := []struct {
		name string
		key  nestedkey.Key
		v    tdict.Value
		err  error
		text string
	}{
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
	require.NoError(t, w.Append(rows(t, 0, 4)))
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
		{"another number of ragged rows", `"obs.tags.@row":{"device":"cpu","shape":[4]`, `"obs.tags.@row":{"device":"cpu","shape":[5]`, rows(t, 0), memmap.ErrCorrupt, ": obs.tags: corrupt: @row: shape mismatch: got [5], want a shape that begins with the batch shape [4]"},
		{"ragged rows of no batch", `"obs.tags.@row":{"device":"cpu","shape":[4]`, `"obs.tags.@row":{"device":"cpu","shape":[]`, rows(t, 0), memmap.ErrCorrupt, ": obs.tags: corrupt: @row: shape mismatch: got [], want a shape that begins with"},
		{"a part that is missing", `"words.@row":`, `"words.@other":`, rows(t, 0), memmap.ErrCorrupt, ": words: corrupt: words.@other: got a path that ends in "},
		{"two parts of one path", `"path":["words","@row"]`, `"path":["words","@lengths"]`, rows(t, 0), memmap.ErrCorrupt, ": words: corrupt: "},
		{"values of two dims", `"words.@pool":{"device":"cpu","shape":[4,`, `"words.@pool":{"device":"cpu","shape":[`, rows(t, 0), memmap.ErrCorrupt, ": words: corrupt: @pool: "},
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

// TestNewWriterOnPartsInAnotherOrder: a Writer keeps the order of the entries that it has made, so
// another order is refused, and the dataset can be opened all the same.
func TestNewWriterOnPartsInAnotherOrder(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "log")
	w := newWriter(t, dir)
	require.NoError(t, w.Append(rows(t, 0, 4)))
	require.NoError(t, w.Commit())
	require.NoError(t, w.Close())
	f := readFields(t, dir)
	text := metaText(t, dir)
	lengths, values := `"words.@lengths":`+string(f.raw["words.@lengths"]), `"words.@pool":`+string(f.raw["words.@pool"])
	require.Contains(t, text, lengths+","+values)
	write(t, dir, "meta.json", strings.Replace(text, lengths+","+values, values+","+lengths, 1))
	requireSame(t, rows(t, 0, 4), open(t, dir).TensorDict)
	_, err := memmap.NewWriter(dir, rows(t, 0), memmap.WriterOptions{})
	require.ErrorIs(t, err, tdict.ErrMissing)
	require.ErrorContains(t, err, "want the same entries in the same order")
}

// TestSharedLayoutsMayPart goes on with a log whose leaves shared a Layout: their lengths may
// differ from now on.
func TestSharedLayoutsMayPart(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "log")
	w := newWriter(t, dir)
	require.NoError(t, w.Append(rows(t, 0, 4)))
	require.NoError(t, w.Commit())
	ds := open(t, dir)
	require.Same(t, rowsAt(t, ds.TensorDict, "words").Layout(), rowsAt(t, ds.TensorDict, "obs/tags").Layout().Outer())
	require.NoError(t, w.Close())
	apart := rows(t, 4, 2)
	words, _ := wordsAndTags(t, 1, 2)
	require.NoError(t, apart.Set("words", words))
	w = newWriter(t, dir)
	require.NoError(t, w.Append(apart))
	require.NoError(t, w.Finish())
	requireSame(t, tensor.Must(shapeops.Cat([]*tdict.TensorDict{rows(t, 0, 4), apart}, 0)), open(t, dir).TensorDict)
}

// TestWriterSumsWithoutLevels: an unbatched leaf has sums beside ragged leaves of any depth.
func TestWriterSumsWithoutLevels(t *testing.T) {
	for depth := range 3 {
		dir := filepath.Join(t.TempDir(), "log")
		row := tdict.New()
		for _, key := range []nestedkey.Key{"codes", "more"} { // before and after ragged leaves
			require.NoError(t, row.Set(key+"/first", tensor.Must(tdict.NewUnbatched(tensor.Vector[uint8](1, 2, 3)))))
			for _, name := range []nestedkey.Key{"a", "b"} {
				require.NoError(t, row.Set(key+"/"+name, rowsOver(t, layoutOf(t, shapeops.Shape{}, [][]int64{{1}, {1}}[:depth]...))))
			}
			require.NoError(t, row.Set(key+"/last", tensor.Must(tdict.NewUnbatched(tensor.Vector[uint8](4, 5)))))
		}
		w := tensor.Must(memmap.NewWriter(dir, row, memmap.WriterOptions{}))
		require.NoError(t, w.Append(row))
		require.NoError(t, w.Commit())
		require.Empty(t, tensor.Must(memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})).Unsummed, "%d levels", depth)
		require.NoError(t, w.Close())
	}
}

// TestWriterRefusesForgedParts: in a dataset that grows, no two entries are one part of a ragged
// leaf, whatever their names, and the parts have their own order.
func TestWriterRefusesForgedParts(t *testing.T) {
	row := tdict.New()
	require.NoError(t, row.Set("a/b", rowsOver(t, layoutOf(t, shapeops.Shape{}, []int64{1}))))
	tests := []struct {
		name, old, new string
		err            error
	}{
		{"a part twice", `{"a.b.@lengths"`, `{"z.@pool":{"shape":[1,1],"dtype":"torch.int32","go":{"v":1,"path":["a","b.@pool"]}},"a.b.@lengths"`, memmap.ErrCorrupt},
		{"parts that are exchanged", `["a","b","@lengths"]`, `["a","b","@row"]`, memmap.ErrCorrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(testkit.TempDir(t), "log")
			w := tensor.Must(memmap.NewWriter(dir, row, memmap.WriterOptions{}))
			require.NoError(t, w.Append(row))
			require.NoError(t, w.Commit())
			require.NoError(t, w.Close())
			text := withoutSum(metaText(t, dir))
			require.Contains(t, text, tt.old)
			write(t, dir, "meta.json", strings.Replace(text, tt.old, tt.new, 1))
			write(t, dir, "z.@pool.memmap", "0123")
			require.ErrorIs(t, testkit.Err(memmap.NewWriter(dir, row, memmap.WriterOptions{})), tt.err)
		})
	}
}
