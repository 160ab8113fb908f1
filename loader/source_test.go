package loader_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/loadertest"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// kinds returns n rows with a leaf of each kind, which say the number of their row, counted from
// start:
//
//	row      int64 [n]
//	deep/x   float32 [n 2]
//	codes    ragged int64 [n *], row i has i%3 codes i
//	visits   ragged int32 [n * *], row i has i%2+1 visits of i%3 codes i
//	name     data, "r0" and so on
//	weights  unbatched float32 [3]
func kinds(t testing.TB, start, n int) *tdict.TensorDict {
	t.Helper()
	x, codes, visits, names := []float32{}, make([][]int64, n), make([][][]int32, n), make([]string, n)
	for i := range n {
		row := start + i
		x = append(x, float32(row), -float32(row))
		codes[i] = repeat(int64(row), row%3)
		visits[i] = make([][]int32, row%2+1)
		for k := range visits[i] {
			visits[i][k] = repeat(int32(row), row%3)
		}
		names[i] = fmt.Sprint("r", row)
	}
	td := tdict.New(n)
	for _, e := range []struct {
		key   nestedkey.Key
		value tdict.Value
	}{
		{"row", must(tensor.Arange(int64(start), int64(start+n), 1))},
		{"deep/x", must(tensor.From(x, n, 2))},
		{"codes", must(ragged.From[int64](codes))},
		{"visits", must(ragged.From[int32](visits))},
		{"name", must(tdict.DataFrom(names, n))},
		{"weights", must(tdict.NewUnbatched(tensor.Vector[float32](1, 2, 3)))},
	} {
		require.NoError(t, td.Set(e.key, e.value))
	}
	return td
}

// repeat returns n times v.
func repeat[T any](v T, n int) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = v
	}
	return all
}

// save returns the directory of a dictionary.
func save(t testing.TB, td *tdict.TensorDict) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "d")
	require.NoError(t, memmap.Save(dir, td))
	return dir
}

// open returns a dataset of a dictionary.
func open(t testing.TB, td *tdict.TensorDict) *memmap.Dataset {
	t.Helper()
	ds := must(memmap.Open(save(t, td)))
	t.Cleanup(func() { _ = ds.Close() }) // tests may have closed it
	return ds
}

// rename returns td with "_" and a suffix after each key.
func rename(t testing.TB, td *tdict.TensorDict, suffix string) *tdict.TensorDict {
	t.Helper()
	out := tdict.New(td.Shape()...)
	for k, v := range td.All() {
		require.NoError(t, out.Set(k+nestedkey.Key("_"+suffix), v))
	}
	return out
}

// adapters are sources of 12 rows, and what rows these are of kinds(t, 0, 12), nil for all.
func adapters(t *testing.T) map[string]loader.Source {
	whole := kinds(t, 0, 12)
	dense := must(whole.Select("row", "deep"))
	from := must(loader.From(whole))
	dataset := must(loader.FromDataset(open(t, whole)))
	parts := must(loader.Concat(must(loader.From(kinds(t, 0, 5))), must(loader.From(kinds(t, 5, 0))), must(loader.FromDataset(open(t, kinds(t, 5, 7))))))
	live := must(memmap.OpenLive(save(t, whole), memmap.LiveOptions{}))
	t.Cleanup(func() { require.NoError(t, live.Close()) })
	backwards := must(loader.Subset(from, []int{11, 10, 9, 8, 7, 6, 0, 1, 2, 3, 3, 3}))
	return map[string]loader.Source{
		"From":             from,
		"From dense":       must(loader.From(dense)),
		"From no leaves":   must(loader.From(tdict.New(12))),
		"From no rows":     must(loader.From(tdict.New(0))),
		"From one row":     must(loader.From(kinds(t, 0, 1))),
		"From batch [N B]": must(loader.From(must(dense.WithBatch(12)))),
		"FromDataset":      dataset,
		"FromLive":         must(loader.FromLive(live, loader.LiveOptions{})),
		"FromLive finish":  must(loader.FromLive(live, loader.LiveOptions{Finish: true})),
		"FromTensors":      must(loader.FromTensors(must(whole.Tensor("row")), must(whole.Tensor("deep/x")))),
		"From collection":  must(loader.From(must(patients(t).Dict()))),
		"FromRows dense":   must(loader.FromRows(12, rowOf(dense))),
		"FromRows ragged":  must(loader.FromRows(12, visit)),
		"FromFunc":         must(loader.FromFunc(12, from.Fetch)),
		"Concat":           parts,
		"Concat dense":     must(loader.Concat(must(loader.From(dense)), must(loader.From(dense)))),
		"Concat of itself": must(loader.Concat(from, from)),
		"Zip":              must(loader.Zip(from, must(loader.From(rename(t, whole, "b"))))),
		"Zip dense":        must(loader.Zip(must(loader.From(dense)), must(loader.From(rename(t, dense, "b"))))),
		"Zip of functions": must(loader.Zip(must(loader.FromRows(12, rowOf(dense))), must(loader.From(rename(t, dense, "b"))))),
		"Zip of one":       must(loader.Zip(from)),
		"Subset":           backwards,
		"Subset of none":   must(loader.Subset(from, nil)),
		"Subset of mapped": must(loader.Subset(dataset, []int{3, 4, 5, 5, 0})),
		"Zip of Concat and Subset": must(loader.Zip(
			parts, must(loader.Subset(must(loader.From(rename(t, whole, "b"))), []int{11, 10, 9, 8, 7, 6, 0, 1, 2, 3, 3, 3})))),
		"Concat of Zip and Subset": must(loader.Concat(must(loader.Zip(from)), backwards)),
		"Subset of Concat of Live": must(loader.Subset(must(loader.Concat(from, must(loader.FromLive(live, loader.LiveOptions{})))), []int{23, 0, 12, 13})),
	}
}

