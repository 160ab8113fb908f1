package tdict_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

type dictionary = *tdict.TensorDict

// rowTable returns a dictionary with a row number along a dim in "row", and counts in "d/x", which
// has two features.
func rowTable(dim int, batch ...int) dictionary {
	numbers := make([]int, len(batch))
	for i := range numbers {
		numbers[i] = 1
	}
	numbers[dim] = batch[dim]
	row := tensor.Must(tensor.Must(count(batch[dim]).Reshape(numbers...)).Expand(batch...))
	return dict(batch, entry{"row", row}, entry{"d/x", count(append(slices.Clone(batch), 2)...)})
}

// rowNumbers returns the numbers of the rows that a dictionary has along a dim.
func rowNumbers(t testing.TB, x dictionary, dim int) []int {
	t.Helper()
	expr := make([]ix.Index, len(x.Shape()))
	for i := range expr {
		expr[i] = ix.At(0)
	}
	expr[dim] = ix.All
	out := []int{}
	for _, v := range values(t, tensor.Must(x.Index(expr...)), "row") {
		out = append(out, int(v))
	}
	return out
}

// picked returns the elements of an array at positions along a dim, by nested loops.
func picked(elems []int64, shape []int, dim int, rows []int) []int64 {
	outer, inner := 1, 1
	for i, n := range shape {
		if i < dim {
			outer *= n
		} else if i > dim {
			inner *= n
		}
	}
	out := []int64{}
	for a := range outer {
		for _, row := range rows {
			for b := range inner {
				out = append(out, elems[(a*shape[dim]+row)*inner+b])
			}
		}
	}
	return out
}

func same(_ context.Context, chunk dictionary) (dictionary, error) { return chunk, nil }

// What MapChunks makes is compared with plain loops over rows: functions that keep them, drop some,
// or make more, along every dim, in chunks of any size, on any number of workers.
func TestMapChunksOracle(t *testing.T) {
	rows := map[string]func(row int) []int{
		"the same rows": func(row int) []int { return []int{row} },
		"fewer rows": func(row int) []int {
			if row%3 == 0 {
				return []int{}
			}
			return []int{row}
		},
		"more rows": func(row int) []int { return []int{row, row} },
	}
	sizes := []tdict.MapChunksOptions{{}, {ChunkSize: 1}, {ChunkSize: 3}, {ChunkSize: 100}, {Chunks: 1}, {Chunks: 3}, {Chunks: 100}}
	for name, of := range rows {
		for _, batch := range [][]int{{7}, {1}, {0}, {2, 5}, {5, 2}, {3, 4, 2}} {
			for dim := range batch {
				in := rowTable(dim, batch...)
				var want []int
				for row := range batch[dim] {
					want = append(want, of(row)...)
				}
				for i, opt := range sizes {
					opt.Dim, opt.Workers = dim-i%2*len(batch), i%4
					got, err := tdict.MapChunks(t.Context(), in, func(_ context.Context, chunk dictionary) (dictionary, error) {
						list := []int{}
						for i, row := range rowNumbers(t, chunk, dim) {
							list = append(list, slices.Repeat([]int{i}, len(of(row)))...)
						}
						expr := make([]ix.Index, dim+1)
						expr[dim] = ix.Take(list...)
						return chunk.Index(expr...)
					}, opt)
					about := fmt.Sprintf("%s, %v, dim %d, %+v", name, batch, opt.Dim, opt)
					require.NoError(t, err, about)
					require.Equal(t, len(want), got.Shape()[dim], about)
					for _, k := range []key{"row", "d/x"} {
						x := tensor.Must(in.Tensor(k))
						require.Equal(t, picked(testkit.Elements[int64](t, x), x.Shape(), dim, want), values(t, got, k), about)
					}
					consistent(t, got)
				}
			}
		}
	}
}

