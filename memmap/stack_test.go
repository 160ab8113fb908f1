package memmap_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// stepLeaves is how many leaves a row has that is stacked.
const stepLeaves = 8

// stacking returns the rows of a dictionary of leaves float32 [rows 4], saved and opened, or in Go
// memory, and another such dictionary, opened for writing, to stack them in.
func stacking(tb testing.TB, rows int, mapped bool) (dst *tdict.TensorDict, src []*tdict.TensorDict) {
	tb.Helper()
	td, next := tdict.New(rows), tensor.Must(tensor.Arange[float32](0, float32(4*rows), 1))
	for i := range stepLeaves {
		x := tensor.Must(tensor.Must(next.Clone()).Reshape(rows, 4))
		require.NoError(tb, td.Set(nestedkey.Of(fmt.Sprint("leaf", i)), x))
	}
	dir := filepath.Join(tb.TempDir(), "dst")
	require.NoError(tb, memmap.Save(dir, td))
	ds, err := memmap.OpenWith(dir, memmap.OpenOptions{Writable: true})
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = ds.Close() })
	if mapped {
		dir := filepath.Join(tb.TempDir(), "src")
		require.NoError(tb, memmap.Save(dir, td))
		from, err := memmap.Open(dir)
		require.NoError(tb, err)
		tb.Cleanup(func() { _ = from.Close() })
		td = from.TensorDict
	}
	src, err = shapeops.Unbind(td, 0)
	require.NoError(tb, err)
	return ds.TensorDict, src
}

// Stacking rows from files into others costs no more than from Go memory, and in proportion to the
// rows.
func TestStackFromFilesToFiles(t *testing.T) {
	stack := func(rows int, mapped bool) func() {
		dst, src := stacking(t, rows, mapped)
		backwards := make([]*tdict.TensorDict, rows)
		for i, row := range src {
			backwards[rows-1-i] = row
		}
		require.NoError(t, shapeops.StackInto(dst, backwards, 0))
		first := tensor.Must(tensor.Must(dst.Tensor("leaf7")).Index(ix.At(0), ix.At(0)))
		require.Equal(t, []float32{float32(4 * (rows - 1))}, testkit.Elements[float32](t, first))
		return func() { require.NoError(t, shapeops.StackInto(dst, src, 0)) }
	}
	testkit.Near(t, 1.5, stack(640, false), stack(640, true))
	testkit.Near(t, 15, stack(320, true), stack(3200, true))
}

// BenchmarkStackIntoFiles stacks rows of 8 leaves into mapped files, from others or from Go memory.
func BenchmarkStackIntoFiles(b *testing.B) {
	for _, rows := range []int{320, 3200, 32_000} {
		for _, from := range []string{"memory", "files"} {
			b.Run(fmt.Sprintf("rows=%d/from=%s", rows, from), func(b *testing.B) {
				dst, src := stacking(b, rows, from == "files")
				b.SetBytes(int64(rows * stepLeaves * 16))
				b.ReportAllocs()
				for b.Loop() {
					if err := shapeops.StackInto(dst, src, 0); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
