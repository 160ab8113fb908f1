package tdict_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// collected returns the row numbers of each result, and the error that came last.
func collected(t testing.TB, results iter.Seq2[dictionary, error], dim int) (rows [][]int, last error) {
	t.Helper()
	for x, err := range results {
		require.NoError(t, last, "an error is yielded once, then it ends")
		require.Equal(t, err == nil, x != nil)
		if last = err; err == nil {
			rows = append(rows, rowNumbers(t, x, dim))
		}
	}
	return rows, last
}

func TestIterChunks(t *testing.T) {
	drop := func(_ context.Context, chunk dictionary) (dictionary, error) {
		if rowNumbers(t, chunk, 0)[0] != 2 {
			return chunk, nil
		}
		return nil, nil
	}
	tests := []struct {
		name  string
		batch []int
		fn    tdict.ChunkFunc
		opt   tdict.IterChunksOptions
		want  [][]int
	}{
		{"the last may have fewer rows", []int{5}, same, tdict.IterChunksOptions{ChunkSize: 2}, [][]int{{0, 1}, {2, 3}, {4}}},
		{"so many chunks", []int{5}, same, tdict.IterChunksOptions{Chunks: 2}, [][]int{{0, 1, 2}, {3, 4}}},
		{"64 by default", []int{3}, same, tdict.IterChunksOptions{}, [][]int{{0}, {1}, {2}}},
		{"along another dim", []int{2, 3}, same, tdict.IterChunksOptions{Dim: -1, ChunkSize: 2}, [][]int{{0, 1}, {2}}},
		{"nil is passed over", []int{5}, drop, tdict.IterChunksOptions{ChunkSize: 2}, [][]int{{0, 1}, {4}}},
		{"no rows", []int{0}, same, tdict.IterChunksOptions{}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, workers := range []int{0, 1, 2, 100} {
				tt.opt.Workers = workers
				dim := max(0, len(tt.batch)+tt.opt.Dim) % len(tt.batch)
				results := tdict.IterChunks(t.Context(), rowTable(dim, tt.batch...), tt.fn, tt.opt)
				for range 2 {
					got, err := collected(t, results, dim)
					require.NoError(t, err)
					require.Equal(t, tt.want, got, "ranging again begins again")
				}
			}
		})
	}
}

// While the loop has a result, as many further ones are made as there are workers, and no more.
func TestIterChunksLooksAhead(t *testing.T) {
	for _, workers := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			var began, running, most atomic.Int64
			results := tdict.IterChunks(t.Context(), rowTable(0, 20), func(_ context.Context, chunk dictionary) (dictionary, error) {
				began.Add(1)
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				time.Sleep(time.Second)
				return chunk, nil
			}, tdict.IterChunksOptions{ChunkSize: 1, Workers: workers})
			seen := 0
			for _, err := range results {
				require.NoError(t, err)
				seen++
				time.Sleep(time.Minute) // all that may run has run
				require.EqualValues(t, min(20, seen+workers), began.Load())
				require.Zero(t, running.Load())
			}
			require.Equal(t, 20, seen)
			require.EqualValues(t, workers, most.Load())
		})
	}
}

// The loop and the workers work at the same time: 10 chunks that take a second each, as the loop
// does with each.
func TestIterChunksOverlaps(t *testing.T) {
	for workers, seconds := range map[int]int{1: 11, 2: 11, 5: 11} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			for _, err := range tdict.IterChunks(t.Context(), rowTable(0, 10), napping(time.Second), tdict.IterChunksOptions{ChunkSize: 1, Workers: workers}) {
				require.NoError(t, err)
				time.Sleep(time.Second)
			}
			require.Equal(t, time.Duration(seconds)*time.Second, time.Since(began))
		})
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		for range tdict.IterChunks(t.Context(), rowTable(0, 10), napping(5*time.Second), tdict.IterChunksOptions{ChunkSize: 1, Workers: 5}) {
			time.Sleep(time.Second)
		}
		require.Equal(t, 15*time.Second, time.Since(began), "five at a time keep the loop busy, after the first")
	})
}

// napping returns a function that takes so long.
func napping(d time.Duration) tdict.ChunkFunc {
	return func(_ context.Context, chunk dictionary) (dictionary, error) {
		time.Sleep(d)
		return chunk, nil
	}
}

// However a loop ends, the functions' context ends, and no goroutine is left when it has.
func TestIterChunksLeavesNoGoroutine(t *testing.T) {
	endings := map[string]struct {
		fn   tdict.ChunkFunc
		body func(i int) bool
		err  error
	}{
		"to the end":         {same, func(int) bool { return true }, nil},
		"break at once":      {same, func(int) bool { return false }, nil},
		"break later":        {same, func(i int) bool { return i < 5 }, nil},
		"an error":           {breaks(t, 5, func(dictionary) (dictionary, error) { return nil, errStop }), func(int) bool { return true }, errStop},
		"a panic":            {breaks(t, 5, func(dictionary) (dictionary, error) { panic(errStop) }), func(int) bool { return true }, errStop},
		"a panic in a loop":  {same, func(i int) bool { panic(errStop) }, nil},
		"Goexit in a loop":   {same, func(i int) bool { runtime.Goexit(); return true }, nil},
		"Goexit in function": {breaks(t, 5, func(dictionary) (dictionary, error) { runtime.Goexit(); return nil, nil }), func(int) bool { return true }, nil},
	}
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left
				var running atomic.Int64
				fn := func(ctx context.Context, chunk dictionary) (dictionary, error) {
					running.Add(1)
					defer running.Add(-1)
					if rowNumbers(t, chunk, 0)[0] > 6 { // as if it took very long
						select {
						case <-ctx.Done():
							time.Sleep(time.Second)
							return nil, ctx.Err()
						case <-time.After(time.Hour):
						}
					}
					return end.fn(ctx, chunk)
				}
				began, done := time.Now(), make(chan error)
				go func() {
					var last error
					defer func() {
						_ = recover()
						done <- last
					}()
					i := 0
					for _, err := range tdict.IterChunks(t.Context(), rowTable(0, 20), fn, tdict.IterChunksOptions{ChunkSize: 1, Workers: 4}) {
						last = err
						if i++; !end.body(i) {
							break
						}
					}
				}()
				err := <-done
				require.Zero(t, running.Load(), "IterChunks has waited for them")
				require.Equal(t, name == "to the end", time.Since(began) > time.Minute, "which is not long")
				if name == "Goexit in function" {
					require.ErrorContains(t, err, "Goexit")
				} else {
					require.ErrorIs(t, err, end.err)
				}
			})
		})
	}
}