// The sizes of chunks are those of shapeops.Chunk and SplitBy.
func TestMapChunksChunkSizes(t *testing.T) {
	tests := []struct {
		name string
		rows int
		opt  tdict.MapChunksOptions
		want []int
	}{
		{"the last may have fewer rows", 7, tdict.MapChunksOptions{ChunkSize: 3}, []int{3, 3, 1}},
		{"a chunk larger than all", 7, tdict.MapChunksOptions{ChunkSize: 100}, []int{7}},
		{"so many chunks", 7, tdict.MapChunksOptions{Chunks: 3}, []int{3, 3, 1}},
		{"so many equal chunks", 6, tdict.MapChunksOptions{Chunks: 3}, []int{2, 2, 2}},
		{"fewer chunks than asked for", 6, tdict.MapChunksOptions{Chunks: 5}, []int{2, 2, 2}},
		{"never more than rows", 3, tdict.MapChunksOptions{Chunks: 100}, []int{1, 1, 1}},
		{"64 of few rows are one each", 3, tdict.MapChunksOptions{}, []int{1, 1, 1}},
		{"64 of many rows", 6400, tdict.MapChunksOptions{}, slices.Repeat([]int{100}, 64)},
		{"no rows are one chunk", 0, tdict.MapChunksOptions{}, []int{0}},
		{"of any size", 0, tdict.MapChunksOptions{ChunkSize: 3}, []int{0}},
		{"of any number", 0, tdict.MapChunksOptions{Chunks: 3}, []int{0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, sizes := dict([]int{tt.rows}, entry{"x", count(tt.rows)}), []int{}
			tt.opt.Workers = 1
			_, err := tdict.MapChunks(t.Context(), in, func(_ context.Context, chunk dictionary) (dictionary, error) {
				sizes = append(sizes, chunk.Shape()[0])
				return nil, nil
			}, tt.opt)
			require.NoError(t, err)
			require.Equal(t, tt.want, sizes)
		})
	}
}

// By default, large rows make more chunks, of at most 64 MiB, on any machine.
func TestMapChunksOfLargeRows(t *testing.T) {
	wide := tensor.Must(tensor.Scalar[float32](0).Expand(100_000, 1000)) // 400 MB that are not there
	tests := map[string]struct {
		in   dictionary
		most int
	}{
		"400 MB":          {dict([]int{100_000}, entry{"x", wide}), 100_000/64 + 1},
		"8 GB":            {numbered([]int{100_000}, 20, func(int) *tensor.Tensor { return wide }), 64 << 20 / 4000 / 20},
		"a row of 400 MB": {dict([]int{3}, entry{"x", tensor.Must(wide.Expand(3, 100_000, 1000))}), 1},
		"no bytes":        {dict([]int{640_000}, entry{"name", data("x")}), 10_000},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var most atomic.Int64
			_, err := tdict.MapChunks(t.Context(), tt.in, func(_ context.Context, chunk dictionary) (dictionary, error) {
				most.Store(max(most.Load(), int64(chunk.Shape()[0])))
				return nil, nil
			}, tdict.MapChunksOptions{Workers: 1})
			require.NoError(t, err)
			require.EqualValues(t, tt.most, most.Load())
		})
	}
}

// A chunk is a view with a structure of its own; the result shares nothing with it.
func TestMapChunksMemory(t *testing.T) {
	in := kinds()
	in.Lock()
	for _, size := range []int{1, 100} {
		got, err := tdict.MapChunks(t.Context(), in, func(_ context.Context, chunk dictionary) (dictionary, error) {
			x := tensor.Must(chunk.Tensor("x"))
			require.True(t, x.SharesMemory(tensor.Must(in.Tensor("x"))))
			require.False(t, chunk.Locked())
			require.NoError(t, chunk.Set("new", tensor.Must(tensor.Full(int8(1), chunk.Shape()...))))
			return chunk, nil
		}, tdict.MapChunksOptions{ChunkSize: size})
		require.NoError(t, err)
		require.False(t, in.Has("new") || got.Locked())
		require.False(t, tensor.Must(got.Tensor("x")).SharesMemory(tensor.Must(in.Tensor("x"))), "also if there is one chunk")
		require.Equal(t, []any{"a", "b", "c"}, slices.Collect(tensor.Must(tdict.Get[*tdict.Data](got, "name")).All()))
		require.True(t, tensor.Must(got.Select(slices.Collect(in.Keys())...)).Equal(in))
	}
}

