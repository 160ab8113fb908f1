package memmap_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// brokenRows writes a dictionary of the ragged rows a [2 *] and b [2 * *], of int8, and a flat one
// in n, whose entry c is [2 *].
func brokenRows(t *testing.T, dir string) {
	t.Helper()
	part := func(name, shape, dtype string) string {
		return `"` + name + `":{"device":"cpu","shape":` + shape + `,"dtype":"torch.` + dtype + `","is_nested":false},`
	}
	write(t, dir, "meta.json", `{"b":{"type":"TensorDict"},"a":{"type":"TensorDict"},"n":{"type":"TensorDict"},"shape":[2],`+dictTail)
	write(t, dir, "a/meta.json", `{`+part("@lengths", "[2]", "int64")+part("@pool", "[2,2]", "int8")+part("@row", "[2]", "int64")+`"shape":[2],`+dictTail)
	write(t, dir, "a/@lengths.memmap", int64s(1, 2))
	write(t, dir, "a/@pool.memmap", "0123")
	write(t, dir, "a/@row.memmap", int64s(0, 1))
	write(t, dir, "b/meta.json", `{`+part("@row", "[2]", "int64")+part("@pool", "[2,2]", "int8")+part("@lengths2", "[2,2]", "int64")+part("@lengths", "[2]", "int64")+`"shape":[2],`+dictTail)
	write(t, dir, "b/@lengths.memmap", int64s(1, 2))
	write(t, dir, "b/@lengths2.memmap", int64s(1, 0, 3, -1))
	write(t, dir, "b/@pool.memmap", "0123")
	write(t, dir, "b/@row.memmap", int64s(5<<32, 5<<32+1))
	write(t, dir, "n/meta.json", `{`+part("c.@lengths", "[2]", "int64")+part("c.@pool", "[2,1]", "int8")+part("x", "[2]", "int8")+part("c.@row", "[2]", "int64")+`"shape":[2],`+dictTail)
	write(t, dir, "n/c.@lengths.memmap", int64s(0, 1))
	write(t, dir, "n/c.@pool.memmap", "01")
	write(t, dir, "n/x.memmap", "01")
	write(t, dir, "n/c.@row.memmap", int64s(0, 1))
}