func TestIterChunksStopsWithItsContext(t *testing.T) {
	for _, workers := range []int{1, 4} {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		seen := 0
		for x, err := range tdict.IterChunks(ctx, rowTable(0, 20), same, tdict.IterChunksOptions{ChunkSize: 1, Workers: workers}) {
			if seen++; seen == 3 {
				cancel(errStop)
			}
			if seen == 4 {
				require.Nil(t, x)
				require.EqualError(t, err, "iter chunks: stop")
				require.ErrorIs(t, err, errStop)
			} else {
				require.NoError(t, err)
			}
		}
		require.Equal(t, 4, seen, "the cause, once")

		calls := 0
		_, err := collected(t, tdict.IterChunks(ctx, rowTable(0, 20), func(_ context.Context, chunk dictionary) (dictionary, error) {
			calls++
			return chunk, nil
		}, tdict.IterChunksOptions{Workers: workers}), 0)
		require.ErrorIs(t, err, errStop)
		require.Zero(t, calls, "nothing is called when it has ended before")
	}
}

// When the context ends after the last result, all has been done.
func TestIterChunksContextEndsAfterTheLast(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := 0
	for _, err := range tdict.IterChunks(ctx, rowTable(0, 3), same, tdict.IterChunksOptions{ChunkSize: 1}) {
		require.NoError(t, err)
		if seen++; seen == 3 {
			cancel()
		}
	}
	require.Equal(t, 3, seen)
}

// A function that heeds its context, and so fails because of it, does not hide the cause.
func TestIterChunksCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errStop) })
		_, err := collected(t, tdict.IterChunks(ctx, rowTable(0, 3), func(ctx context.Context, _ dictionary) (dictionary, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, tdict.IterChunksOptions{}), 0)
		require.EqualError(t, err, "iter chunks: stop")
	})
}

func TestIterChunksWithoutContext(t *testing.T) {
	//lint:ignore SA1012 what must not end the program
	rows, err := collected(t, tdict.IterChunks(nil, rowTable(0, 3), same, tdict.IterChunksOptions{ChunkSize: 2}), 0)
	require.NoError(t, err)
	require.Equal(t, [][]int{{0, 1}, {2}}, rows)
}

func TestIterChunksRefuses(t *testing.T) {
	run := func(fn tdict.ChunkFunc, opt tdict.IterChunksOptions) func(dictionary) error {
		return func(x dictionary) error {
			rows, err := collected(t, tdict.IterChunks(context.Background(), x, fn, opt), 0)
			if rows != nil {
				return errors.New("a result before the error")
			}
			return err
		}
	}
	never := func(context.Context, dictionary) (dictionary, error) { panic("called") }
	fail := func(context.Context, dictionary) (dictionary, error) { return nil, errStop }
	refuse(t, func() dictionary { return rowTable(0, 20) }, []refusal{
		{"a size and a number", run(never, tdict.IterChunksOptions{ChunkSize: 1, Chunks: 1}), shapeops.ErrShape},
		{"fn fails", run(fail, tdict.IterChunksOptions{ChunkSize: 4}), errStop},
		{"fn fails for one row", run(fail, tdict.IterChunksOptions{ChunkSize: 1}), errStop},
	})
}

// An error says which rows the chunk had.
func TestIterChunksSaysWhichRows(t *testing.T) {
	_, err := collected(t, tdict.IterChunks(t.Context(), rowTable(0, 12), func(_ context.Context, chunk dictionary) (dictionary, error) {
		if rows := rowNumbers(t, chunk, 0); slices.Contains(rows, 5) {
			panic(fmt.Sprint("a bad row among ", len(rows)))
		}
		return chunk, nil
	}, tdict.IterChunksOptions{ChunkSize: 4, Workers: 1}), 0)
	failed, ok := errors.AsType[*tdict.RowsError](err)
	require.True(t, ok)
	require.Equal(t, []int{4, 8}, []int{failed.From, failed.To})
	p, ok := errors.AsType[*tdict.PanicError](err)
	require.True(t, ok)
	require.Equal(t, "a bad row among 4", p.Value)
}

func TestIterChunksGrowth(t *testing.T) {
	run := func(chunks int) func() {
		in := dict([]int{chunks}, entry{"a", count(chunks)}, entry{"d/b", count(chunks)})
		return func() {
			for _, err := range tdict.IterChunks(t.Context(), in, same, tdict.IterChunksOptions{ChunkSize: 1, Workers: 2}) {
				require.NoError(t, err)
			}
		}
	}
	testkit.Near(t, 12, run(100), run(1_000))
	testkit.Near(t, 12, run(1_000), run(10_000))
}
