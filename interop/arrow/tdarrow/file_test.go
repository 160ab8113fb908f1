package tdarrow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/arrow/tdarrow"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// visits returns a dictionary of n rows with an entry of each kind that a file keeps.
func visits(t testing.TB, n int) (*tdict.TensorDict, tdict.Schema) {
	t.Helper()
	td := tdict.New(n)
	set := func(key nestedkey.Key, v tdict.Value, err error) {
		t.Helper()
		require.NoError(t, err)
		require.NoError(t, td.Set(key, v))
	}
	id, pos, weight, mask, sex, day := make([]int64, n), make([]float32, 2*n), make([]float64, n), make([]bool, n), make([]int32, n), make([]int64, n)
	names, codes := make([]string, n), make([][]int16, n)
	for i := range n {
		id[i], pos[2*i], sex[i], day[i] = int64(i), float32(i)/2, int32(i%2), int64(19000+i)
		if mask[i] = i%3 != 0; mask[i] {
			weight[i] = float64(i) * 1.5
		}
		names[i] = fmt.Sprint("n", i)
		codes[i] = make([]int16, i%4)
		for j := range codes[i] {
			codes[i][j] = int16(10*i + j)
		}
	}
	x, err := tensor.From(id, n)
	set("id", x, err)
	x, err = tensor.From(pos, n, 2)
	set("obs/pos", x, err)
	x, err = tensor.From(weight, n)
	set("weight", x, err)
	x, err = tensor.From(mask, n)
	set("weight_mask", x, err)
	x, err = tensor.From(sex, n)
	set("sex", x, err)
	x, err = tensor.From(day, n)
	set("day", x, err)
	r, err := ragged.FromStrings(names, n)
	set("name", r, err)
	r, err = ragged.FromDepth[int16](codes, 1)
	set("codes", r, err)
	schema := tdict.SchemaOf(td)
	for i := range schema {
		switch s := &schema[i]; s.Key {
		case "weight":
			s.Mask, s.Unit = "weight_mask", "kg"
		case "sex":
			s.Categories = []string{"f", "m"}
		case "day":
			s.Unit, s.Time = "d", "2006-01-02"
		case "name":
			s.Kind, s.DType, s.Depth = tdict.KindText, 0, 0
		}
	}
	require.NoError(t, schema.Check(td))
	return td, schema
}

// once returns an iterator over dictionaries.
func once(tds ...*tdict.TensorDict) iter.Seq2[*tdict.TensorDict, error] {
	return func(yield func(*tdict.TensorDict, error) bool) {
		for _, td := range tds {
			if !yield(td, nil) {
				return
			}
		}
	}
}

// written returns the file of dictionaries.
func written(t testing.TB, schema tdict.Schema, opt tdarrow.WriteOptions, tds ...*tdict.TensorDict) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, tdarrow.Write(context.Background(), &b, schema, once(tds...), opt))
	return b.Bytes()
}

// onDisk returns the path of a file with bytes b.
func onDisk(t testing.TB, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.arrow")
	require.NoError(t, os.WriteFile(path, b, 0o666))
	return path
}

// all returns the clones of all chunks.
func all(t testing.TB, chunks iter.Seq2[*tdict.TensorDict, error]) []*tdict.TensorDict {
	t.Helper()
	var tds []*tdict.TensorDict
	for td, err := range chunks {
		require.NoError(t, err)
		td, err = td.Clone()
		require.NoError(t, err)
		tds = append(tds, td)
	}
	return tds
}

// joined returns chunks as one dictionary.
func joined(t testing.TB, tds []*tdict.TensorDict) *tdict.TensorDict {
	t.Helper()
	td, err := shapeops.Cat(tds, 0)
	require.NoError(t, err)
	return td
}