// TestRowsBroken damages a dictionary of ragged rows: Open and Verify say which file it is, at the
// cost of no more memory than the files are large.
func TestRowsBroken(t *testing.T) {
	file := func(name, text string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) { write(t, dir, name, text) }
	}
	meta := func(node, old, new string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			text := metaText(t, filepath.Join(dir, node))
			require.Contains(t, text, old)
			write(t, dir, node+"/meta.json", strings.Replace(text, old, new, 1))
		}
	}
	remove := func(name string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(filepath.Join(dir, name))) }
	}
	const shape, aRow, pool = `"shape":[2]`, `"@row":{"device":"cpu","shape":[2]`, `"@pool":{"device":"cpu","shape":[2,2]`
	const lengths, lengths2 = `"@lengths":{"device":"cpu","shape":[2]`, `"@lengths2":{"device":"cpu","shape":[2,2]`
	const picked = ": Python picked, joined or changed rows of the pool, which holds all values end to end: unpack first, see docs/from-python.md"
	tests := []struct {
		name   string
		damage func(t *testing.T, dir string)
		text   string // "" if it opens
	}{
		{"nothing", func(*testing.T, string) {}, ""},
		{"files that are longer", file("a/@lengths.memmap", int64s(1, 2, 7)), ""},
		{"a pool without what follows its values", file("a/@pool.memmap", "012"), ""},
		{"a dictionary of fewer batch dims, as by to_dict", meta("a", `false},"shape":[2]`, `false},"shape":[]`), ""},
		{"no tag", file("b/@row.memmap", int64s(0, 1)), ""},
		{"the largest tag", file("b/@row.memmap", int64s(1<<63-1<<32, 1<<63-1<<32+1)), ""},

		{"a negative length", file("b/@lengths2.memmap", int64s(1, -1, 3, 0)), "b: corrupt: @lengths2: row 1: lengths differ: got -1 after 1 values, want 0 or more"},
		{"lengths that overflow", file("a/@lengths.memmap", int64s(1, 1<<63-1)), "a: corrupt: @lengths: row 1: lengths differ: got 9223372036854775807 after 1 values"},
		{"a longer row", file("a/@lengths.memmap", int64s(1, 4)), "a: corrupt: @pool: got the width 2, want 3 for 5 in 2 rows" + picked},
		{"a shorter row", file("a/@lengths.memmap", int64s(1, 1)), "a: corrupt: @pool: got the width 2, want 1 for 2 in 2 rows" + picked},
		{"a width at level 2", file("b/@lengths.memmap", int64s(1, 0)), "b: corrupt: @lengths2: got the width 2, want 1 for 1 in 2 rows" + picked},
		{"rows that were swapped", file("b/@row.memmap", int64s(5<<32+1, 5<<32)), "b: corrupt: row 0 is row 1 of the saved leaf" + picked},
		{"a row that was assigned", file("a/@row.memmap", int64s(0, 0)), "a: corrupt: row 1 is row 0 of the saved leaf" + picked},
		{"a row of another leaf", file("b/@row.memmap", int64s(5<<32, 6<<32+1)), "b: corrupt: row 1 is row 1 of another saved leaf" + picked},
		{"row numbers + 1", file("a/@row.memmap", int64s(1, 2)), "a: corrupt: row 0 is row 1 of the saved leaf" + picked},
		{"zeros", file("b/@row.memmap", int64s(0, 0)), "b: corrupt: row 1 is row 0 of the saved leaf" + picked},
		{"a tag of 32 bits", file("b/@row.memmap", int64s(-1<<63, -1<<63+1)), "b: corrupt: row 0 is row 0 of the saved leaf" + picked},
		{"a row in a flat dictionary", file("n/c.@row.memmap", int64s(3, 4)), "n/c: corrupt: row 0 is row 3 of the saved leaf" + picked},

		{"lengths that are short", file("a/@lengths.memmap", int64s(1)), "a/@lengths.memmap: corrupt: got 8 bytes, want 16"},
		{"lengths that are missing", remove("b/@lengths2.memmap"), "b/@lengths2.memmap: corrupt: got nothing, want a file"},
		{"rows that are missing", remove("b/@row.memmap"), "b/@row.memmap: corrupt: got nothing, want a file"},
		{"values that are missing", remove("a/@pool.memmap"), "a/@pool.memmap: corrupt: got nothing, want a file"},
		{"values that are short", file("b/@pool.memmap", "012"), "b/@pool.memmap: corrupt: got 3 bytes, want 4"},
		{"a directory for a file", func(t *testing.T, dir string) {
			remove("b/@lengths.memmap")(t, dir)
			require.NoError(t, os.Mkdir(filepath.Join(dir, "b/@lengths.memmap"), 0o777))
		}, "b/@lengths.memmap: corrupt: got a directory, want a file"},
		{"a link for a file", func(t *testing.T, dir string) {
			remove("b/@lengths.memmap")(t, dir)
			require.NoError(t, os.Symlink("@lengths2.memmap", filepath.Join(dir, "b/@lengths.memmap")))
		}, "b/@lengths.memmap: corrupt: got a symbolic link, want a file"},
		{"no directory", remove("b"), "b: corrupt: got nothing, want a directory"},
		{"no meta.json", remove("b/meta.json"), "b/meta.json: corrupt: "},

		{"no lengths", meta("a", `"@lengths"`, `"x"`), "a: corrupt: a ragged tensor without @lengths"},
		{"no values", meta("a", `"@pool"`, `"x"`), "a: corrupt: a ragged tensor without @pool"},
		{"no rows", meta("a", `"@row"`, `"x"`), "a: corrupt: a ragged tensor without @row"},
		{"a level too few", meta("b", `"@lengths"`, `"@lengths3"`), "b: corrupt: a ragged tensor without @lengths"},
		{"a level too many", meta("b", `"@lengths2"`, `"@lengths3"`), `b: corrupt: a ragged tensor with a further entry "@lengths3"`},
		{"a further entry", meta("a", `{"@lengths"`, `{"x":{"shape":[2],"dtype":"torch.int8"},"@lengths"`), `a: corrupt: a ragged tensor with a further entry "x"`},
		{"a further dictionary", meta("a", `{"@lengths"`, `{"x":{"type":"TensorDict"},"@lengths"`), "a: corrupt: x: got another kind of entry, want a tensor"},
		{"a part that is a dictionary", meta("a", `"@row":{"device":"cpu","shape":[2],"dtype":"torch.int64","is_nested":false}`, `"@row":{"type":"TensorDict"}`), "a: corrupt: @row: got another kind of entry, want a tensor"},
		{"a part that is nested", meta("a", `"is_nested":false`, `"is_nested":true`), "a: corrupt: @lengths: got another kind of entry, want a tensor"},
		{"too many dims", meta("a", pool, `"@pool":{"device":"cpu","shape":[2,2`+strings.Repeat(",1", 63)+`]`), "a/meta.json: corrupt: "},
		{"too many levels", func(t *testing.T, dir string) {
			b := `{"@lengths":{"shape":[2],"dtype":"torch.int64"},"@pool":{"shape":[2,0],"dtype":"torch.int8"},"@row":{"shape":[2],"dtype":"torch.int64"},`
			for level := 2; level <= 64; level++ {
				b += fmt.Sprintf(`"@lengths%d":{"shape":[2,0],"dtype":"torch.int64"},`, level)
			}
			write(t, dir, "a/meta.json", b+`"shape":[2],`+dictTail)
		}, "a: corrupt: shape mismatch: got a ragged tensor of 65 dims, want at most 64"},
		{"a flat part that is missing", meta("n", `"c.@row"`, `"c.@rows"`), "n/c: corrupt: a ragged tensor without @row"},
		{"a leaf of the same key", func(t *testing.T, dir string) {
			meta("n", `"x":`, `"c":`)(t, dir)
			write(t, dir, "n/c.memmap", "01")
		}, `n/meta.json: corrupt: two entries are "c"`},
		{"a dictionary of the same key", func(t *testing.T, dir string) {
			meta("n", `{"c.@lengths"`, `{"c":{"type":"TensorDict"},"c.@lengths"`)(t, dir)
			write(t, dir, "n/c/meta.json", `{"shape":[2],`+dictTail)
		}, `n/meta.json: corrupt: two entries are "c"`},
		{"rows as floats", meta("a", aRow+`,"dtype":"torch.int64"`, aRow+`,"dtype":"torch.float32"`), "a: corrupt: @row: dtype mismatch: got float32, want int64"},
		{"lengths of 32 bits", meta("b", lengths2+`,"dtype":"torch.int64"`, lengths2+`,"dtype":"torch.int32"`), "b: corrupt: @lengths2: dtype mismatch: got int32, want int64"},
		{"a dtype that is none", meta("a", "torch.int8", "torch.int9"), `a: @pool: corrupt: there is no dtype "torch.int9"`},
		{"a batch that does not fit", meta("a", aRow, `"@row":{"device":"cpu","shape":[3]`), "a: corrupt: @row: shape mismatch: got [3], want a shape that begins with the batch shape [2]"},
		{"a batch that does not fit around it", meta("", `"n":{"type":"TensorDict"},"shape":[2]`, `"n":{"type":"TensorDict"},"shape":[2,2]`), "meta.json: corrupt: set "},
		{"lengths of another shape", meta("b", lengths, `"@lengths":{"device":"cpu","shape":[2,1]`), "b: corrupt: @lengths: shape mismatch: got [2 1], want [2] as @row"},
		{"values of another batch", meta("a", pool, `"@pool":{"device":"cpu","shape":[3,2]`), "a: corrupt: @pool: shape mismatch: got [3 2], want [2] and one dim more"},
		{"values without a width", meta("a", pool, `"@pool":{"device":"cpu","shape":[2]`), "a: corrupt: @pool: shape mismatch: got [2], want [2] and one dim more"},
		{"lengths with features", meta("b", lengths2, `"@lengths2":{"device":"cpu","shape":[2,2,1]`), "b: corrupt: @lengths2: shape mismatch: got [2 2 1], want [2] and one dim more"},
		{"a larger width", meta("a", pool, `"@pool":{"device":"cpu","shape":[2,3]`), "a: corrupt: @pool: got the width 3, want 2 for 3 in 2 rows" + picked},
		{"features that cannot be counted", meta("a", pool, `"@pool":{"device":"cpu","shape":[2,2,4611686018427387904]`), "a/meta.json: corrupt: "},
		{"elements that cannot be counted", meta("b", lengths2, `"@lengths2":{"device":"cpu","shape":[2,2305843009213693952]`), "b: corrupt: @lengths2: shape mismatch: got int64 [2 2305843009213693952], want a size in bytes that an int holds"},
		{"more values than a file has", func(t *testing.T, dir string) {
			write(t, dir, "a/@lengths.memmap", int64s(0, 1<<40))
			meta("a", pool, `"@pool":{"device":"cpu","shape":[2,549755813888]`)(t, dir)
		}, "a/@pool.memmap: corrupt: got 4 bytes, want 1099511627776"},
		{"more rows than a file has", func(t *testing.T, dir string) {
			text := metaText(t, filepath.Join(dir, "a"))
			write(t, dir, "a/meta.json", strings.ReplaceAll(strings.Replace(text, `"@pool":{"device":"cpu","shape":[2,2]`, `"@pool":{"device":"cpu","shape":[1073741824,0]`, 1), shape, `"shape":[1073741824]`))
		}, "a/@row.memmap: corrupt: got 16 bytes, want 8589934592"},
		{"more lengths than a file has", func(t *testing.T, dir string) {
			write(t, dir, "b/@lengths.memmap", int64s(0, 1<<40))
			meta("b", lengths2, `"@lengths2":{"device":"cpu","shape":[2,549755813888]`)(t, dir)
		}, "b/@lengths2.memmap: corrupt: got 32 bytes, want 8796093022208"},
		{"a wrong sum", meta("a", lengths+`,"dtype":"torch.int64","is_nested":false`, lengths+`,"dtype":"torch.int64","is_nested":false,"go":{"v":1,"sums":["00000000"]}`), "a/@lengths.memmap: corrupt: changed or damaged: got CRC-32C "},
		{"a damaged row number", func(t *testing.T, dir string) {
			meta("a", aRow+`,"dtype":"torch.int64","is_nested":false`, aRow+`,"dtype":"torch.int64","is_nested":false,"go":{"v":1,"sums":["00000000"]}`)(t, dir)
			write(t, dir, "a/@row.memmap", int64s(0, 3))
		}, "a/@row.memmap: corrupt: changed or damaged: got CRC-32C "},
		{"a damaged length", func(t *testing.T, dir string) {
			meta("a", lengths+`,"dtype":"torch.int64","is_nested":false`, lengths+`,"dtype":"torch.int64","is_nested":false,"go":{"v":1,"sums":["00000000"]}`)(t, dir)
			write(t, dir, "a/@lengths.memmap", int64s(1, -2))
		}, "a/@lengths.memmap: corrupt: changed or damaged: got CRC-32C "},
		{"a damaged tag of the only row", func(t *testing.T, dir string) {
			write(t, dir, "meta.json", `{"a":{"type":"TensorDict"},"shape":[1],`+dictTail)
			write(t, dir, "a/meta.json", `{"@lengths":{"shape":[1],"dtype":"torch.int64"},"@pool":{"shape":[1,1],"dtype":"torch.int8"},"@row":{"shape":[1],"dtype":"torch.int64","go":{"v":1,"sums":["00000000"]}},"shape":[1],`+dictTail)
			write(t, dir, "a/@lengths.memmap", int64s(1))
			write(t, dir, "a/@row.memmap", int64s(7<<32))
		}, "a/@row.memmap: corrupt: changed or damaged: got CRC-32C "},
		{"too many sums", meta("b", lengths2+`,"dtype":"torch.int64","is_nested":false`, lengths2+`,"dtype":"torch.int64","is_nested":false,"go":{"v":1,"sums":["00000000","00000000"]}`), "b/@lengths2.memmap: corrupt: got 2 checksums, want 1"},
		{"lengths that are unbatched", meta("a", lengths+`,"dtype":"torch.int64","is_nested":false`, lengths+`,"dtype":"torch.int64","is_nested":false,"go":{"v":1,"unbatched":[2]}`), "a: corrupt: @lengths: got another kind of entry"},
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
				if tt.text == "" {
					require.NoError(t, err)
					require.Equal(t, "[[48] [49 50]]", fmt.Sprint(tensor.Must(ragged.Lists[int8](rowsAt(t, ds.TensorDict, "a")))))
					require.Equal(t, "[[[48]] [[] [49 50 51]]]", fmt.Sprint(tensor.Must(ragged.Lists[int8](rowsAt(t, ds.TensorDict, "b")))))
					require.Equal(t, "[[] [48]]", fmt.Sprint(tensor.Must(ragged.Lists[int8](rowsAt(t, ds.TensorDict, "n/c")))))
					require.NoError(t, ds.Close())
					continue
				}
				require.ErrorIs(t, err, memmap.ErrCorrupt)
				require.ErrorContains(t, err, dir+": "+tt.text)
				_, ok := errors.AsType[*memmap.DatasetError](err)
				require.True(t, ok, "%T", err)
			}
			report, err := memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})
			if tt.text == "" {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, memmap.ErrCorrupt)
				require.NoError(t, testkit.Err(damageOf(report, memmap.ErrCorrupt, "")))
			}
			require.Equal(t, live, mapping.Live())
		})
	}
}

