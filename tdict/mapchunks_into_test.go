package tdict_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// doubled returns the sum of a chunk's leaf "d/x" and itself, under a key of its own.
func doubled(_ context.Context, chunk dictionary) (dictionary, error) {
	x, err := chunk.Tensor("d/x")
	if err != nil {
		return nil, err
	}
	y, err := tensor.Map(x, func(v int64) float64 { return 2 * float64(v) })
	if err != nil {
		return nil, err
	}
	out := tdict.New(chunk.Shape()...)
	return out, out.Set("d/y", y)
}

// Results go to the rows of their chunks, along any dim; keys that they lack stay.
func TestMapChunksInto(t *testing.T) {
	for _, batch := range [][]int{{7}, {2, 5}, {3, 4, 2}, {0, 2}} {
		for dim := range batch {
			for _, workers := range []int{1, 4} {
				in := rowTable(dim, batch...)
				into := dict(batch, entry{"d/y", tensor.Must(tensor.New(tensor.Float64, append(slices.Clone(batch), 2)...))}, entry{"kept", count(batch...)})
				into.Lock()
				got, err := tdict.MapChunks(t.Context(), in, doubled, tdict.MapChunksOptions{Dim: dim - len(batch), ChunkSize: 2, Workers: workers, Into: into})
				require.NoError(t, err)
				require.True(t, got == into, "the destination itself")
				want := []float64{}
				for _, v := range values(t, in, "d/x") {
					want = append(want, 2*float64(v))
				}
				require.Equal(t, want, testkit.Elements[float64](t, tensor.Must(into.Tensor("d/y"))))
				require.True(t, tensor.Must(into.Tensor("kept")).Equal(count(batch...)))
			}
		}
	}
}

// The dictionary that is cut may be the destination, with leaves of other kinds too; rows for which
// fn returns nil stay.
func TestMapChunksIntoItself(t *testing.T) {
	for _, workers := range []int{1, 4} {
		const n = 40
		names := make([]any, n)
		for i := range names {
			names[i] = fmt.Sprint("row ", i)
		}
		in := rowTable(0, n)
		require.NoError(t, in.Set("name", tensor.Must(tdict.DataFrom(names, n))))
		require.NoError(t, in.Set("d/w", unbatched(count(2))))
		_, err := tdict.MapChunks(t.Context(), in, func(_ context.Context, chunk dictionary) (dictionary, error) {
			row := rowNumbers(t, chunk, 0)[0]
			if row == 4 {
				return nil, nil
			}
			return chunk, chunk.SetIndex(dict(nil, entry{"row", tensor.Scalar(int64(-row))}, entry{"name", data(row)}))
		}, tdict.MapChunksOptions{ChunkSize: 2, Workers: workers, Into: in})
		require.NoError(t, err)
		for i, v := range values(t, in, "row") {
			name := tensor.Must(tensor.Must(tdict.Get[*tdict.Data](in, "name")).At(i))
			if i/2 == 2 {
				require.Equal(t, int64(i), v)
				require.Equal(t, names[i], name)
				continue
			}
			require.Equal(t, int64(-(i &^ 1)), v)
			require.Equal(t, int64(i&^1), name)
		}
	}
}

// After an error, what was written stays, the rest is unchanged, and no chunk is written in part.
func TestMapChunksIntoStaysAfterAnError(t *testing.T) {
	into := dict([]int{8}, entry{"row", tensor.Must(tensor.Full(int64(-1), 8))}, entry{"d/x", tensor.Must(tensor.Full(int64(-1), 8, 2))})
	_, err := tdict.MapChunks(t.Context(), rowTable(0, 8), breaks(t, 5, func(chunk dictionary) (dictionary, error) {
		return chunk, chunk.Set("d/x", tensor.Vector[float32](1, 2)) // "row" would fit
	}), tdict.MapChunksOptions{ChunkSize: 2, Workers: 1, Into: into})
	require.ErrorIs(t, err, shapeops.ErrShape)
	require.Equal(t, []int64{0, 1, 2, 3, -1, -1, -1, -1}, values(t, into, "row"))
	require.Equal(t, []int64{0, 1, 2, 3, 4, 5, 6, 7, -1, -1, -1, -1, -1, -1, -1, -1}, values(t, into, "d/x"))
}