// last returns the error that an iterator ends with, and the number of chunks before it.
func last(chunks iter.Seq2[*tdict.TensorDict, error]) (n int, err error) {
	for _, err := range chunks {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func TestWriteReads(t *testing.T) {
	ctx := context.Background()
	td, schema := visits(t, 20)
	second, _ := visits(t, 7)
	want := joined(t, []*tdict.TensorDict{td, second})
	for _, opt := range []tdarrow.WriteOptions{{}, {Stream: true}, {Compression: "lz4"}, {Stream: true, Compression: "zstd"}} {
		t.Run(fmt.Sprintf("stream=%v compression=%s", opt.Stream, opt.Compression), func(t *testing.T) {
			b := written(t, schema, opt, td, second)
			path := onDisk(t, b)
			got, err := tdarrow.InferFile(path, tdarrow.Options{})
			require.NoError(t, err)
			require.Empty(t, schema.Diff(got))
			got, err = tdarrow.Infer(bytes.NewReader(b), tdarrow.Options{})
			require.NoError(t, err)
			require.Empty(t, schema.Diff(got))

			for name, chunks := range map[string]iter.Seq2[*tdict.TensorDict, error]{
				"file":   tdarrow.ReadFile(ctx, path, tdarrow.Options{}),
				"stream": tdarrow.Read(ctx, bytes.NewReader(b), tdarrow.Options{}),
				"schema": tdarrow.ReadFile(ctx, path, tdarrow.Options{Schema: schema}),
			} {
				tds := all(t, chunks)
				require.Len(t, tds, 2, name)
				diff, err := want.Diff(joined(t, tds))
				require.NoError(t, err)
				require.Empty(t, diff, name)
			}
			for _, rows := range []int{1, 3, 8, 100} {
				tds := all(t, tdarrow.ReadFile(ctx, path, tdarrow.Options{Rows: rows}))
				require.Len(t, tds, (20+rows-1)/rows+(7+rows-1)/rows)
				require.True(t, want.Equal(joined(t, tds)), "rows %d", rows)
				tds = all(t, tdarrow.Read(ctx, bytes.NewReader(b), tdarrow.Options{Rows: rows}))
				require.True(t, want.Equal(joined(t, tds)), "rows %d", rows)
			}
		})
	}
}

func TestOptionsSelect(t *testing.T) {
	ctx := context.Background()
	td, schema := visits(t, 20)
	b := written(t, schema, tdarrow.WriteOptions{}, td, td)
	path := onDisk(t, b)
	ids := func(chunks iter.Seq2[*tdict.TensorDict, error]) (ids []int64) {
		for _, td := range all(t, chunks) {
			v, err := tdict.Slice[int64](td, "id")
			require.NoError(t, err)
			ids = append(ids, v...)
		}
		return ids
	}
	require.Len(t, ids(tdarrow.ReadFile(ctx, path, tdarrow.Options{Groups: []int{1, 0, 1}})), 60)
	require.Len(t, ids(tdarrow.ReadFile(ctx, path, tdarrow.Options{Groups: []int{}})), 0)
	require.Len(t, ids(tdarrow.Read(ctx, bytes.NewReader(b), tdarrow.Options{Groups: []int{1}})), 20)
	for name, chunks := range map[string]iter.Seq2[*tdict.TensorDict, error]{
		"beyond a file":   tdarrow.ReadFile(ctx, path, tdarrow.Options{Groups: []int{0, 2}}),
		"negative":        tdarrow.ReadFile(ctx, path, tdarrow.Options{Groups: []int{-1}}),
		"beyond a stream": tdarrow.Read(ctx, bytes.NewReader(b), tdarrow.Options{Groups: []int{2}}),
		"back":            tdarrow.Read(ctx, bytes.NewReader(b), tdarrow.Options{Groups: []int{1, 0}}),
	} {
		_, err := last(chunks)
		require.ErrorIs(t, err, shapeops.ErrIndex, name)
	}
	tds := all(t, tdarrow.ReadFile(ctx, path, tdarrow.Options{Keys: []nestedkey.Key{"weight", "obs"}}))
	require.Equal(t, []nestedkey.Key{"obs/pos", "weight", "weight_mask"}, slices.Sorted(func(yield func(nestedkey.Key) bool) {
		for key := range tds[0].Leaves() {
			if !yield(key) {
				return
			}
		}
	}))
	_, err := last(tdarrow.ReadFile(ctx, path, tdarrow.Options{Keys: []nestedkey.Key{"nothing"}}))
	require.ErrorIs(t, err, tdict.ErrMissing)
	require.ErrorContains(t, err, path)
}

func TestDatasetOfAFile(t *testing.T) {
	ctx := context.Background()
	td, schema := visits(t, 100)
	path := onDisk(t, written(t, schema, tdarrow.WriteOptions{}, td, td))
	dir := filepath.Join(t.TempDir(), "d")
	require.NoError(t, memmap.SaveRows(ctx, dir, tdarrow.ReadFile(ctx, path, tdarrow.Options{}), memmap.SaveOptions{Schema: schema, NoSync: true}))
	ds, err := memmap.Open(dir)
	require.NoError(t, err)
	defer ds.Close()
	require.True(t, joined(t, []*tdict.TensorDict{td, td}).Equal(ds.TensorDict))

	var b bytes.Buffer // and back, from mapped files
	require.NoError(t, tdarrow.Write(ctx, &b, ds.Schema(), once(ds.TensorDict), tdarrow.WriteOptions{}))
	require.True(t, ds.TensorDict.Equal(joined(t, all(t, tdarrow.Read(ctx, &b, tdarrow.Options{})))))
}

// TestColumnsAreLent holds that columns of a mapped file that is not compressed are not copied.
func TestColumnsAreLent(t *testing.T) {
	ctx := context.Background()
	const rows = 1 << 20
	td := tdict.New(rows)
	for i := range 4 {
		require.NoError(t, td.Set(nestedkey.Key(fmt.Sprint("c", i)), tensor.Must(tensor.New(tensor.Float64, rows))))
	}
	path := onDisk(t, written(t, nil, tdarrow.WriteOptions{}, td))
	before := allocated()
	n := 0
	for td, err := range tdarrow.ReadFile(ctx, path, tdarrow.Options{}) {
		require.NoError(t, err)
		n += td.Shape()[0]
	}
	took := allocated() - before
	require.Equal(t, rows, n)
	require.Less(t, took, int64(1<<20), "of %d bytes", 4*8*rows)
}

func TestFileErrors(t *testing.T) {
	ctx := context.Background()
	td, schema := visits(t, 20)
	whole := written(t, schema, tdarrow.WriteOptions{Stream: true}, td, td)
	canceled, cancel := context.WithCancelCause(ctx)
	stop := errors.New("stop")
	cancel(stop)
	for _, tt := range []struct {
		name string
		b    []byte
		ctx  context.Context
		opt  tdarrow.Options
		err  error
		text string
	}{
		{"a cut", whole[:len(whole)-100], ctx, tdarrow.Options{}, io.ErrUnexpectedEOF, "batch 1"},
		{"feather version 1", []byte("FEA1    FEA1"), ctx, tdarrow.Options{}, tdarrow.ErrUnsupported, "Feather"},
		{"empty", nil, ctx, tdarrow.Options{}, nil, ""},
		{"text", []byte("a,b\n1,2\n"), ctx, tdarrow.Options{}, tdarrow.ErrCorrupt, "neither"},
		{"canceled", whole, canceled, tdarrow.Options{}, stop, "stop"},
		{"a schema that does not fit", whole, ctx, tdarrow.Options{Schema: tdict.Schema{{Key: "id", DType: tensor.Int8}}}, tdict.ErrSchema, `"id"`},
		{"a text that is not a category", whole, ctx, tdarrow.Options{Schema: tdict.Schema{{Key: "sex", DType: tensor.Int32, Categories: []string{"f"}}}}, tdict.ErrSchema, "batch 0"},
		{"a null without a mask", whole, ctx, tdarrow.Options{Schema: tdict.Schema{{Key: "weight", DType: tensor.Float64}}}, tdarrow.ErrNull, "batch 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := onDisk(t, tt.b)
			_, err := last(tdarrow.ReadFile(tt.ctx, path, tt.opt))
			_, streamed := last(tdarrow.Read(tt.ctx, bytes.NewReader(tt.b), tt.opt))
			for _, err := range []error{err, streamed} {
				if tt.err == nil {
					require.True(t, promised(err), err)
					continue
				}
				require.ErrorIs(t, err, tt.err)
				require.ErrorContains(t, err, tt.text)
			}
			if tt.ctx.Err() == nil {
				var at *tdarrow.ColumnError
				require.ErrorAs(t, err, &at)
				require.Equal(t, path, at.Path)
			}
		})
	}
	_, err := last(tdarrow.ReadFile(ctx, filepath.Join(t.TempDir(), "none"), tdarrow.Options{}))
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = tdarrow.InferFile(t.TempDir(), tdarrow.Options{})
	require.ErrorIs(t, err, tdarrow.ErrCorrupt)
	chunks := tdarrow.Read(ctx, bytes.NewReader(whole), tdarrow.Options{})
	n, err := last(chunks)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	_, err = last(chunks)
	require.ErrorIs(t, err, tdarrow.ErrUsed)
}

// TestTruncatedWhileMapped cuts a file after its first chunk: an error, not a crash.
func TestTruncatedWhileMapped(t *testing.T) {
	ctx := context.Background()
	td := tdict.New(1 << 20)
	require.NoError(t, td.Set("x", tensor.Must(tensor.New(tensor.Float64, 1<<20))))
	require.NoError(t, td.Set("m", tensor.Must(tensor.New(tensor.Bool, 1<<20))))
	path := onDisk(t, written(t, nil, tdarrow.WriteOptions{}, td))
	var failed error
	n := 0
	for td, err := range tdarrow.ReadFile(ctx, path, tdarrow.Options{}) {
		if n++; n == 1 {
			require.NoError(t, os.Truncate(path, 4096))
			_, failed = td.Clone()
			continue
		}
		if err != nil {
			failed = errors.Join(failed, err)
			var at *tdarrow.ColumnError
			require.ErrorAs(t, err, &at)
		}
	}
	require.ErrorIs(t, failed, tdarrow.ErrFault)
}

func TestWriteErrors(t *testing.T) {
	ctx := context.Background()
	td, schema := visits(t, 3)
	stop := errors.New("stop")
	for _, tt := range []struct {
		name   string
		schema tdict.Schema
		chunks iter.Seq2[*tdict.TensorDict, error]
		w      io.Writer
		opt    tdarrow.WriteOptions
		err    error
	}{
		{"no chunks and no schema", nil, once(), io.Discard, tdarrow.WriteOptions{}, tdict.ErrMissing},
		{"an error of chunks", schema, func(yield func(*tdict.TensorDict, error) bool) { yield(nil, stop) }, io.Discard, tdarrow.WriteOptions{}, stop},
		{"an error of w", schema, once(td), failing{stop}, tdarrow.WriteOptions{}, stop},
		{"compression", schema, once(td), io.Discard, tdarrow.WriteOptions{Compression: "gzip"}, fs.ErrInvalid},
		{"a nil chunk", schema, once(nil), io.Discard, tdarrow.WriteOptions{}, shapeops.ErrDim},
		{"no rows", nil, once(tdict.New()), io.Discard, tdarrow.WriteOptions{}, shapeops.ErrDim},
		{"another dictionary", schema, once(td.Exclude("id")), io.Discard, tdarrow.WriteOptions{}, tdict.ErrSchema},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tdarrow.Write(ctx, tt.w, tt.schema, tt.chunks, tt.opt)
			require.ErrorIs(t, err, tt.err)
		})
	}
	canceled, cancel := context.WithCancelCause(ctx)
	cancel(stop)
	require.ErrorIs(t, tdarrow.Write(canceled, io.Discard, schema, once(td), tdarrow.WriteOptions{}), stop)
	b := written(t, schema, tdarrow.WriteOptions{}) // no chunks
	require.Empty(t, all(t, tdarrow.Read(ctx, bytes.NewReader(b), tdarrow.Options{})))
}