// patients returns a collection of 6 patients.
func patients(t testing.TB) *joint.Joint {
	t.Helper()
	codes, visits := make([][][]int64, 6), make([][]int64, 6)
	for i := range codes {
		codes[i] = make([][]int64, i%3)
		for k := range codes[i] {
			codes[i][k] = repeat(int64(i), k+1)
		}
		visits[i] = repeat(int64(i), i%3)
	}
	return must(nrt.FromLists(map[string]any{"codes": codes, "visits": visits, "age": []int64{5, 4, 3, 2, 1, 0}}, nil))
}

// rowOf returns a function that returns rows of td.
func rowOf(td *tdict.TensorDict) func(ctx context.Context, row int) (*tdict.TensorDict, error) {
	return func(_ context.Context, row int) (*tdict.TensorDict, error) { return td.Index(ix.At(row)) }
}

// visit returns a row with batch shape [row%3], of its number.
func visit(_ context.Context, row int) (*tdict.TensorDict, error) {
	td := tdict.New(row % 3)
	return td, td.Set("x", tensor.Vector(repeat(int64(row), row%3)...))
}

func TestAdapters(t *testing.T) {
	for name, src := range adapters(t) {
		t.Run(name, func(t *testing.T) { require.NoError(t, loadertest.TestSource(t.Context(), src)) })
	}
}

// TestAdaptersLoad compares epochs with the rows that they are of, in order, at random and with
// workers, and with memory that is spoiled when it is not valid any more.
func TestAdaptersLoad(t *testing.T) {
	for name, src := range adapters(t) {
		for _, opt := range []loader.Options{
			{Batch: 5}, {Batch: 5, Sampler: sampler.Random(), Seed: 1}, {Batch: 3, Sampler: sampler.Random(), Workers: 2}, {Batch: 4, Sampler: sampler.Random(), Own: true},
		} {
			t.Run(fmt.Sprintf("%s/%v/workers=%d", name, opt.Sampler, opt.Workers), func(t *testing.T) {
				opt.Poison, opt.RowsKey = true, "number"
				l := must(loader.New(src, opt))
				for range 3 {
					rows := 0
					for batch, err := range l.Batches(t.Context()) {
						require.NoError(t, err)
						numbers := testkit.Elements[int64](t, must(batch.Tensor("number")))
						require.NoError(t, batch.Delete("number"))
						requireRows(t, src, numbers, batch)
						rows += len(numbers)
					}
					require.Equal(t, src.Len(), rows)
				}
			})
		}
	}
}

// requireRows fails the test unless a batch has the rows with some numbers.
func requireRows(t *testing.T, src loader.Source, numbers []int64, batch *tdict.TensorDict) {
	t.Helper()
	for i, number := range numbers {
		want := must(src.Fetch(t.Context(), []int{int(number)}, nil))
		text, err := must(batch.Index(ix.Range(i, i+1))).Diff(want)
		require.NoError(t, err)
		require.Empty(t, text, "row %d", number)
	}
}