// TestRowsLengthsAreBounded: lengths are read into memory, so a file with holes could want all of
// it.
func TestRowsLengthsAreBounded(t *testing.T) {
	dir := testkit.TempDir(t)
	const rows = 1 << 28
	text := strings.ReplaceAll(`{"@lengths":{"shape":[N],"dtype":"torch.int64"},"@pool":{"shape":[N,0],"dtype":"torch.int8"},"@row":{"shape":[N],"dtype":"torch.int64"},"shape":[],`+dictTail, "N", fmt.Sprint(rows))
	write(t, dir, "meta.json", `{"a":{"type":"TensorDict"},"shape":[],`+dictTail)
	write(t, dir, "a/meta.json", text)
	write(t, dir, "a/@lengths.memmap", "")
	require.NoError(t, os.Truncate(filepath.Join(dir, "a/@lengths.memmap"), 8*rows))
	var b bytes.Buffer
	rows16 := tensor.Must(ragged.New(tensor.Must(tensor.Zeros[int8](1<<16)), tensor.Must(ragged.NewLayout(shapeops.Shape{1 << 16}))))
	require.NoError(t, pool.Write(&b, pool.Row, rows16, 0, 0))
	write(t, dir, "a/@row.memmap", b.String())
	require.NoError(t, os.Truncate(filepath.Join(dir, "a/@row.memmap"), 8*rows))
	testkit.MaxBytes(t, 1<<20, func() {
		_, err := memmap.Open(dir)
		require.ErrorIs(t, err, memmap.ErrCorrupt)
		require.ErrorContains(t, err, "a: corrupt: row 65536 is row 0 of the saved leaf")
	})
	write(t, dir, "a/meta.json", strings.ReplaceAll(text, fmt.Sprint(rows), "65536"))
	_, err := memmap.OpenWith(dir, memmap.OpenOptions{MaxCopy: 8<<16 - 1})
	require.ErrorIs(t, err, memmap.ErrUnsupported)
	require.ErrorContains(t, err, "a/@lengths.memmap: unsupported: got 524288 bytes of lengths of ragged tensors, want at most 524287: raise MaxCopy")
	require.NoError(t, testkit.Err(memmap.OpenWith(dir, memmap.OpenOptions{MaxCopy: 8 << 16})))
}