// failing is a writer that fails.
type failing struct{ err error }

func (w failing) Write([]byte) (int, error) { return 0, w.err }

// TestReadsJavaScript reads a file and a stream that JavaScript's apache-arrow wrote, with
// testdata/make.mjs. Its files have the schema in the footer only, and its batches are slices.
func TestReadsJavaScript(t *testing.T) {
	ctx := context.Background()
	const want = `id  weight  ok     name   sex  codes    pos     day
1   1.5     true   "ann"  "m"  [1 2]    [1 2]   1970-01-01
2   NA      false  NA     "f"  []       [3 4]   1970-01-02
3   2.5     NA     ""     "m"  NA       [5 6]   NA
4   NA      true   "d"    NA   [3]      [7 8]   1970-01-03
5   3       true   "eve"  "f"  [4 5 6]  [9 10]  1970-01-01
and 3 more leaves
id  weight  ok     name  sex  codes  pos    day
2   NA      false  NA    "f"  []     [3 4]  1970-01-02
3   2.5     NA     ""    "m"  NA     [5 6]  NA
4   NA      true   "d"   NA   [3]    [7 8]  1970-01-03
and 3 more leaves
`
	for _, name := range []string{"js.arrow", "js.arrows"} {
		path := filepath.Join("testdata", name)
		schema, err := tdarrow.InferFile(path, tdarrow.Options{})
		require.NoError(t, err)
		text := ""
		for td, err := range tdarrow.ReadFile(ctx, path, tdarrow.Options{}) {
			require.NoError(t, err)
			text += schema.Head(td, 9) + "\n"
		}
		require.Equal(t, want, text)
		obs, _ := schema.Find("obs/x")
		require.Equal(t, tdict.Spec{Key: "obs/x", DType: tensor.Int16, Mask: "obs/x_mask"}, obs)

		b, err := os.ReadFile(path)
		require.NoError(t, err)
		_, err = last(tdarrow.Read(ctx, bytes.NewReader(b), tdarrow.Options{Schema: schema}))
		if name == "js.arrows" {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, tdarrow.ErrUnsupported)
			require.ErrorContains(t, err, "use ReadFile")
		}
	}
}

