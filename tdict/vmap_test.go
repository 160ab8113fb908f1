package tdict_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// firstRow is what Vmap is given to return rows of the first argument.
func firstRow(_ context.Context, rows []dictionary) (dictionary, error) { return rows[0], nil }

// Rows along dims of their own, with constants beside them, are compared with plain loops: each
// result is a [A] times b [N] times the constant, at row i of each.
func TestVmapOracle(t *testing.T) {
	const rows, width = 5, 3
	elems := func(n int) []int64 {
		s := make([]int64, n)
		for i := range s {
			s[i] = rand.Int64N(100)
		}
		return s
	}
	a, b := elems(rows*width), elems(rows)
	for dimA := range 2 {
		shape := []int{rows, width}
		if dimA == 1 {
			shape = []int{width, rows}
		}
		x := dict(shape, entry{"x", tensor.Must(tensor.From(a, shape...))})
		y := dict([]int{rows}, entry{"d/y", tensor.Must(tensor.From(b, rows))})
		z := dict(nil, entry{"z", tensor.Scalar[int64](-1)})
		for out := range 2 {
			for _, workers := range []int{0, 1, 4} {
				opt := tdict.VmapOptions{In: []int{dimA - 2*(workers%2), 0, tdict.NotMapped}, Out: out - 2*(workers%2), Workers: workers}
				got, err := tdict.Vmap(t.Context(), []dictionary{x, y, z}, func(_ context.Context, rows []dictionary) (dictionary, error) {
					require.True(t, rows[2] == z, "what is not mapped is handed over itself")
					y, z := values(t, rows[1], "d/y")[0], values(t, rows[2], "z")[0]
					return tdict.MapElems(rows[0], func(v int64) int64 { return v * y * z })
				}, opt)
				require.NoError(t, err)
				want := make([]int64, rows*width)
				for i := range rows {
					for j := range width {
						v := a[i*width+j]
						if dimA == 1 {
							v = a[j*rows+i]
						}
						if out == 0 {
							want[i*width+j] = -v * b[i]
						} else {
							want[j*rows+i] = -v * b[i]
						}
					}
				}
				require.Equal(t, want, values(t, got, "x"), "%+v", opt)
				require.Equal(t, rows, got.Shape()[out])
			}
		}
	}
}

// In nil is dim 0 of all; rows are views with a structure of their own; results are in order.
func TestVmapDefaults(t *testing.T) {
	a, b := rowTable(0, 6, 2), rowTable(0, 6)
	a.Lock()
	got, err := tdict.Vmap(t.Context(), []dictionary{a, b}, func(_ context.Context, rows []dictionary) (dictionary, error) {
		require.Equal(t, shapeops.Shape{2}, rows[0].Shape())
		require.Equal(t, shapeops.Shape{}, rows[1].Shape())
		require.Equal(t, values(t, rows[0], "row")[1], values(t, rows[1], "row")[0])
		require.True(t, tensor.Must(rows[0].Tensor("d/x")).SharesMemory(tensor.Must(a.Tensor("d/x"))))
		return rows[0], rows[0].Set("new", count(2))
	}, tdict.VmapOptions{})
	require.NoError(t, err)
	require.False(t, a.Has("new") || got.Locked())
	require.True(t, a.Equal(got.Exclude("new")))
	require.False(t, tensor.Must(got.Tensor("d/x")).SharesMemory(tensor.Must(a.Tensor("d/x"))))
}

// Row i takes 10-i seconds.
func TestVmapOrderAndWorkers(t *testing.T) {
	for workers, seconds := range map[int]float64{1: 55, 3: 20, 100: 10} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			got, err := tdict.Vmap(t.Context(), []dictionary{rowTable(0, 10)}, func(_ context.Context, rows []dictionary) (dictionary, error) {
				time.Sleep(time.Duration(10-values(t, rows[0], "row")[0]) * time.Second)
				return rows[0], nil
			}, tdict.VmapOptions{Workers: workers})
			require.NoError(t, err)
			require.True(t, rowTable(0, 10).Equal(got))
			require.InDelta(t, seconds, time.Since(began).Seconds(), 1)
		})
	}
}

func TestVmapRefuses(t *testing.T) {
	run := func(opt tdict.VmapOptions, args ...dictionary) func(dictionary) error {
		return func(x dictionary) error {
			got, err := tdict.Vmap(context.Background(), append([]dictionary{x}, args...), func(context.Context, []dictionary) (dictionary, error) {
				panic("called")
			}, opt)
			if got != nil {
				return errors.New("a result beside an error")
			}
			return err
		}
	}
	never := tdict.NotMapped
	refuse(t, func() dictionary { return rowTable(0, 6, 2) }, []refusal{
		{"too few dims", run(tdict.VmapOptions{In: []int{0}}, rowTable(0, 6)), shapeops.ErrDim},
		{"too many dims", run(tdict.VmapOptions{In: []int{0, 0}}), shapeops.ErrDim},
		{"a dim that is not there", run(tdict.VmapOptions{In: []int{2}}), shapeops.ErrDim},
		{"a negative dim too far", run(tdict.VmapOptions{In: []int{0, -2}}, rowTable(0, 6)), shapeops.ErrDim},
		{"the batch shape []", run(tdict.VmapOptions{}, tdict.New()), shapeops.ErrDim},
		{"sizes that differ", run(tdict.VmapOptions{In: []int{1, 0}}, rowTable(0, 6)), shapeops.ErrShape},
		{"nothing is mapped", run(tdict.VmapOptions{In: []int{never}}), shapeops.ErrShape},
		{"no rows", func(dictionary) error { return run(tdict.VmapOptions{})(rowTable(0, 0)) }, shapeops.ErrShape},
		{"too many rows", func(dictionary) error { return run(tdict.VmapOptions{})(tdict.New(1 << 25)) }, shapeops.ErrShape},
	})
}

