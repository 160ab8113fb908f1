package memmap_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/wire"
)

// oneOfEach returns a dictionary with each kind of value.
func oneOfEach(t *testing.T) *tdict.TensorDict {
	td := tdict.New(3)
	put := func(key nestedkey.Key, v tdict.Value) { require.NoError(t, td.Set(key, v)) }
	put("who", tensor.Must(tdict.DataFrom([]string{"a", "b", "c"}, 3)))
	put("note", tensor.Must(tdict.NewData("same", 3)))
	put("x", tensor.Must(tensor.From([]float32{1, 2, 3, 4, 5, 6}, 3, 2)))
	put("odd", tensor.Must(tensor.From([]uint8{1, 2, 3}, 3)))
	put("z", tensor.Must(tensor.From([]complex128{1, 2i, 3}, 3)))
	put("deep/er", tensor.Must(tensor.From([]bool{true, false, true}, 3)))
	put("none", tensor.Must(tensor.New(tensor.Int64, 3, 0)))
	put("visits", tensor.Must(ragged.From[int64]([][]int64{{1, 2}, {}, {3}})))
	put("codes", tensor.Must(ragged.From[int64]([][][]int64{{{1}, {2, 3}}, {}, {{}}})))
	put("table", tensor.Must(tdict.NewUnbatched(tensor.Vector[int32](7, 8))))
	return td
}

func TestConsolidated(t *testing.T) {
	td := oneOfEach(t)
	at := filepath.Join(t.TempDir(), "x.tdc")
	require.NoError(t, memmap.Save(at, td))
	ds := tensor.Must(memmap.Open(at))
	defer ds.Close()
	require.Empty(t, tensor.Must(td.Diff(ds.TensorDict)))
	require.True(t, ds.Locked())
	require.ErrorIs(t, ds.Set("y", tensor.Scalar[int8](1)), tdict.ErrLocked)
	require.ErrorIs(t, testkit.Err(memmap.OpenWith(at, memmap.OpenOptions{Writable: true})), memmap.ErrUnsupported)

	report, err := memmap.Verify(t.Context(), at, memmap.VerifyOptions{})
	require.NoError(t, err)
	require.Equal(t, 7, report.Leaves)
	require.Empty(t, report.Unsummed)

	list := tensor.Must(memmap.Look(at, memmap.OpenOptions{}))
	require.Equal(t, memmap.Consolidated, list.Container)
	for _, e := range list.Entries {
		require.Equal(t, e.File != "", e.Summed, e.Key)
	}
	require.NoError(t, ds.Prefetch(0, 2))
	require.NoError(t, ds.Advise(memmap.Random))
	require.NoError(t, ds.Flush())
	require.ErrorIs(t, ds.AddLeaf("y", tensor.Must(tensor.New(tensor.Int8, 3))), memmap.ErrUnsupported)
}

// TestConsolidatedCopies copies from every form to every other.
func TestConsolidatedCopies(t *testing.T) {
	td, dir := oneOfEach(t), t.TempDir()
	schema := tdict.SchemaOf(td)
	names := []string{"d", "x.tdz", "x.tdc"}
	for _, from := range names {
		first := filepath.Join(dir, from)
		require.NoError(t, memmap.SaveWith(t.Context(), first, td, memmap.SaveOptions{Schema: schema}))
		for _, to := range names {
			second := filepath.Join(dir, "of-"+from+"-"+to)
			require.NoError(t, memmap.Copy(t.Context(), first, second, memmap.CopyOptions{}))
			ds := tensor.Must(memmap.Open(second))
			require.Empty(t, tensor.Must(td.Diff(ds.TensorDict)), second)
			require.Empty(t, schema.Diff(ds.Schema()))
			require.NoError(t, ds.Close())
			require.NoError(t, testkit.Err(memmap.Verify(t.Context(), second, memmap.VerifyOptions{})))
		}
	}
	same := func(a, b string) bool {
		return bytes.Equal(tensor.Must(os.ReadFile(filepath.Join(dir, a))), tensor.Must(os.ReadFile(filepath.Join(dir, b))))
	}
	require.True(t, same("x.tdc", "of-x.tdc-x.tdc"))
	require.True(t, same("x.tdc", "of-d-x.tdc"))
}