// TestMapChunksIntoShared: a destination may share memory with what is cut only row by row.
func TestMapChunksIntoShared(t *testing.T) {
	const n = 40
	rows := func(x *tensor.Tensor, from int) *tensor.Tensor { return tensor.Must(x.Narrow(0, from, n)) }
	columns := func(x *tensor.Tensor, from int) *tensor.Tensor { return tensor.Must(x.Narrow(1, from, 2)) }
	big, wide, copied := count(n+10), count(n, 4), count(n)
	for _, tt := range []struct {
		name     string
		td, into dictionary
		key      string // that is refused, or ""
	}{
		{"the same view", dict([]int{n}, entry{"x", rows(big, 3)}), dict([]int{n}, entry{"x", rows(big, 3)}), ""},
		{"the same view under another key", dict([]int{n}, entry{"x", rows(big, 3)}), dict([]int{n}, entry{"y", rows(big, 3)}), ""},
		{"other columns", dict([]int{n}, entry{"x", columns(wide, 0)}), dict([]int{n}, entry{"x", columns(wide, 2)}), ""},
		{"one leaf twice", dict([]int{n}, entry{"x", copied}, entry{"y", copied}), dict([]int{n}, entry{"x", copied}, entry{"y", copied}), ""},
		{"shifted", dict([]int{n}, entry{"x", rows(big, 0)}), dict([]int{n}, entry{"x", rows(big, 10)}), "x"},
		{"shifted back", dict([]int{n}, entry{"x", rows(big, 10)}), dict([]int{n}, entry{"x", rows(big, 0)}), "x"},
		{"shifted under another key", dict([]int{n}, entry{"x", rows(big, 0)}), dict([]int{n}, entry{"ok", copied}, entry{"d/y", rows(big, 10)}), "d/y"},
		{"columns that overlap", dict([]int{n}, entry{"x", columns(wide, 0)}), dict([]int{n}, entry{"x", columns(wide, 1)}), "x"},
		{"backwards", dict([]int{n}, entry{"x", copied}), dict([]int{n}, entry{"x", tensor.Must(shapeops.Flip(copied, 0))}), ""},
		{"shifted within the destination", dict([]int{n}, entry{"x", copied}), dict([]int{n}, entry{"x", rows(big, 0)}, entry{"y", rows(big, 10)}), "y"},
	} {
		called := false
		_, err := tdict.MapChunks(t.Context(), tt.td, func(context.Context, dictionary) (dictionary, error) {
			called = true
			return nil, nil
		}, tdict.MapChunksOptions{ChunkSize: 3, Workers: 1, Into: tt.into})
		require.Equal(t, tt.key == "", called, tt.name)
		if tt.key == "" {
			require.NoError(t, err, tt.name)
			continue
		}
		require.ErrorIs(t, err, tensor.ErrOverlap, tt.name)
		require.ErrorContains(t, err, fmt.Sprintf("map chunks: into %q: ", tt.key), tt.name)
	}
}

// A check of a destination takes time in proportion to the leaves.
func TestMapChunksIntoOfManyLeaves(t *testing.T) {
	wide := count(4, 1000)
	td := tdict.New(4)
	for i := range 1000 {
		require.NoError(t, td.Set(key(fmt.Sprint(i)), tensor.Must(wide.Narrow(1, i, 1))))
	}
	require.NoError(t, testkit.Err(tdict.MapChunks(t.Context(), td, same, tdict.MapChunksOptions{Into: td})))
	require.NoError(t, td.Set("across", wide))
	require.ErrorIs(t, testkit.Err(tdict.MapChunks(t.Context(), td, same, tdict.MapChunksOptions{Into: td})), tensor.ErrOverlap)
}