// What is wrong with row 3 is a RowsError that says so.
func TestVmapFails(t *testing.T) {
	tests := []struct {
		name string
		at   int
		fail func(row dictionary) (dictionary, error)
		out  int
		err  error
	}{
		{"fn fails", 3, func(dictionary) (dictionary, error) { return nil, errStop }, 0, errStop},
		{"fn panics", 3, func(dictionary) (dictionary, error) { panic(errStop) }, 0, errStop},
		{"no result", 3, func(dictionary) (dictionary, error) { return nil, nil }, 0, tdict.ErrKind},
		{"no place for the rows", 0, func(row dictionary) (dictionary, error) { return row, nil }, 2, shapeops.ErrDim},
		{"no place from the end", 0, func(row dictionary) (dictionary, error) { return row, nil }, -3, shapeops.ErrDim},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, workers := range []int{1, 4} {
				_, err := tdict.Vmap(t.Context(), []dictionary{rowTable(0, 6, 2)}, func(_ context.Context, rows []dictionary) (dictionary, error) {
					if values(t, rows[0], "row")[0] == int64(tt.at) {
						return tt.fail(rows[0])
					}
					return rows[0], nil
				}, tdict.VmapOptions{Out: tt.out, Workers: workers})
				failed, ok := errors.AsType[*tdict.RowsError](err)
				require.True(t, ok, "%v", err)
				require.Equal(t, tdict.RowsError{Op: "vmap", From: tt.at, To: tt.at + 1, Err: failed.Err}, *failed)
				if workers == 1 {
					testkit.Fails(t, tt.err, err)
				} else {
					require.ErrorIs(t, err, tt.err)
				}
			}
		})
	}
}

// Results that cannot be stacked are the errors of Stack, whose values are the rows.
func TestVmapOfDifferentRows(t *testing.T) {
	edits := map[string]struct {
		edit func(x dictionary) error
		err  error
	}{
		"keys":     {func(x dictionary) error { return x.Delete("d/x") }, tdict.ErrMissing},
		"dtypes":   {func(x dictionary) error { return x.Set("row", tensor.Scalar(1.5)) }, tensor.ErrDType},
		"features": {func(x dictionary) error { return x.Set("d/x", count(4)) }, shapeops.ErrShape},
	}
	for name, e := range edits {
		t.Run(name, func(t *testing.T) {
			_, err := tdict.Vmap(t.Context(), []dictionary{rowTable(0, 6)}, func(_ context.Context, rows []dictionary) (dictionary, error) {
				if values(t, rows[0], "row")[0] == 3 {
					return rows[0], e.edit(rows[0])
				}
				return rows[0], nil
			}, tdict.VmapOptions{})
			testkit.Fails(t, e.err, err)
		})
	}
}

func TestVmapStopsWithItsContext(t *testing.T) {
	for _, workers := range []int{1, 4} {
		ctx, cancel := context.WithCancelCause(t.Context())
		var calls atomic.Int64
		fn := func(_ context.Context, rows []dictionary) (dictionary, error) {
			switch n := calls.Add(1); {
			case n == 5:
				cancel(errStop)
			case n > 5:
				<-ctx.Done()
			}
			return rows[0], nil
		}
		got, err := tdict.Vmap(ctx, []dictionary{rowTable(0, 100)}, fn, tdict.VmapOptions{Workers: workers})
		require.EqualError(t, err, "vmap: stop")
		require.ErrorIs(t, err, errStop)
		require.Nil(t, got)
		require.Less(t, calls.Load(), int64(5+workers))
	}
	//lint:ignore SA1012 what must not end the program
	_, err := tdict.Vmap(nil, []dictionary{rowTable(0, 3)}, func(ctx context.Context, rows []dictionary) (dictionary, error) {
		return rows[0], ctx.Err()
	}, tdict.VmapOptions{})
	require.NoError(t, err)
}

// Unbatched tensors and data go along.
func TestVmapKinds(t *testing.T) {
	got, err := tdict.Vmap(t.Context(), []dictionary{kinds()}, firstRow, tdict.VmapOptions{})
	require.NoError(t, err)
	require.True(t, kinds().Equal(got))
	require.Equal(t, fmt.Sprint(testkit.Keys(kinds().Leaves())), fmt.Sprint(testkit.Keys(got.Leaves())))
}

func TestVmapGrowth(t *testing.T) {
	run := func(rows int) func() {
		in := dict([]int{rows}, entry{"a", count(rows)}, entry{"d/b", count(rows)})
		return func() {
			require.NoError(t, testkit.Err(tdict.Vmap(t.Context(), []dictionary{in}, firstRow, tdict.VmapOptions{Workers: 1})))
		}
	}
	testkit.Near(t, 12, run(100), run(1_000))
	testkit.Near(t, 12, run(1_000), run(10_000))
}