func TestMapChunksDropsNil(t *testing.T) {
	in := rowTable(1, 2, 6)
	require.NoError(t, in.SetNames("game", "time"))
	drop := func(rows ...int) tdict.ChunkFunc {
		return func(_ context.Context, chunk dictionary) (dictionary, error) {
			if slices.Contains(rows, rowNumbers(t, chunk, 1)[0]) {
				return nil, nil
			}
			return chunk, nil
		}
	}
	opt := tdict.MapChunksOptions{Dim: -1, ChunkSize: 2}
	got, err := tdict.MapChunks(t.Context(), in, drop(0, 4), opt)
	require.NoError(t, err)
	require.Equal(t, []int{2, 3}, rowNumbers(t, got, 1), "the first chunk may be among them")
	require.Equal(t, []string{"game", "time"}, got.Names())

	got, err = tdict.MapChunks(t.Context(), in, drop(0, 2, 4), opt)
	require.NoError(t, err)
	require.Equal(t, shapeops.Shape{2, 0}, got.Shape(), "no rows if all are nil")
	require.Zero(t, got.NumEntries())
	require.Equal(t, []string{"game", "time"}, got.Names())
	require.Equal(t, shapeops.Shape{2, 6}, in.Shape())
}

// Results may have other keys, dtypes and dims than chunks.
func TestMapChunksToOthers(t *testing.T) {
	got, err := tdict.MapChunks(t.Context(), rowTable(0, 6, 2), func(_ context.Context, chunk dictionary) (dictionary, error) {
		sum := int64(0)
		for _, v := range values(t, chunk, "d/x") {
			sum += v
		}
		out := tdict.New(1)
		return out, errors.Join(out.Set("sum", tensor.Vector(sum)), out.Set("name", data(fmt.Sprint(sum))))
	}, tdict.MapChunksOptions{ChunkSize: 4, Workers: 2})
	require.NoError(t, err)
	require.Equal(t, []int64{15 * 16 / 2, (16 + 23) * 8 / 2}, values(t, got, "sum"))
	require.Equal(t, []any{"120", "156"}, slices.Collect(tensor.Must(tdict.Get[*tdict.Data](got, "name")).All()))
}

// Chunks that come late take their place, and as many are worked on at a time as there are workers:
// chunk i takes 10-i seconds.
func TestMapChunksOrderAndWorkers(t *testing.T) {
	for workers, seconds := range map[int]int{1: 10 + 9 + 8 + 7 + 6 + 5 + 4 + 3 + 2 + 1, 3: 10 + 7 + 3, 100: 10} {
		synctest.Test(t, func(t *testing.T) {
			began, running, most := time.Now(), atomic.Int64{}, atomic.Int64{}
			in := rowTable(0, 20)
			got, err := tdict.MapChunks(t.Context(), in, func(_ context.Context, chunk dictionary) (dictionary, error) {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				time.Sleep(time.Duration(10-rowNumbers(t, chunk, 0)[0]/2) * time.Second)
				return chunk, nil
			}, tdict.MapChunksOptions{Workers: workers, ChunkSize: 2})
			require.NoError(t, err)
			require.True(t, in.Equal(got))
			require.EqualValues(t, min(workers, 10), most.Load())
			require.InDelta(t, seconds, time.Since(began).Seconds(), 1)
		})
	}
}

func TestMapChunksProgress(t *testing.T) {
	for _, opt := range []tdict.MapChunksOptions{{}, {Into: rowTable(0, 10)}} {
		for _, workers := range []int{1, 4} {
			var all []int
			opt.Workers, opt.ChunkSize, opt.Progress = workers, 4, func(done, total int) {
				require.Equal(t, 10, total)
				all = append(all, done) // without a lock: the race detector watches
			}
			_, err := tdict.MapChunks(t.Context(), rowTable(0, 10), same, opt)
			require.NoError(t, err)
			require.Len(t, all, 3)
			require.True(t, slices.IsSorted(all))
			require.Equal(t, 10, all[2], "rows, not chunks")
		}
	}
}