// Poison overwrites ragged leaves, too: their memory is used again.
func TestPoisonOfRaggedLeaves(t *testing.T) {
	l := must(loader.New(must(loader.From(kinds(t, 0, 12))), loader.Options{Batch: 4, Poison: true, Sampler: sampler.Random()}))
	for batch, err := range l.Batches(t.Context()) {
		require.NoError(t, err)
		kept := must(must(tdict.Get[*ragged.Tensor](batch, "codes")).Values())
		t.Cleanup(func() {
			for _, v := range testkit.Elements[int64](t, kept) {
				require.Equal(t, int64(math.MinInt64), v)
			}
		})
		break
	}
}

func TestFrom(t *testing.T) {
	rows := []int{7, 0, 7, 2}
	for name, src := range map[string]loader.Source{"memory": must(loader.From(kinds(t, 0, 9))), "mapped": must(loader.FromDataset(open(t, kinds(t, 0, 9))))} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, 9, src.Len())
			td := must(src.Fetch(t.Context(), rows, nil))
			require.Equal(t, []int64{7, 0, 7, 2}, must(tdict.Slice[int64](td, "row")))
			require.Equal(t, []float32{7, -7, 0, 0, 7, -7, 2, -2}, must(tdict.Slice[float32](td, "deep/x")))
			require.Equal(t, [][]int64{{7}, {}, {7}, {2, 2}}, must(ragged.Lists[int64](must(tdict.Get[*ragged.Tensor](td, "codes")))))
			require.Equal(t, `data [4] ["r7" "r0" "r7" "r2"]`, must(tdict.Get[*tdict.Data](td, "name")).String())
			view := must(src.(loader.Slicer).Slice(3, 5))
			require.Equal(t, []int64{3, 4}, must(tdict.Slice[int64](view, "row")))
		})
	}
}

// Neighbouring rows are views: writing to the dictionary shows in them.
func TestFromSlice(t *testing.T) {
	td := kinds(t, 0, 9)
	src := must(loader.From(td)).(loader.Slicer)
	view := must(must(src.Slice(2, 4)).Tensor("deep/x"))
	require.True(t, view.SharesMemory(must(td.Tensor("deep/x"))))
	testkit.Fails(t, shapeops.ErrIndex, testkit.Err(src.Slice(4, 10)))
}

func TestDescribe(t *testing.T) {
	dense := must(kinds(t, 0, 12).Select("row", "deep"))
	one, more := must(loader.From(dense)), must(loader.From(must(kinds(t, 0, 90).Select("row", "deep"))))
	none := must(loader.From(must(kinds(t, 0, 0).Select("row", "deep"))))
	schema := "\"deep/x\" float32 [2]\n\"row\" int64 []"
	tests := []struct {
		name string
		src  loader.Source
		want loader.Description
	}{
		{"a row has the bytes of its leaves", one, loader.Description{RowBytes: 16, Schema: schema}},
		{"the number of rows does not matter", more, loader.Description{RowBytes: 16, Schema: schema}},
		{"without rows the bytes are not known", none, loader.Description{Schema: schema}},
		{"a subset is like the source", must(loader.Subset(one, []int{0})), loader.Description{RowBytes: 16, Schema: schema}},
		{"side by side they add up", must(loader.Zip(one, must(loader.From(rename(t, dense, "b"))))),
			loader.Description{RowBytes: 32, Schema: schema + "\n\"deep_b/x\" float32 [2]\n\"row_b\" int64 []"}},
		{"one after the other they are averaged", must(loader.Concat(one, more)), loader.Description{RowBytes: 16, Schema: schema}},
		{"of a function nothing is known", must(loader.Zip(must(loader.FromFunc(12, one.Fetch)))), loader.Description{}},
		{"each kind has its word", must(loader.From(kinds(t, 0, 12))), loader.Description{RowBytes: 42, Schema: "" +
			"\"codes\" ragged int64 [] depth 1 []\n\"deep/x\" float32 [2]\n\"name\" data\n" +
			"\"row\" int64 []\n\"visits\" ragged int32 [] depth 2 []\n\"weights\" unbatched float32 [3]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := must(tt.src.(loader.Describer).Describe())
			require.Equal(t, tt.want.Schema, got.Schema)
			if tt.name != "each kind has its word" { // how many bytes offsets have is the layout's business
				require.Equal(t, tt.want.RowBytes, got.RowBytes)
			}
		})
	}
}

func TestFromTensors(t *testing.T) {
	src := must(loader.FromTensors(tensor.Vector[int8](1, 2, 3), must(tensor.From([]float64{1, 2, 3, 4, 5, 6}, 3, 2))))
	td := must(src.Fetch(t.Context(), []int{2, 0}, nil))
	require.Equal(t, []int8{3, 1}, must(tdict.Slice[int8](td, "0")))
	require.Equal(t, []float64{5, 6, 1, 2}, must(tdict.Slice[float64](td, "1")))
}

