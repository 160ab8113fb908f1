package loader_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// numbers returns the rows with the given numbers of a source, as their leaf "row" says.
func numbers(t testing.TB, src loader.Source, rows ...int) []int {
	t.Helper()
	return rowsOf(t, must(src.Fetch(t.Context(), rows, nil)))
}

// inParts returns rows 0 to 9 as a concatenation of sources of memory and of files, some empty.
func inParts(t testing.TB) loader.Source {
	t.Helper()
	none := must(loader.From(kinds(t, 0, 0)))
	return must(loader.Concat(
		none, must(loader.From(kinds(t, 0, 4))), none, none, must(loader.FromDataset(open(t, kinds(t, 4, 1)))), must(loader.From(kinds(t, 5, 5))), none,
	))
}

func TestConcat(t *testing.T) {
	src := inParts(t)
	require.Equal(t, 10, src.Len())
	tests := []struct {
		name string
		rows []int
	}{
		{"rows of the first part", []int{2, 0, 2}},
		{"rows of the last part", []int{9, 5}},
		{"rows of a part of one row", []int{4, 4}},
		{"rows of two parts", []int{3, 4}},
		{"rows of all parts, mixed", []int{9, 0, 4, 8, 1, 4, 0}},
		{"all rows", []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := must(src.Fetch(t.Context(), tt.rows, nil))
			require.Equal(t, tt.rows, rowsOf(t, td))
			x, codes, names := []float32{}, make([][]int64, len(tt.rows)), []any{}
			for i, row := range tt.rows {
				x = append(x, float32(row), -float32(row))
				if row%3 > 0 {
					codes[i] = repeat(int64(row), row%3)
				}
				names = append(names, "r"+string(rune('0'+row)))
			}
			require.Equal(t, x, must(tdict.Slice[float32](td, "deep/x")))
			lists := must(ragged.Lists[int64](must(tdict.Get[*ragged.Tensor](td, "codes")))).([][]int64)
			for i := range codes {
				require.ElementsMatch(t, codes[i], lists[i])
			}
			for i, want := range names {
				require.Equal(t, want, must(must(tdict.Get[*tdict.Data](td, "name")).At(i)))
			}
		})
	}
}

// Rows of one part are views where the part has them; rows of two are not.
func TestConcatSlice(t *testing.T) {
	src := inParts(t).(loader.Slicer)
	require.Equal(t, []int{5, 6, 7}, rowsOf(t, must(src.Slice(5, 8))))
	require.Equal(t, []int{4}, rowsOf(t, must(src.Slice(4, 5))))
	plain := must(loader.FromFunc(3, must(loader.From(kinds(t, 0, 3))).Fetch))
	tests := []struct {
		name        string
		src         loader.Source
		start, stop int
	}{
		{"rows of two parts", inParts(t), 3, 5},
		{"rows after the last", inParts(t), 9, 11},
		{"rows before the first", inParts(t), -1, 2},
		{"rows from the end on", inParts(t), 10, 10},
		{"a part that has no views", must(loader.Concat(plain, plain)), 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Error(t, testkit.Err(tt.src.(loader.Slicer).Slice(tt.start, tt.stop)))
		})
	}
}

// Batches use memory again whether their rows are of one part or of several.
func TestConcatUsesMemoryAgain(t *testing.T) {
	a, b := must(kinds(t, 0, 4).Select("row", "deep")), must(kinds(t, 4, 4).Select("row", "deep"))
	src := must(loader.Concat(must(loader.From(a)), must(loader.From(b))))
	dst := must(src.Fetch(t.Context(), []int{0, 5}, nil))
	for _, rows := range [][]int{{0, 1}, {7, 6}, {3, 4}, {4, 3}} {
		got := must(src.Fetch(t.Context(), rows, dst))
		require.Same(t, dst, got)
		require.Equal(t, rows, rowsOf(t, got))
	}
}

// A part is told of its own rows.
func TestPrefetchReachesTheParts(t *testing.T) {
	var told [][]int
	part := func(n int) loader.Source {
		return teller{must(loader.From(kinds(t, 0, n))), func(rows []int) { told = append(told, rows) }}
	}
	plain := must(loader.From(kinds(t, 0, 3)))
	both := must(loader.Concat(part(3), plain, part(4)))
	require.NoError(t, both.(loader.Prefetcher).Prefetch(9, 0, 4, 2, 6))
	require.Equal(t, [][]int{{0, 2}, {0, 3}}, told)

	told = nil
	some := must(loader.Subset(both, []int{9, 9, 1}))
	require.NoError(t, some.(loader.Prefetcher).Prefetch(2, 1))
	require.Equal(t, [][]int{{1}, {3}}, told)

	told = nil
	require.NoError(t, must(loader.Zip(part(3), plain, part(3))).(loader.Prefetcher).Prefetch(1, 2))
	require.Equal(t, [][]int{{1, 2}, {1, 2}}, told)
	require.NoError(t, must(loader.Subset(plain, []int{1})).(loader.Prefetcher).Prefetch(0))
}