// A chunk that fails is not one that is done.
func TestMapChunksProgressOfFailures(t *testing.T) {
	for _, opt := range []tdict.MapChunksOptions{{}, {Into: rowTable(0, 10)}} {
		var all []int
		opt.Workers, opt.ChunkSize, opt.Progress = 1, 2, func(done, _ int) { all = append(all, done) }
		wide := func(chunk dictionary) (dictionary, error) { return chunk.Unsqueeze(0) }
		_, err := tdict.MapChunks(t.Context(), rowTable(0, 10), breaks(t, 5, wide), opt)
		require.ErrorIs(t, err, shapeops.ErrShape)
		require.Equal(t, []int{2, 4}, all)
	}
}

func TestMapChunksRefuses(t *testing.T) {
	run := func(opt tdict.MapChunksOptions) func(dictionary) error {
		return func(x dictionary) error {
			got, err := tdict.MapChunks(context.Background(), x, func(context.Context, dictionary) (dictionary, error) { panic("called") }, opt)
			if got != nil {
				return errors.New("a result beside an error")
			}
			return err
		}
	}
	refuse(t, func() dictionary { return rowTable(0, 6, 2) }, []refusal{
		{"a dim that is not there", run(tdict.MapChunksOptions{Dim: 2}), shapeops.ErrDim},
		{"a negative dim too far", run(tdict.MapChunksOptions{Dim: -3}), shapeops.ErrDim},
		{"the batch shape []", func(dictionary) error { return run(tdict.MapChunksOptions{})(dict(nil, entry{"x", count(2)})) }, shapeops.ErrDim},
		{"a negative batch size", func(dictionary) error { return run(tdict.MapChunksOptions{})(tdict.New(-1)) }, shapeops.ErrShape},
		{"a negative size", run(tdict.MapChunksOptions{ChunkSize: -1}), shapeops.ErrShape},
		{"a negative number", run(tdict.MapChunksOptions{Chunks: -1}), shapeops.ErrShape},
		{"a size and a number", run(tdict.MapChunksOptions{ChunkSize: 2, Chunks: 3}), shapeops.ErrShape},
		{"too many chunks", func(dictionary) error { return run(tdict.MapChunksOptions{ChunkSize: 1})(tdict.New(1 << 25)) }, shapeops.ErrShape},
		{"a destination with other rows", run(tdict.MapChunksOptions{Into: rowTable(0, 5, 2)}), shapeops.ErrShape},
		{"a destination without the dim", run(tdict.MapChunksOptions{Dim: 1, Into: rowTable(0, 6)}), shapeops.ErrDim},
	})
}

// breaks returns a function that is same, but for the chunk with a row.
func breaks(t testing.TB, at int, fail func(chunk dictionary) (dictionary, error)) tdict.ChunkFunc {
	return func(_ context.Context, chunk dictionary) (dictionary, error) {
		if rows := rowNumbers(t, chunk, 0); slices.Contains(rows, at) {
			return fail(chunk)
		}
		return chunk, nil
	}
}

