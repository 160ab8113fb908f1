package workers_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/workers"
)

// square is what most streams here make of an item.
func square(_ context.Context, item int) (int, error) { return item * item, nil }

func TestStreamKeepsTheOrder(t *testing.T) {
	for _, items := range []int{-1, 0, 1, 2, 50} {
		for _, n := range []int{0, 1, 3} {
			for _, ahead := range []int{-1, 0, 1, 2, 100} {
				t.Run(fmt.Sprintf("items=%d/workers=%d/ahead=%d", items, n, ahead), func(t *testing.T) {
					want := make([]int, max(0, items))
					for i := range want {
						want[i] = i * i
					}
					got := []int{}
					for v, err := range workers.Stream(t.Context(), items, n, ahead, square) {
						require.NoError(t, err)
						got = append(got, v)
					}
					require.Equal(t, want, got)
				})
			}
		}
	}
}

// TestStreamIsBounded has a loop that takes ten seconds for each result: what is made meanwhile are
// the next ones, as many as there may be.
func TestStreamIsBounded(t *testing.T) {
	for _, ahead := range []int{1, 2, 5} {
		synctest.Test(t, func(t *testing.T) {
			var begun, running, most atomic.Int32
			item := int32(0)
			for _, err := range workers.Stream(t.Context(), 20, 3, ahead, func(context.Context, int) (int, error) {
				begun.Add(1)
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				time.Sleep(time.Second)
				return 0, nil
			}) {
				require.NoError(t, err)
				item++
				time.Sleep(10 * time.Second)
				require.Equal(t, min(20, item+int32(ahead)), begun.Load(), "those the loop has had, and those ahead")
			}
			require.Equal(t, int32(min(3, ahead)), most.Load())
		})
	}
}

func TestStreamStopsAtTheLowestFailure(t *testing.T) {
	tests := []struct {
		name string
		fail func() error
		is   error
		text string
	}{
		{"an error", func() error { return errMine }, errMine, "mine"},
		{"a panic", func() error { panic(errMine) }, errMine, "panic: mine"},
		{"the end of the goroutine", func() error { runtime.Goexit(); return nil }, nil, "item ended its goroutine: runtime.Goexit was called"},
	}
	for _, tt := range tests {
		for _, n := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s/workers=%d", tt.name, n), func(t *testing.T) {
				var got []int
				var failed error
				for v, err := range workers.Stream(t.Context(), 100, n, 8, func(_ context.Context, item int) (int, error) {
					if item == 5 {
						return 0, tt.fail()
					}
					if item > 5 {
						return 0, errOther
					}
					return item, nil
				}) {
					require.NoError(t, failed, "the error is the last that comes")
					if failed = err; err == nil {
						got = append(got, v)
					}
				}
				require.Equal(t, []int{0, 1, 2, 3, 4}, got)
				require.EqualError(t, failed, tt.text)
				if tt.is != nil {
					require.ErrorIs(t, failed, tt.is)
				}
			})
		}
	}
}

// TestStreamEndsWithItsContext: the loop is told of the cause, even while an item goes on.
func TestStreamEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		got := 0
		for _, err := range workers.Stream(ctx, 100, 2, 4, func(ctx context.Context, item int) (int, error) {
			if item == 3 {
				<-ctx.Done()
				return 0, ctx.Err()
			}
			return 0, nil
		}) {
			if got++; got == 3 {
				cancel(errOther)
			}
			if got > 3 {
				require.True(t, err == errOther, "got %v", err)
			}
		}
		require.Equal(t, 4, got)
	})
}

func TestStreamOfAnEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errOther)
	var errs []error
	for _, err := range workers.Stream(ctx, 3, 2, 2, square) {
		errs = append(errs, err)
	}
	require.Equal(t, []error{errOther}, errs)
}

// TestStreamWaits: when a loop ends early, what was begun is told so, and has ended.
func TestStreamWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun, ended atomic.Int32
		for range workers.Stream(t.Context(), 100, 3, 6, func(ctx context.Context, item int) (int, error) {
			begun.Add(1)
			defer ended.Add(1)
			if item > 0 {
				<-ctx.Done()
				time.Sleep(time.Second)
			}
			return 0, nil
		}) {
			time.Sleep(time.Minute)
			break
		}
		require.Equal(t, int32(4), begun.Load())
		require.Equal(t, begun.Load(), ended.Load())
	})
}

// TestStreamCanBeRangedAgain: it begins again.
func TestStreamCanBeRangedAgain(t *testing.T) {
	s := workers.Stream(context.Background(), 4, 2, 2, square)
	for range 2 {
		var got []int
		for v, err := range s {
			require.NoError(t, err)
			got = append(got, v)
		}
		require.Equal(t, []int{0, 1, 4, 9}, got)
	}
}

// TestStreamAllocations: what it costs does not grow with the number of items.
func TestStreamAllocations(t *testing.T) {
	count := func(items int) float64 {
		return testing.AllocsPerRun(5, func() {
			for _, err := range workers.Stream(context.Background(), items, 2, 4, square) {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	require.InDelta(t, count(10), count(10_000), 20)
}

// TestStreamFailsAlike has many items fail at once: which one comes does not depend on luck.
func TestStreamFailsAlike(t *testing.T) {
	for range 200 {
		var all []error
		for _, err := range workers.Stream(t.Context(), 64, 8, 16, func(_ context.Context, item int) (int, error) {
			if item < 11 {
				return 0, nil
			}
			return 0, fmt.Errorf("item %d", item)
		}) {
			all = append(all, err)
		}
		require.Equal(t, 12, len(all))
		require.Equal(t, 11, slices.IndexFunc(all, func(err error) bool { return err != nil }))
		require.EqualError(t, errors.Join(all...), "item 11")
	}
}