// A teller calls a function with the rows that it is told of.
type teller struct {
	loader.Source
	told func(rows []int)
}

// Prefetch implements loader.Prefetcher.
func (p teller) Prefetch(rows ...int) error {
	p.told(append([]int(nil), rows...))
	return nil
}

// Rows that do not exist are refused before a part is asked.
func TestPrefetchRefuses(t *testing.T) {
	from := must(loader.FromDataset(open(t, kinds(t, 0, 3))))
	closed := open(t, kinds(t, 0, 3))
	gone := must(loader.FromDataset(closed))
	require.NoError(t, closed.Close())
	tests := []struct {
		name string
		src  loader.Source
		row  int
		is   error
	}{
		{"of parts, after the last", must(loader.Concat(from, from)), 6, shapeops.ErrIndex},
		{"of parts, before the first", must(loader.Concat(from, from)), -1, shapeops.ErrIndex},
		{"of a subset, after the last", must(loader.Subset(from, []int{1})), 1, shapeops.ErrIndex},
		{"of a subset, before the first", must(loader.Subset(from, []int{1})), -1, shapeops.ErrIndex},
		{"of parts, one of which is closed", must(loader.Concat(from, gone)), 3, memmap.ErrClosed},
		{"of a closed dataset side by side", must(loader.Zip(from, gone)), 0, memmap.ErrClosed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.is, tt.src.(loader.Prefetcher).Prefetch(tt.row)) })
	}
	require.ErrorIs(t, must(loader.Zip(from)).(loader.Prefetcher).Prefetch(3), shapeops.ErrIndex)
}

// An undescribed source does not say what its rows are.
type undescribed struct{ loader.Source }

func TestConcatRefuses(t *testing.T) {
	from := must(loader.From(kinds(t, 0, 3)))
	less := must(loader.From(must(kinds(t, 0, 3).Select("row"))))
	x := tdict.New(2)
	require.NoError(t, x.Set("row", tensor.Vector[int8](1, 2)))
	other := must(loader.From(x))
	fetch := func(rows []int, parts ...loader.Source) func() error {
		return func() error {
			return testkit.Err(must(loader.Concat(parts...)).Fetch(context.Background(), rows, nil))
		}
	}
	// wrong returns a part that answers with other rows than it is asked for.
	wrong := func(answer *tdict.TensorDict) loader.Source {
		return must(loader.FromFunc(3, func(context.Context, []int, *tdict.TensorDict) (*tdict.TensorDict, error) { return answer, nil }))
	}
	tests := []struct {
		name string
		op   func() error
		is   error
	}{
		{"no sources", func() error { return testkit.Err(loader.Concat()) }, loader.ErrSource},
		{"a nil source", func() error { return testkit.Err(loader.Concat(from, nil)) }, loader.ErrSource},
		{"a row after the last", fetch([]int{0, 6}, from, from), shapeops.ErrIndex},
		{"parts with other keys", func() error { return testkit.Err(loader.Concat(from, less)) }, loader.ErrSource},
		{"parts with other dtypes", func() error { return testkit.Err(loader.Concat(less, other)) }, loader.ErrSource},
		{"parts with other keys that nobody described", fetch([]int{0, 4}, from, undescribed{less}), tdict.ErrMissing},
		{"parts with other dtypes that nobody described", fetch([]int{0, 4}, undescribed{less}, other), tensor.ErrDType},
		{"a part that returns more rows", fetch([]int{0, 4}, wrong(kinds(t, 0, 2)), from), loader.ErrSource},
		{"a part that returns no dictionary", fetch([]int{0, 4}, wrong(nil), from), loader.ErrSource},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.is, tt.op()) })
	}
}

// Without rows there are no batches.
func TestEmptySources(t *testing.T) {
	none := must(loader.From(kinds(t, 0, 0)))
	for name, src := range map[string]loader.Source{
		"from":    none,
		"dataset": must(loader.FromDataset(open(t, kinds(t, 0, 0)))),
		"concat":  must(loader.Concat(none, none)),
		"zip":     must(loader.Zip(none, must(loader.From(tdict.New(0))))),
		"subset":  must(loader.Subset(must(loader.From(kinds(t, 0, 3))), nil)),
		"rows":    must(loader.FromRows(0, visit)),
		"func":    must(loader.FromFunc(0, none.Fetch)),
		"tensors": must(loader.FromTensors(must(tensor.Zeros[int8](0)))),
	} {
		t.Run(name, func(t *testing.T) {
			for _, s := range []sampler.Sampler{sampler.Sequential(), sampler.Random()} {
				l := must(loader.New(src, loader.Options{Batch: 2, Sampler: s, Workers: 1}))
				require.Zero(t, l.Len())
				for range l.Batches(t.Context()) {
					t.Fatal("there is a batch")
				}
				require.Equal(t, uint64(1), l.Epoch())
			}
		})
	}
}