// What is wrong with the chunk of rows 2 to 4 is a RowsError that says so.
func TestMapChunksFails(t *testing.T) {
	edit := func(change func(x dictionary) error) func(dictionary) (dictionary, error) {
		return func(chunk dictionary) (dictionary, error) { return chunk, change(chunk) }
	}
	with := func(k key, v tdict.Value) func(dictionary) (dictionary, error) {
		return edit(func(x dictionary) error { return x.Set(k, v) })
	}
	tests := []struct {
		name string
		fail func(chunk dictionary) (dictionary, error)
		into bool
		err  error
	}{
		{"fn fails", func(dictionary) (dictionary, error) { return nil, errStop }, false, errStop},
		{"a result beside an error is dropped", func(chunk dictionary) (dictionary, error) { return chunk, errStop }, false, errStop},
		{"fn panics", func(dictionary) (dictionary, error) { panic(errStop) }, false, errStop},
		{"fn fails in a Map of its own", func(chunk dictionary) (dictionary, error) {
			return tdict.MapChunks(context.Background(), chunk, breaks(t, 3, func(dictionary) (dictionary, error) { panic(errStop) }), tdict.MapChunksOptions{ChunkSize: 1})
		}, false, errStop},
		{"a key is missing", edit(func(x dictionary) error { return x.Delete("d/x") }), false, tdict.ErrMissing},
		{"another key", with("new", count(2)), false, tdict.ErrMissing},
		{"another dtype", with("row", tensor.Vector[float32](1, 2)), false, tensor.ErrDType},
		{"another kind", with("row", texts("x", "y")), false, tdict.ErrKind},
		{"other features", with("d/x", count(2, 3)), false, shapeops.ErrShape},
		{"other dims", func(chunk dictionary) (dictionary, error) { return chunk.Unsqueeze(1) }, false, shapeops.ErrShape},
		{"no dim", func(dictionary) (dictionary, error) { return tdict.New(), nil }, false, shapeops.ErrShape},
		{"fn fails before a destination", func(dictionary) (dictionary, error) { return nil, errStop }, true, errStop},
		{"fn panics before a destination", func(dictionary) (dictionary, error) { panic(errStop) }, true, errStop},
		{"fewer rows for a destination", func(chunk dictionary) (dictionary, error) { return chunk.Index(ix.Range(0, 1)) }, true, shapeops.ErrShape},
		{"a row for two of a destination", func(chunk dictionary) (dictionary, error) { return chunk.Index(ix.At(0)) }, true, shapeops.ErrShape},
		{"a key that a destination lacks", with("new", count(2)), true, tdict.ErrMissing},
		{"another dtype for a destination", with("row", tensor.Vector[float32](1, 2)), true, tensor.ErrDType},
		{"another kind for a destination", with("row", texts("x", "y")), true, tdict.ErrKind},
		{"other features for a destination", with("d/x", count(2, 3)), true, shapeops.ErrShape},
		{"no elements for a destination", func(chunk dictionary) (dictionary, error) { return chunk.ToMeta() }, true, tensor.ErrMeta},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, workers := range []int{1, 4} {
				opt := tdict.MapChunksOptions{ChunkSize: 2, Workers: workers}
				if tt.into {
					opt.Into = tensor.Must(rowTable(0, 8).NewZeros(8))
				}
				got, err := tdict.MapChunks(t.Context(), rowTable(0, 8), breaks(t, 3, tt.fail), opt)
				require.Nil(t, got)
				failed, ok := errors.AsType[*tdict.RowsError](err)
				require.True(t, ok, "%v", err)
				require.Equal(t, [2]int{2, 4}, [2]int{failed.From, failed.To})
				require.Equal(t, "map chunks", failed.Op)
				if workers == 1 {
					testkit.Fails(t, tt.err, err)
				} else {
					require.ErrorIs(t, err, tt.err)
				}
			}
		})
	}
}

// The dims of the first result are looked at when it comes.
func TestMapChunksFailsAtTheFirstResult(t *testing.T) {
	calls := 0
	_, err := tdict.MapChunks(t.Context(), rowTable(0, 8), func(context.Context, dictionary) (dictionary, error) { calls++; return tdict.New(), nil },
		tdict.MapChunksOptions{ChunkSize: 2, Workers: 1})
	require.ErrorIs(t, err, shapeops.ErrDim)
	require.EqualError(t, err, "map chunks: rows [0:2]: no such dim: got dim 0 of shape [], which has no dims")
	require.Equal(t, 1, calls)
}

// Of chunks that fail, or do not go with the first, the error is about the first one, however many
// workers there are and whichever ends first.
func TestMapChunksReturnsTheFirstFailure(t *testing.T) {
	other := func(chunk dictionary) (dictionary, error) {
		return chunk, chunk.Set("row", tensor.Vector[float32](1, 2))
	}
	stop := func(dictionary) (dictionary, error) { return nil, errStop }
	tests := []struct {
		name string
		at   map[int]func(dictionary) (dictionary, error) // by chunk
		want int
	}{
		{"two fail", map[int]func(dictionary) (dictionary, error){3: stop, 5: stop}, 3},
		{"two do not go with the first", map[int]func(dictionary) (dictionary, error){3: other, 4: other}, 3},
		{"one fails before one that does not go with the first", map[int]func(dictionary) (dictionary, error){2: stop, 3: other}, 2},
		{"one does not go with the first before one that fails", map[int]func(dictionary) (dictionary, error){2: other, 3: stop}, 2},
		{"the first is the odd one", map[int]func(dictionary) (dictionary, error){0: other}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for seed := range uint64(30) {
				synctest.Test(t, func(t *testing.T) {
					random := rand.New(rand.NewPCG(seed, 1))
					naps := random.Perm(8)
					_, err := tdict.MapChunks(t.Context(), rowTable(0, 16), func(_ context.Context, chunk dictionary) (dictionary, error) {
						i := rowNumbers(t, chunk, 0)[0] / 2
						time.Sleep(time.Duration(naps[i]) * time.Second)
						if fail := tt.at[i]; fail != nil {
							return fail(chunk)
						}
						return chunk, nil
					}, tdict.MapChunksOptions{ChunkSize: 2, Workers: 1 + int(seed)%8})
					failed, ok := errors.AsType[*tdict.RowsError](err)
					require.True(t, ok)
					require.Equal(t, 2*tt.want, failed.From, "%v", err)
				})
			}
		})
	}
}