// TestConsolidatedGolden copies what Python wrote: the data is equal, and the metadata but for what
// this module adds.
func TestConsolidatedGolden(t *testing.T) {
	for _, file := range tensor.Must(filepath.Glob(filepath.Join("..", "testdata", "golden", "con0*", "data.tdc"))) {
		ds := tensor.Must(memmap.Open(file))
		require.NotEmpty(t, tensor.Must(memmap.Verify(t.Context(), file, memmap.VerifyOptions{})).Unsummed, "as Python has none")
		copied := filepath.Join(t.TempDir(), "c.tdc")
		require.NoError(t, memmap.Copy(t.Context(), file, copied, memmap.CopyOptions{}))
		again := tensor.Must(memmap.Open(copied))
		var m wire.Message
		require.NoError(t, m.UnmarshalBinary(tensor.Must(os.ReadFile(copied))))
		require.Equal(t, tensor.Must(os.ReadFile(file)), tensor.Must(m.MarshalBinary()))
		require.NoError(t, ds.Close())
		require.NoError(t, again.Close())
	}
}

// TestConsolidatedDamage changes each byte of a file: Verify finds it, or Open refuses the file, or
// it is of no data.
func TestConsolidatedDamage(t *testing.T) {
	td := tdict.New(4)
	require.NoError(t, td.Set("x", tensor.Vector[int16](1, 2, 3, 4)))
	require.NoError(t, td.Set("n/y", tensor.Vector[int64](1, 2, 3, 4)))
	at := filepath.Join(t.TempDir(), "x.tdc")
	require.NoError(t, memmap.Save(at, td))
	whole := tensor.Must(os.ReadFile(at))
	for i := range 40 {
		b := bytes.Clone(whole)
		b[i] ^= 0x10
		require.NoError(t, os.WriteFile(at, b, 0o600))
		report, err := memmap.Verify(t.Context(), at, memmap.VerifyOptions{})
		require.ErrorIs(t, err, memmap.ErrCorrupt)
		require.Len(t, report.Damage, 1)
		require.Equal(t, 0, report.Damage[0].Block)
		require.ErrorIs(t, memmap.Copy(t.Context(), at, at+"2", memmap.CopyOptions{}), memmap.ErrCorrupt)
	}
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 0x10
		require.NoError(t, os.WriteFile(at, b, 0o600))
		if ds, err := memmap.Open(at); err == nil {
			require.NoError(t, ds.Close())
		}
	}
	for n := range whole {
		require.NoError(t, os.WriteFile(at, whole[:n], 0o600))
		require.Error(t, testkit.Err(memmap.Open(at)), "cut to %d bytes", n)
	}
}

// TestConsolidatedReplaced serves a file while it is replaced.
func TestConsolidatedReplaced(t *testing.T) {
	at := filepath.Join(t.TempDir(), "x.tdc")
	save := func(n int64) {
		td := tdict.New(2)
		require.NoError(t, td.Set("n", tensor.Vector(n, n)))
		require.NoError(t, memmap.Save(at, td))
	}
	value := func(ds *memmap.Dataset) int64 { return tensor.Must(tdict.Item[int64](ds.TensorDict, "n", 1)) }
	save(1)
	ds := tensor.Must(memmap.Open(at))
	live := tensor.Must(memmap.OpenLive(at, memmap.LiveOptions{Interval: 2 * time.Millisecond}))
	defer live.Close()
	same := tensor.Must(ds.Refresh())
	require.Same(t, ds, same)
	save(2)
	require.True(t, tensor.Must(ds.Stale()))
	require.Equal(t, int64(1), value(ds), "what was opened stays")
	next := tensor.Must(ds.Refresh())
	require.Equal(t, int64(2), value(next))
	require.NoError(t, next.Close())
	require.NoError(t, ds.Close())
	require.ErrorIs(t, testkit.Err(ds.Index(ix.Take(0))), memmap.ErrClosed)
	require.Eventually(t, func() bool {
		ds := tensor.Must(live.Acquire())
		defer live.Release(ds)
		return value(ds) == 2
	}, time.Minute, time.Millisecond)
}