// A heapWriter has the largest heap after each 8 MB that were written.
type heapWriter struct{ n, next, most int64 }

func (w *heapWriter) Write(p []byte) (int, error) {
	if w.n += int64(len(p)); w.n >= w.next {
		w.next += 8 << 20
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		w.most = max(w.most, int64(m.HeapAlloc))
	}
	return len(p), nil
}

// TestMemoryIsABatch writes a dataset of 64 MiB, and reads it as a stream.
func TestMemoryIsABatch(t *testing.T) {
	ctx := context.Background()
	const rows = 1 << 21
	td := tdict.New(rows)
	for i := range 4 {
		require.NoError(t, td.Set(nestedkey.Key(fmt.Sprint("c", i)), tensor.Must(tensor.New(tensor.Float64, rows))))
	}
	dir := filepath.Join(t.TempDir(), "d")
	require.NoError(t, memmap.SaveWith(ctx, dir, td, memmap.SaveOptions{NoSync: true}))
	td = nil
	ds, err := memmap.Open(dir)
	require.NoError(t, err)
	defer ds.Close()

	var before heapWriter
	_, _ = before.Write(nil)
	var w heapWriter
	require.NoError(t, tdarrow.Write(ctx, &w, nil, once(ds.TensorDict), tdarrow.WriteOptions{Stream: true}))
	require.Greater(t, w.n, int64(32*rows))
	require.Less(t, w.most-before.most, int64(16<<20))

	r, out := io.Pipe()
	go func() {
		out.CloseWithError(tdarrow.Write(ctx, out, nil, once(ds.TensorDict), tdarrow.WriteOptions{Stream: true, Compression: "lz4"}))
	}()
	n := 0
	for td, err := range tdarrow.Read(ctx, r, tdarrow.Options{}) {
		require.NoError(t, err)
		if n += td.Shape()[0]; n%(1<<19) == 0 {
			w.next = 0
			_, _ = w.Write(nil)
		}
	}
	require.Equal(t, rows, n)
	require.Less(t, w.most-before.most, int64(24<<20))
}