// mappedTable saves a table as a dataset and opens it.
func mappedTable(t testing.TB, writable bool, rows int) *memmap.Dataset {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "table")
	require.NoError(t, memmap.SaveWith(t.Context(), dir, rowTable(0, rows), memmap.SaveOptions{NoSync: true}))
	ds, err := memmap.OpenWith(dir, memmap.OpenOptions{Writable: writable})
	require.NoError(t, err)
	t.Cleanup(func() { _ = ds.Close() })
	return ds
}

// A mapped dataset is mapped, in both senses, to another one that is written where it is.
func TestMapChunksIntoMapped(t *testing.T) {
	const rows = 1000
	in := mappedTable(t, false, rows)
	dir := filepath.Join(t.TempDir(), "into")
	prototype := dict([]int{rows}, entry{"d/y", tensor.Must(tensor.Scalar[float64](0).Expand(rows, 2))})
	out, err := memmap.Create(dir, prototype, memmap.CreateOptions{NoSync: true})
	require.NoError(t, err)
	_, err = tdict.MapChunks(t.Context(), in.TensorDict, doubled, tdict.MapChunksOptions{ChunkSize: 7, Workers: 4, Into: out.TensorDict})
	require.NoError(t, err)
	require.NoError(t, out.Close())

	again, err := memmap.Open(dir)
	require.NoError(t, err)
	defer again.Close()
	got := testkit.Elements[float64](t, tensor.Must(again.Tensor("d/y")))
	for i, v := range got {
		require.Equal(t, 2*float64(i), v)
	}
	require.Len(t, got, 2*rows)
}

func TestMapChunksIntoMappedRefuses(t *testing.T) {
	in := rowTable(0, 10)
	readOnly := mappedTable(t, false, 10)
	_, err := tdict.MapChunks(t.Context(), in, same, tdict.MapChunksOptions{ChunkSize: 5, Workers: 1, Into: readOnly.TensorDict})
	require.ErrorIs(t, err, tensor.ErrReadOnly)
	require.ErrorContains(t, err, `map chunks: rows [0:5]: into "row": read-only memory`)

	writable := mappedTable(t, true, 10)
	_, err = tdict.MapChunks(t.Context(), in, func(_ context.Context, chunk dictionary) (dictionary, error) {
		if rowNumbers(t, chunk, 0)[0] == 5 {
			require.NoError(t, writable.Close())
		}
		return chunk, nil
	}, tdict.MapChunksOptions{ChunkSize: 5, Workers: 1, Into: writable.TensorDict})
	require.ErrorIs(t, err, memmap.ErrClosed)
	require.ErrorContains(t, err, "map chunks: rows [5:10]: into: ")
}

// With a destination, no more results are kept than there are workers: 64 results of 1 MiB take no
// more than a few at any time.
func TestMapChunksIntoKeepsNoResults(t *testing.T) {
	const bytes = 1 << 20
	in := dict([]int{64}, entry{"x", tensor.Must(tensor.New(tensor.Uint8, 64, 1))})
	into := dict([]int{64}, entry{"y", tensor.Must(tensor.New(tensor.Uint8, 64, bytes))})
	live := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := live()
	_, err := tdict.MapChunks(t.Context(), in, func(_ context.Context, chunk dictionary) (dictionary, error) {
		if now := live(); now-before > 8*bytes {
			return nil, fmt.Errorf("%d MiB are in use", (now-before)>>20)
		}
		return dict([]int{1}, entry{"y", tensor.Must(tensor.Full(uint8(1), 1, bytes))}), nil
	}, tdict.MapChunksOptions{ChunkSize: 1, Workers: 2, Into: into})
	require.NoError(t, err)
	require.Equal(t, uint8(1), testkit.Elements[uint8](t, tensor.Must(into.Tensor("y")))[64*bytes-1])
}