// TestConsolidatedSaves checks what may be replaced.
func TestConsolidatedSaves(t *testing.T) {
	td, dir := oneOfEach(t), t.TempDir()
	at := filepath.Join(dir, "x")
	require.NoError(t, os.WriteFile(at, []byte("Dear all, this is a letter"), 0o600))
	tdc := memmap.SaveOptions{Container: memmap.Consolidated}
	require.ErrorIs(t, memmap.SaveWith(t.Context(), at, td, tdc), memmap.ErrForeign)
	require.NoError(t, os.Remove(at))
	require.NoError(t, memmap.SaveWith(t.Context(), at, td, tdc))
	require.NoError(t, memmap.Save(at, td), "it keeps its form")
	require.Equal(t, memmap.Consolidated, tensor.Must(memmap.Look(at, memmap.OpenOptions{})).Container)
	require.ErrorIs(t, memmap.SaveWith(t.Context(), at, td, memmap.SaveOptions{Container: memmap.Directory}), os.ErrExist)
	require.ErrorIs(t, memmap.SaveWith(t.Context(), at, td, memmap.SaveOptions{NoReplace: true}), os.ErrExist)
	require.ErrorIs(t, memmap.SaveWith(t.Context(), at, td, memmap.SaveOptions{Compress: true}), memmap.ErrUnsupported)
	for _, name := range []nestedkey.Key{"cls/x", "leaves/x", "non_tensors/x", "cls_metadata/x", "size/x", "<NJT_VALUES>x"} {
		odd := tdict.New()
		require.NoError(t, odd.Set(name, tensor.Scalar[int8](1)))
		require.ErrorIs(t, memmap.Save(at, odd), memmap.ErrName, name)
	}
	ds := tensor.Must(memmap.Open(at))
	require.NoError(t, memmap.Save(at, ds.TensorDict), "over itself")
	require.Empty(t, tensor.Must(td.Diff(ds.TensorDict)))
	require.NoError(t, ds.Close())

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := tensor.Must(os.ReadFile(at))
	require.ErrorIs(t, memmap.SaveWith(ctx, at, td, memmap.SaveOptions{}), context.Canceled)
	require.Equal(t, before, tensor.Must(os.ReadFile(at)))

	var done, total int64
	opt := memmap.SaveOptions{Progress: func(d, n int64) { done, total = d, n }}
	require.NoError(t, memmap.SaveWith(t.Context(), at, td, opt))
	require.Equal(t, total, done)
	require.NotZero(t, total)
}

// TestConsolidatedRows saves chunks of rows.
func TestConsolidatedRows(t *testing.T) {
	at := filepath.Join(t.TempDir(), "rows.tdc")
	chunk := func(from int64) *tdict.TensorDict {
		td := tdict.New(2)
		require.NoError(t, td.Set("n", tensor.Vector(from, from+1)))
		return td
	}
	rows := func(yield func(*tdict.TensorDict, error) bool) { _ = yield(chunk(0), nil) && yield(chunk(2), nil) }
	require.NoError(t, memmap.SaveRows(t.Context(), at, rows, memmap.SaveOptions{}))
	ds := tensor.Must(memmap.Open(at))
	defer ds.Close()
	require.Equal(t, []int64{0, 1, 2, 3}, tensor.Must(tdict.Slice[int64](ds.TensorDict, "n")))
}

// TestConsolidatedManyLeaves opens many leaves as one mapping.
func TestConsolidatedManyLeaves(t *testing.T) {
	td := tdict.New(2)
	for i := range 3000 {
		require.NoError(t, td.Set(nestedkey.Of(fmt.Sprint(i%30), fmt.Sprint(i)), tensor.Vector(int64(i), int64(i))))
	}
	at := filepath.Join(t.TempDir(), "many.tdc")
	require.NoError(t, memmap.Save(at, td))
	ds := tensor.Must(memmap.Open(at))
	require.True(t, td.Equal(ds.TensorDict))
	require.NoError(t, ds.Close())
	require.ErrorIs(t, testkit.Err(memmap.OpenWith(at, memmap.OpenOptions{MaxEntries: 2999})), memmap.ErrUnsupported)
}

// TestConsolidatedNamesTheLeaf: an error of elements has the whole key, of a ragged leaf without
// the name of a part.
func TestConsolidatedNamesTheLeaf(t *testing.T) {
	td := tdict.New(2)
	require.NoError(t, td.Set("in/deep", tensor.Must(ragged.From[bool]([][][]bool{{{true, false}}, {{true}}}))))
	require.NoError(t, td.Set("in/rows", tensor.Must(ragged.From[bool]([][]bool{{true, false}, {true}}))))
	require.NoError(t, td.Set("in/b", tensor.Vector(true, false)))
	for file, key := range map[string]string{"in/deep/@pool.memmap": "in/deep", "in/rows/@pool.memmap": "in/rows", "in/b.memmap": "in/b"} {
		dir := filepath.Join(t.TempDir(), "d")
		require.NoError(t, memmap.Save(dir, td))
		write(t, dir, file, "\x07\x07\x07\x07")
		err := memmap.SaveWith(t.Context(), dir+".tdc", open(t, dir).TensorDict, memmap.SaveOptions{SkipSums: true})
		require.ErrorIs(t, err, memmap.ErrCorrupt)
		require.ErrorContains(t, err, "d.tdc: "+key+": corrupt: got byte 7 for bool element 0")
	}
}
