package tdict_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestLookingUpAllocatesNothing(t *testing.T) {
	td := wide(10, 3)
	require.NoError(t, td.Set("x/y/z", count(3)))
	for _, key := range []nestedkey.Key{"leaf07", "x/y/z"} {
		require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = td.Get(key) }), "get %s", key)
		require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = td.Tensor(key) }), "tensor %s", key)
		require.Zero(t, testing.AllocsPerRun(100, func() { _ = td.Has(key) }), "has %s", key)
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = td.Has("x/y/no") }))
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for range td.All() {
			continue
		}
	}))
}

// Results of many small leaves come from few blocks, however many leaves there are. The numbers are
// ceilings: whoever saves an allocation lowers them.
func TestOperationsAllocateFewBlocks(t *testing.T) {
	take := ix.Take(1, 5, 9, 2, 30, 7, 7, 0)
	for _, leaves := range []int{1, 10, 100} {
		td := wide(leaves, 32)
		nested := dict([]int{32}, entry{"n", wide(leaves, 32)})
		byRange := func(td *tdict.TensorDict) float64 {
			return testing.AllocsPerRun(100, func() { _, _ = td.Index(ix.Range(4, 20)) })
		}
		require.LessOrEqual(t, byRange(td), 6.0, "by range, %d leaves", leaves)
		require.LessOrEqual(t, byRange(nested), 8.0, "by range, nested, %d leaves", leaves)
		require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = td.Index(take) }), 10.0, "by list, %d leaves", leaves)
	}
	for _, n := range []int{2, 10, 100} {
		tds := make([]*tdict.TensorDict, n)
		for i := range tds {
			tds[i] = wide(10, 32)
		}
		stack := testing.AllocsPerRun(20, func() { _, _ = shapeops.Stack(tds, 0) })
		require.LessOrEqual(t, stack, 12.0, "stack of %d", n)
	}
}

// Rows that are taken into memory that is there cost headers only, however many they are.
func TestIndexIntoAllocationsDoNotGrowWithRows(t *testing.T) {
	td := wide(10, 5000)
	cost := func(n int) float64 {
		rows := make([]int, n)
		for i := range rows {
			rows[i] = i * 7 % 5000
		}
		dst, take := wide(10, n), ix.Take(rows...)
		return testing.AllocsPerRun(20, func() {
			if err := td.IndexInto(dst, take); err != nil {
				t.Error(err)
			}
		})
	}
	require.InDelta(t, cost(2), cost(4000), 1)
	require.LessOrEqual(t, cost(4000), 16.0)
}

// Values that no row has any more are dropped.
func TestDataForgets(t *testing.T) {
	const writes, size = 100, 1 << 20
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	td, before := dict([]int{2}, entry{"d", data("", 2)}), heap()
	for i := range writes {
		require.NoError(t, td.SetIndex(data(strings.Repeat(string(rune('a'+i%26)), size)), ix.At(i%2)))
	}
	require.Less(t, heap(), before+writes/2*size)
	runtime.KeepAlive(td)
}

// The bytes of many small writes, and of a few rows of many, grow with their number, not with its
// square.
func TestDataGrowth(t *testing.T) {
	all := func(n int) *tdict.TensorDict {
		values := make([]any, n)
		for i := range values {
			values[i] = i
		}
		return dict([]int{n}, entry{"d", tensor.Must(tdict.DataFrom(values, n))})
	}
	tests := []struct {
		name string
		run  func(td *tdict.TensorDict, n int) error
		most float64 // times the bytes of a tenth
	}{
		{"one row at a time", func(td *tdict.TensorDict, n int) error {
			for i := range n {
				if err := td.SetIndex(data(-i), ix.At(i)); err != nil {
					return err
				}
			}
			return nil
		}, 15},
		{"one row at a time, read in between", func(td *tdict.TensorDict, n int) error {
			for i := range n {
				if err := td.SetIndex(data(-i), ix.At(i)); err != nil {
					return err
				}
				_ = tensor.Must(td.Index(ix.At(i)))
			}
			return nil
		}, 15},
		{"one row again and again", func(td *tdict.TensorDict, n int) error {
			for i := range n {
				if err := td.SetIndex(data(-i), ix.At(0)); err != nil {
					return err
				}
			}
			return nil
		}, 15},
		{"rows of another, one at a time", func(td *tdict.TensorDict, n int) error {
			other := tensor.Must(td.Clone())
			for i := range n {
				if err := td.SetIndex(tensor.Must(other.Index(ix.At(n-1-i))), ix.At(i)); err != nil {
					return err
				}
			}
			return nil
		}, 15},
		{"ten rows of it, stacked", func(td *tdict.TensorDict, n int) error {
			rows := make([]*tdict.TensorDict, 10)
			for i := range rows {
				rows[i] = tensor.Must(td.Index(ix.At(i)))
			}
			return testkit.Err(shapeops.Stack(rows, 0))
		}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cost := func(n int) func() {
				td := all(n)
				return func() { require.NoError(t, tt.run(td, n)) }
			}
			for _, n := range []int{100, 1000} {
				testkit.Near(t, tt.most, cost(n), cost(10*n))
			}
		})
	}
}
