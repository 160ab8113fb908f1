package loader_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// column returns n rows under a key, which count from start.
func column(t testing.TB, key nestedkey.Key, start, n int) loader.Source {
	t.Helper()
	td := tdict.New(n)
	require.NoError(t, td.Set(key, must(tensor.Arange(int64(start), int64(start+n), 1))))
	return must(loader.From(td))
}

func TestZip(t *testing.T) {
	src := must(loader.Zip(column(t, "row", 0, 5), column(t, "b/x", 10, 5), column(t, "c", 20, 5)))
	require.Equal(t, 5, src.Len())
	td := must(src.Fetch(t.Context(), []int{4, 0, 4}, nil))
	require.Equal(t, []nestedkey.Key{"row", "b/x", "c"}, testkit.Keys(td.Leaves()))
	require.Equal(t, []int64{4, 0, 4}, must(tdict.Slice[int64](td, "row")))
	require.Equal(t, []int64{14, 10, 14}, must(tdict.Slice[int64](td, "b/x")))
	require.Equal(t, []int64{24, 20, 24}, must(tdict.Slice[int64](td, "c")))
	view := must(src.(loader.Slicer).Slice(1, 3))
	require.Equal(t, []int64{11, 12}, must(tdict.Slice[int64](view, "b/x")))
}

// Memory is used again, also that of sources which do not fill what they are given.
func TestZipUsesMemoryAgain(t *testing.T) {
	lazy := must(loader.FromFunc(5, func(ctx context.Context, rows []int, _ *tdict.TensorDict) (*tdict.TensorDict, error) {
		return column(t, "lazy", 50, 5).Fetch(ctx, rows, nil)
	}))
	src := must(loader.Zip(column(t, "row", 0, 5), lazy, column(t, "b/x", 10, 5)))
	dst := must(src.Fetch(t.Context(), []int{0, 1}, nil))
	x := must(dst.Tensor("b/x"))
	for _, rows := range [][]int{{3, 4}, {2, 2}} {
		got := must(src.Fetch(t.Context(), rows, dst))
		require.Same(t, dst, got)
		require.Equal(t, rows, rowsOf(t, got))
		require.Equal(t, int64(50+rows[0]), must(tdict.Slice[int64](got, "lazy"))[0])
		require.True(t, must(got.Tensor("b/x")).SharesMemory(x))
	}
}

// A dst that fits one source and not another is not used.
func TestZipDoesWithoutWhatDoesNotFit(t *testing.T) {
	src := must(loader.Zip(column(t, "row", 0, 5), column(t, "b", 10, 5)))
	require.NoError(t, testkit.Err(src.Fetch(t.Context(), []int{0, 1}, nil)))
	dst := tdict.New(2)
	require.NoError(t, dst.Set("row", tensor.Vector[int64](7, 7)))
	require.NoError(t, dst.Set("c", tensor.Vector[int64](8, 8)))
	got := must(src.Fetch(t.Context(), []int{3, 4}, dst))
	require.NotSame(t, dst, got)
	require.Equal(t, []int{3, 4}, rowsOf(t, got))
	require.Equal(t, []int64{13, 14}, must(tdict.Slice[int64](got, "b")))
}

// Epochs of several sources, each of its own kind, go together row by row.
func TestZipOfConcatAndSubset(t *testing.T) {
	rows := must(loader.Concat(column(t, "row", 0, 4), column(t, "row", 4, 3), must(loader.Subset(column(t, "row", 0, 9), []int{7, 8}))))
	other := must(loader.Subset(column(t, "b", 100, 20), []int{10, 11, 12, 13, 14, 15, 16, 17, 18}))
	src := must(loader.Zip(rows, other))
	for _, opt := range []loader.Options{{Batch: 2}, {Batch: 4, Sampler: sampler.Random(), Workers: 2}} {
		l := must(loader.New(src, opt))
		for range 2 {
			var seen []int
			for batch, err := range l.Batches(t.Context()) {
				require.NoError(t, err)
				for i, v := range must(tdict.Slice[int64](batch, "b")) {
					require.Equal(t, rowsOf(t, batch)[i]+110, int(v))
				}
				seen = append(seen, rowsOf(t, batch)...)
			}
			slices.Sort(seen)
			require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, seen)
		}
	}
}

func TestZipRefuses(t *testing.T) {
	a := column(t, "row", 0, 3)
	short := must(loader.FromFunc(3, func(context.Context, []int, *tdict.TensorDict) (*tdict.TensorDict, error) {
		return tdict.New(1), nil
	}))
	failing := must(loader.FromFunc(3, func(context.Context, []int, *tdict.TensorDict) (*tdict.TensorDict, error) {
		return nil, errors.ErrUnsupported
	}))
	fetch := func(row int, parts ...loader.Source) func() error {
		return func() error {
			return testkit.Err(must(loader.Zip(parts...)).Fetch(context.Background(), []int{0, row}, nil))
		}
	}
	tests := []struct {
		name string
		op   func() error
		is   error
	}{
		{"no sources", func() error { return testkit.Err(loader.Zip()) }, loader.ErrSource},
		{"a nil source", func() error { return testkit.Err(loader.Zip(nil, a)) }, loader.ErrSource},
		{"unequal lengths", func() error { return testkit.Err(loader.Zip(a, column(t, "b", 0, 4))) }, loader.ErrLen},
		{"equal keys", fetch(1, a, a), tdict.ErrExists},
		{"equal keys of dictionaries", fetch(1, column(t, "d/x", 0, 3), column(t, "d/y", 0, 3)), tdict.ErrExists},
		{"equal keys of views", func() error { return testkit.Err(must(loader.Zip(a, a)).(loader.Slicer).Slice(0, 2)) }, tdict.ErrExists},
		{"a row that does not exist", fetch(3, a), shapeops.ErrIndex},
		{"a source that fails", fetch(1, a, failing), errors.ErrUnsupported},
		{"a source that returns fewer rows", fetch(1, a, short), loader.ErrSource},
		{"a source without views", func() error { return testkit.Err(must(loader.Zip(a, short)).(loader.Slicer).Slice(0, 2)) }, errors.ErrUnsupported},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.is, tt.op()) })
	}
}