func TestFromCollection(t *testing.T) {
	src := must(loader.From(must(patients(t).Dict())))
	td := must(src.Fetch(t.Context(), []int{5, 0}, nil))
	require.Equal(t, []int64{0, 5}, must(tdict.Slice[int64](td, "age")))
	require.Equal(t, [][][]int64{{{5}, {5, 5}}, {}}, must(ragged.Lists[int64](must(tdict.Get[*ragged.Tensor](td, "codes")))))
}

// Rows of batch shape [L] are ragged however many are fetched and whatever their lengths are.
func TestFromRowsRagged(t *testing.T) {
	src := must(loader.FromRows(9, visit))
	tests := []struct {
		name string
		rows []int
		want [][]int64
	}{
		{"lengths differ", []int{2, 0, 4}, [][]int64{{2, 2}, {}, {4}}},
		{"lengths are the same", []int{1, 4, 7}, [][]int64{{1}, {4}, {7}}},
		{"one row", []int{5}, [][]int64{{5, 5}}},
		{"a row without length", []int{3}, [][]int64{nil}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := must(src.Fetch(t.Context(), tt.rows, nil))
			require.Equal(t, shapeops.Shape{len(tt.rows)}, td.Shape().Clone())
			require.Equal(t, tt.want, must(ragged.Lists[int64](must(tdict.Get[*ragged.Tensor](td, "x")))))
		})
	}
}

// FromRows makes a row as often as it is asked for, no other, and stops when ctx ends.
func TestFromRowsCalls(t *testing.T) {
	var made []int
	ctx, cancel := context.WithCancel(t.Context())
	src := must(loader.FromRows(9, func(ctx context.Context, row int) (*tdict.TensorDict, error) {
		if made = append(made, row); row == 8 {
			cancel()
		}
		return tdict.New(), ctx.Err()
	}))
	require.NoError(t, testkit.Err(src.Fetch(ctx, []int{3, 1, 3}, nil)))
	require.Equal(t, []int{3, 1, 3}, made)
	require.ErrorIs(t, testkit.Err(src.Fetch(ctx, []int{8, 1, 3}, nil)), context.Canceled)
	require.Equal(t, []int{3, 1, 3, 8}, made)
}

// An unbatched tensor belongs to all rows of one source: those of another are not written to it.
func TestUnbatchedIsKept(t *testing.T) {
	one, two := kinds(t, 0, 4), kinds(t, 4, 4)
	require.NoError(t, two.Set("weights", must(tdict.NewUnbatched(tensor.Vector[float32](7, 8, 9)))))
	src := must(loader.Concat(must(loader.From(one)), must(loader.From(two))))
	weights := func(td *tdict.TensorDict) []float32 {
		return testkit.Elements[float32](t, must(tdict.Get[*tdict.Unbatched](td, "weights")).Tensor())
	}
	dst := must(src.Fetch(t.Context(), []int{0, 1}, nil))
	td := must(src.Fetch(t.Context(), []int{4, 5}, dst))
	require.Equal(t, []float32{7, 8, 9}, weights(td))
	require.Same(t, dst, td, "dst has the tensor of the other part now")
	require.Equal(t, []float32{1, 2, 3}, weights(one), "the source is as it was")
	require.Same(t, td, must(src.Fetch(t.Context(), []int{6, 7}, td)))
	testkit.Fails(t, tdict.ErrDiffers, testkit.Err(src.Fetch(t.Context(), []int{0, 7}, nil)))
}

// A dataset that is closed in the middle of an epoch ends it, also one of views, which could not be
// read.
func TestDatasetClosedInTheMiddle(t *testing.T) {
	for _, s := range []sampler.Sampler{sampler.Sequential(), sampler.Random()} {
		for _, workers := range []int{0, 2} {
			t.Run(fmt.Sprintf("%v/workers=%d", s, workers), func(t *testing.T) {
				ds := open(t, kinds(t, 0, 100))
				l := must(loader.New(must(loader.FromDataset(ds)), loader.Options{Batch: 2, Sampler: s, Workers: workers}))
				batches, failed := 0, error(nil)
				for batch, err := range l.Batches(t.Context()) {
					if err != nil {
						failed = err
						break
					}
					if batches++; batches == 1 {
						require.NoError(t, testkit.Err(batch.Clone()))
						require.NoError(t, ds.Close())
					}
				}
				require.ErrorIs(t, failed, memmap.ErrClosed)
				require.ErrorAs(t, failed, new(*loader.BatchError))
				require.Less(t, batches, 50)
			})
		}
	}
}