// Without a context, MapChunks cannot be stopped, and fn gets one all the same.
func TestMapChunksWithoutContext(t *testing.T) {
	fn := func(ctx context.Context, chunk dictionary) (dictionary, error) { return chunk, ctx.Err() }
	//lint:ignore SA1012 what must not end the program
	_, err := tdict.MapChunks(nil, rowTable(0, 4), fn, tdict.MapChunksOptions{Workers: 2})
	require.NoError(t, err)
}

func TestMapChunksPanic(t *testing.T) {
	_, err := tdict.MapChunks(t.Context(), rowTable(0, 4), func(context.Context, dictionary) (dictionary, error) { panic("at the disco") }, tdict.MapChunksOptions{ChunkSize: 1})
	require.EqualError(t, err, "map chunks: row 0: panic: at the disco")
	p, ok := errors.AsType[*tdict.PanicError](err)
	require.True(t, ok)
	require.Contains(t, string(p.Stack), "mapchunks_test.go")

	_, err = tdict.MapChunks(t.Context(), rowTable(0, 4), same, tdict.MapChunksOptions{Progress: func(int, int) { panic(errStop) }})
	require.ErrorIs(t, err, errStop)
	require.ErrorContains(t, err, "map chunks: row ")
}

// What a chunk costs does not depend on how many there are.
func TestMapChunksGrowth(t *testing.T) {
	run := func(chunks int) func() {
		in := dict([]int{chunks}, entry{"a", count(chunks)}, entry{"d/b", count(chunks)})
		return func() {
			require.NoError(t, testkit.Err(tdict.MapChunks(t.Context(), in, same, tdict.MapChunksOptions{ChunkSize: 1, Workers: 1})))
			require.NoError(t, testkit.Err(tdict.MapChunks(t.Context(), in, same, tdict.MapChunksOptions{ChunkSize: 1, Workers: 2, Into: in})))
		}
	}
	testkit.Near(t, 12, run(100), run(1_000))
	testkit.Near(t, 12, run(1_000), run(10_000))
}

// A chunk of a dictionary with two leaves that is written in place costs a view and a transfer.
func TestMapChunksAllocations(t *testing.T) {
	allocs := func(chunks int) float64 {
		in := dict([]int{chunks}, entry{"a", count(chunks)}, entry{"d/b", count(chunks)})
		return testing.AllocsPerRun(5, func() {
			_, _ = tdict.MapChunks(context.Background(), in, same, tdict.MapChunksOptions{ChunkSize: 1, Workers: 1, Into: in})
		})
	}
	require.LessOrEqual(t, (allocs(200)-allocs(100))/100, 25.0)
}

// A function has the context of the caller, and the cause of its end is the error.
func TestMapChunksStopsWithItsContext(t *testing.T) {
	type hint struct{}
	ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), hint{}, "of the caller"))
	got, err := tdict.MapChunks(ctx, rowTable(0, 100), func(ctx context.Context, chunk dictionary) (dictionary, error) {
		require.Equal(t, "of the caller", ctx.Value(hint{}))
		cancel(errStop)
		return chunk, nil
	}, tdict.MapChunksOptions{ChunkSize: 1, Workers: 1})
	require.EqualError(t, err, "map chunks: stop")
	require.ErrorIs(t, err, errStop)
	require.Nil(t, got)
}
