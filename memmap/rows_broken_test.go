package memmap_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/memmap"
)

// brokenRows writes a dictionary of the ragged rows a [2 *] and b [2 * *], of int8, which owns
// offsets 2 and has offsets 1 of a.
func brokenRows(t *testing.T, dir string) {
	t.Helper()
	write(t, dir, "meta.json", `{"b":{"type":"NonTensorData","go":{"v":1,"ragged":{"dtype":"int8","batch":[2],"levels":[{"rows":3,"offsets":["a"]},{"rows":4}]}}},`+
		`"a":{"type":"NonTensorData","go":{"v":1,"ragged":{"dtype":"int8","batch":[2],"levels":[{"rows":3}]}}},`+
		`"n":{"type":"TensorDict"},"shape":[2],`+dictTail)
	write(t, dir, "n/meta.json", `{"shape":[2],`+dictTail)
	write(t, dir, "a/meta.json", dataHead+`"ragged int8 [2 *]"`+dataTail)
	write(t, dir, "a/values.memmap", "012")
	write(t, dir, "a/offsets.1.memmap", int64s(0, 1, 3))
	write(t, dir, "b/meta.json", dataHead+`"ragged int8 [2 * *]"`+dataTail)
	write(t, dir, "b/values.memmap", "0123")
	write(t, dir, "b/offsets.2.memmap", int64s(0, 1, 1, 4))
}