func TestSourcesRefuse(t *testing.T) {
	from := must(loader.From(kinds(t, 0, 3)))
	zero := tensor.Vector[int64](1, 2, 3)
	missing := errors.New("no such file")
	fetch := func(src loader.Source, rows ...int) func() error {
		return func() error { return testkit.Err(src.Fetch(context.Background(), rows, nil)) }
	}
	rows := func(fn func(row int) (*tdict.TensorDict, error)) loader.Source {
		return must(loader.FromRows(9, func(_ context.Context, row int) (*tdict.TensorDict, error) { return fn(row) }))
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(missing)
	tests := []struct {
		name string
		op   func() error
		is   error
	}{
		{"From nil", func() error { return testkit.Err(loader.From(nil)) }, loader.ErrSource},
		{"From a scalar", func() error { return testkit.Err(loader.From(tdict.New())) }, shapeops.ErrDim},
		{"FromDataset nil", func() error { return testkit.Err(loader.FromDataset(nil)) }, loader.ErrSource},
		{"FromDataset of the zero Dataset", func() error { return testkit.Err(loader.FromDataset(&memmap.Dataset{})) }, loader.ErrSource},
		{"FromDataset a scalar", func() error { return testkit.Err(loader.FromDataset(open(t, tdict.New()))) }, shapeops.ErrDim},
		{"FromLive nil", func() error { return testkit.Err(loader.FromLive(nil, loader.LiveOptions{})) }, loader.ErrSource},
		{"FromTensors none", func() error { return testkit.Err(loader.FromTensors()) }, loader.ErrSource},
		{"FromTensors nil", func() error { return testkit.Err(loader.FromTensors(zero, nil)) }, loader.ErrSource},
		{"FromTensors a scalar", func() error { return testkit.Err(loader.FromTensors(zero, tensor.Scalar[int64](1))) }, shapeops.ErrDim},
		{"FromTensors of the zero Tensor", func() error { return testkit.Err(loader.FromTensors(&tensor.Tensor{})) }, shapeops.ErrDim},
		{"FromTensors of unequal length", func() error { return testkit.Err(loader.FromTensors(zero, tensor.Vector[int64](1))) }, loader.ErrLen},
		{"FromFunc of negative length", func() error { return testkit.Err(loader.FromFunc(-1, from.Fetch)) }, loader.ErrSource},
		{"FromFunc nil", func() error { return testkit.Err(loader.FromFunc(1, nil)) }, loader.ErrSource},
		{"FromRows of negative length", func() error { return testkit.Err(loader.FromRows(-1, visit)) }, loader.ErrSource},
		{"FromRows nil", func() error { return testkit.Err(loader.FromRows(1, nil)) }, loader.ErrSource},

		{"a row too high", fetch(from, 1, 3), shapeops.ErrIndex},
		{"a negative row", fetch(from, -1), shapeops.ErrIndex},
		{"no rows", fetch(from), shapeops.ErrShape},
		{"no rows of several sources", fetch(must(loader.Concat(from, from))), shapeops.ErrShape},
		{"no rows of a function", fetch(rows(func(int) (*tdict.TensorDict, error) { return tdict.New(), nil })), shapeops.ErrShape},
		{"an ended context", func() error { return testkit.Err(from.Fetch(ctx, []int{0}, nil)) }, missing},
		{"a row that cannot be made", fetch(rows(func(row int) (*tdict.TensorDict, error) { return nil, missing }), 5, 3), missing},
		{"a row that is nil", fetch(rows(func(row int) (*tdict.TensorDict, error) { return nil, nil }), 4), loader.ErrSource},
		{"rows with other keys", fetch(rows(func(row int) (*tdict.TensorDict, error) {
			td := tdict.New()
			return td, td.Set(nestedkey.Key(fmt.Sprint("k", row)), tensor.Scalar[int64](1))
		}), 4, 6), tdict.ErrMissing},
		{"rows with other features", fetch(rows(func(row int) (*tdict.TensorDict, error) {
			td := tdict.New()
			return td, td.Set("x", must(tensor.Zeros[int64](row)))
		}), 4, 6), shapeops.ErrShape},
		{"ragged and dense rows", fetch(rows(func(row int) (*tdict.TensorDict, error) { return tdict.New(repeat(2, row%2)...), nil }), 5, 6), shapeops.ErrDim},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.is, tt.op()) })
	}
}