// TestRowsBroken damages a dictionary of ragged rows: Open and Verify say which file it is, at the
// cost of no more memory than the files are large.
func TestRowsBroken(t *testing.T) {
	file := func(name, text string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) { write(t, dir, name, text) }
	}
	meta := func(old, new string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			text := metaText(t, dir)
			require.Contains(t, text, old)
			write(t, dir, "meta.json", strings.Replace(text, old, new, 1))
		}
	}
	const a1, b1, b2 = "a/offsets.1.memmap", `"offsets":["a"]`, "b/offsets.2.memmap"
	tests := []struct {
		name   string
		damage func(t *testing.T, dir string)
		err    error // nil if it opens
		text   string
	}{
		{"nothing", func(*testing.T, string) {}, nil, ""},
		{"files that are longer", file(a1, int64s(0, 1, 3, 7)), nil, ""},
		{"a decrease", file(b2, int64s(0, 2, 1, 4)), memmap.ErrCorrupt, "b/offsets.2.memmap: corrupt: level 2, row 1: bad offsets: got 1 after 2"},
		{"a first offset", file(a1, int64s(1, 1, 3)), memmap.ErrCorrupt, "a/offsets.1.memmap: corrupt: level 1, row 0: bad offsets: got 1, want the first to be 0"},
		{"a wrong end", file(b2, int64s(0, 1, 1, 5)), memmap.ErrCorrupt, "b/offsets.2.memmap: corrupt: level 2: the last row, 2, ends at 5, want 4"},
		{"a negative offset", file(a1, int64s(0, -1, 3)), memmap.ErrCorrupt, "a/offsets.1.memmap: corrupt: level 1, row 0: bad offsets: got -1 after 0"},
		{"a file that is short", file(a1, int64s(0, 1)), memmap.ErrCorrupt, "a/offsets.1.memmap: corrupt: got 16 bytes, want 24"},
		{"a file that is missing", func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, b2))) }, memmap.ErrCorrupt, "b/offsets.2.memmap: corrupt: got nothing, want a file"},
		{"a directory for a file", func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, b2)))
			require.NoError(t, os.Mkdir(filepath.Join(dir, b2), 0o777))
		}, memmap.ErrCorrupt, "b/offsets.2.memmap: corrupt: got a directory, want a file"},
		{"a link for a file", func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, b2)))
			require.NoError(t, os.Symlink("offsets.1.memmap", filepath.Join(dir, b2)))
		}, memmap.ErrCorrupt, "b/offsets.2.memmap: corrupt: got a symbolic link, want a file"},
		{"values that are short", file("b/values.memmap", "012"), memmap.ErrCorrupt, "b/values.memmap: corrupt: got 3 bytes, want 4"},
		{"no directory", func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(filepath.Join(dir, "b"))) }, memmap.ErrCorrupt, "b: corrupt: got nothing, want a directory"},
		{"no meta.json", func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "b/meta.json"))) }, memmap.ErrCorrupt, "b/meta.json: corrupt: "},
		{"another kind of node", file("b/meta.json", `{"shape":[2],`+dictTail), memmap.ErrCorrupt, `b/meta.json: corrupt: got a "TensorDict", want a NonTensorData with the value "ragged int8 [2 * *]"`},
		{"other data", file("b/meta.json", dataHead+`"ragged int8 [3 * *]"`+dataTail), memmap.ErrCorrupt, `b/meta.json: corrupt: got the data `},
		{"data that is pickled", file("b/meta.json", `{"_type":"<class 'tensordict.tensorclass.NonTensorData'>"}`), memmap.ErrCorrupt, `b/meta.json: corrupt: got a "NonTensorData"`},

		{"offsets of itself", meta(b1, `"offsets":["b"]`), memmap.ErrCorrupt, `meta.json: corrupt: level 1 refers to the offsets of "b", which does not store them (entry "b")`},
		{"offsets in a circle", meta(`"batch":[2],"levels":[{"rows":3}]`, `"batch":[2],"levels":[{"rows":3,"offsets":["b"]}]`), memmap.ErrCorrupt, `meta.json: corrupt: level 1 refers to the offsets of "a", which does not store them`},
		{"offsets of nobody", meta(b1, `"offsets":["x"]`), memmap.ErrCorrupt, `level 1 refers to the offsets of "x", which is missing (entry "b")`},
		{"offsets of nobody below", meta(b1, `"offsets":["n","x"]`), memmap.ErrCorrupt, `meta.json: corrupt: level 1 refers to the offsets of "n/x": `},
		{"offsets of a dictionary", meta(b1, `"offsets":["n"]`), memmap.ErrCorrupt, `meta.json: corrupt: level 1 refers to the offsets of "n", which does not store them`},
		{"offsets below a leaf", meta(b1, `"offsets":["a","x"]`), memmap.ErrCorrupt, `level 1 refers to the offsets of "a/x", which is not in a dictionary`},
		{"offsets outside", meta(b1, `"offsets":["..","a"]`), memmap.ErrCorrupt, `level 1 refers to the offsets of "../a", which is missing`},
		{"offsets at a path", meta(b1, `"offsets":["../a"]`), memmap.ErrCorrupt, `which is missing`},
		{"offsets of a level that is not there", meta(`{"rows":4}`, `{"rows":4,"offsets":["a"]}`), memmap.ErrCorrupt, `level 2 refers to the offsets of "a", which does not store them`},
		{"offsets of another batch", func(t *testing.T, dir string) {
			meta(`"batch":[2],"levels":[{"rows":3,`, `"batch":[2,1],"levels":[{"rows":3,`)(t, dir)
			write(t, dir, "b/meta.json", dataHead+`"ragged int8 [2 1 * *]"`+dataTail)
		}, memmap.ErrCorrupt, `level 1 shares the offsets of "a", but the outer levels of the two differ`},
		{"offsets of other rows", meta(`[{"rows":3,`, `[{"rows":2,`), memmap.ErrCorrupt, `level 1 shares the offsets of "a": got 3 rows, want 2`},
		{"a wrong sum", meta(`[{"rows":3}]`, `[{"rows":3,"sums":["00000000"]}]`), memmap.ErrCorrupt, "a/offsets.1.memmap: corrupt: changed or damaged: got CRC-32C "},
		{"too many sums", meta(`[{"rows":3}]`, `[{"rows":3,"sums":["00000000","00000000"]}]`), memmap.ErrCorrupt, "a/offsets.1.memmap: corrupt: got 2 checksums, want 1"},

		{"rows that cannot be counted", meta(`{"rows":4}`, `{"rows":9223372036854775807,"offsets":[]},{"rows":4}`), memmap.ErrCorrupt, "b/"},
		{"a batch beyond the file", meta(`"batch":[2],"levels":[{"rows":3}]`, `"batch":[2305843009213693952],"levels":[{"rows":3}]`), memmap.ErrCorrupt, ""},
		{"more rows than a file has", meta(`"batch":[2],"levels":[{"rows":3}]`, `"batch":[1099511627776],"levels":[{"rows":3}]`), memmap.ErrCorrupt, ""},
		{"more values than a file has", meta(`{"rows":4}`, `{"rows":1099511627776}`), memmap.ErrCorrupt, "b/offsets.2.memmap: corrupt: level 2: the last row, 2, ends at 4, want 1099511627776"},
		{"features that cannot be counted", meta(`"batch":[2],"levels":[{"rows":3}]`, `"batch":[2],"features":[4611686018427387904],"levels":[{"rows":3}]`), memmap.ErrCorrupt, `(entry "a")`},
		{"too many dims", meta(`"batch":[2],"levels":[{"rows":3}]`, `"batch":[2],"features":[1`+strings.Repeat(",1", 62)+`],"levels":[{"rows":3}]`), memmap.ErrCorrupt, `(entry "a")`},
		{"too many levels", meta(`{"rows":4}`, `{"rows":4}`+strings.Repeat(`,{"rows":4}`, 70)), memmap.ErrCorrupt, "meta.json: corrupt: a ragged tensor of more than 64 levels"},
		{"negative rows", meta(`{"rows":4}`, `{"rows":-1}`), memmap.ErrCorrupt, "meta.json: corrupt: got -1 rows"},
		{"no dtype", meta(`"dtype":"int8",`, ``), memmap.ErrCorrupt, "meta.json: corrupt: a ragged tensor without a dtype"},
		{"a dtype that is none", meta(`"dtype":"int8"`, `"dtype":"int9"`), memmap.ErrCorrupt, `meta.json: corrupt: there is no dtype "int9"`},
		{"no levels", meta(`"levels":[{"rows":3}]`, `"levels":[]`), memmap.ErrCorrupt, ""},
		{"facts that are no object", meta(`"ragged":{"dtype":"int8","batch":[2],"levels":[{"rows":3}]}`, `"ragged":[]`), memmap.ErrCorrupt, "meta.json: corrupt: "},
		{"a batch that does not fit", meta(`"n":{"type":"TensorDict"},"shape":[2]`, `"n":{"type":"TensorDict"},"shape":[2,2]`), memmap.ErrCorrupt, "meta.json: corrupt: set "},
		{"a dictionary that grows", meta(`"shape":[2]`, `"_go":[{"v":1,"growing":true}],"shape":[2]`), memmap.ErrCorrupt, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := testkit.TempDir(t)
			brokenRows(t, dir)
			tt.damage(t, dir)
			live := mapping.Live()
			for _, opt := range []memmap.OpenOptions{{}, {Writable: true}} {
				var ds *memmap.Dataset
				var err error
				testkit.MaxBytes(t, 1<<20, func() { ds, err = memmap.OpenWith(dir, opt) })
				if tt.err == nil {
					require.NoError(t, err)
					require.NoError(t, ds.Close())
					continue
				}
				if tt.name == "a dictionary that grows" && opt.Writable {
					continue
				}
				require.ErrorIs(t, err, tt.err)
				require.ErrorContains(t, err, tt.text)
				_, ok := errors.AsType[*memmap.FileError](err)
				require.True(t, ok, "%T", err)
			}
			report, err := memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})
			require.ErrorIs(t, err, tt.err)
			if tt.err != nil && tt.name != "a dictionary that grows" {
				require.NoError(t, testkit.Err(faultOf(report, tt.err, "")))
			}
			require.Equal(t, live, mapping.Live())
		})
	}
}

// TestRowsOffsetsAreBounded: offsets are read into memory, so a file with holes could want all of
// it.
func TestRowsOffsetsAreBounded(t *testing.T) {
	dir := testkit.TempDir(t)
	const rows = 1 << 32
	write(t, dir, "meta.json", fmt.Sprintf(`{"a":{"type":"NonTensorData","go":{"v":1,"ragged":{"dtype":"int8","batch":[%d],"levels":[{"rows":0}]}}},"shape":[],`, rows)+dictTail)
	write(t, dir, "a/meta.json", dataHead+fmt.Sprintf(`"ragged int8 [%d *]"`, rows)+dataTail)
	write(t, dir, "a/offsets.1.memmap", "")
	require.NoError(t, os.Truncate(filepath.Join(dir, "a/offsets.1.memmap"), 8*rows+8))
	testkit.MaxBytes(t, 1<<20, func() {
		_, err := memmap.Open(dir)
		require.ErrorIs(t, err, memmap.ErrUnsupported)
		require.ErrorContains(t, err, "a/offsets.1.memmap: unsupported: got 34359738376 bytes of offsets of ragged tensors, want at most 1073741824: raise MaxCopy")
	})
}
