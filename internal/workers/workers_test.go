package workers_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/workers"
)

var (
	errMine  = errors.New("mine")
	errOther = errors.New("other")
)

func TestCount(t *testing.T) {
	cores := runtime.GOMAXPROCS(0)
	tests := []struct {
		name           string
		workers, items int
		want           int
	}{
		{"as many as asked for", 3, 9, 3},
		{"never more than items", 9, 3, 3},
		{"0 is one a core", 0, cores + 5, cores},
		{"a negative number too", -1, cores + 5, cores},
		{"0 is never more than items either", 0, 1, 1},
		{"none for no items", 4, 0, 0},
		{"none for a negative number of items", 4, -1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, workers.Count(tt.workers, tt.items)) })
	}
}

func TestDoDoesEachItemOnce(t *testing.T) {
	for _, items := range []int{-1, 0, 1, 2, 7, 1000} {
		for _, n := range []int{-1, 0, 1, 2, 3, 2000} {
			t.Run(fmt.Sprintf("items=%d/workers=%d", items, n), func(t *testing.T) {
				done := make([]atomic.Int32, max(0, items))
				require.NoError(t, workers.Do(t.Context(), items, n, func(item int) error {
					done[item].Add(1)
					return nil
				}))
				for item := range done {
					require.Equal(t, int32(1), done[item].Load(), "item %d", item)
				}
			})
		}
	}
}

// TestDoIsBoundedAndOrdered does items that take a second each: three workers start three a second.
func TestDoIsBoundedAndOrdered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var mu sync.Mutex
		started := map[time.Duration][]int{}
		require.NoError(t, workers.Do(t.Context(), 7, 3, func(item int) error {
			mu.Lock()
			at := time.Since(began)
			started[at] = append(started[at], item)
			slices.Sort(started[at])
			mu.Unlock()
			time.Sleep(time.Second)
			return nil
		}))
		require.Equal(t, map[time.Duration][]int{
			0: {0, 1, 2}, time.Second: {3, 4, 5}, 2 * time.Second: {6},
		}, started)
		require.Equal(t, 3*time.Second, time.Since(began), "started items have ended")
	})
}

func TestOneWorkerIsTheCaller(t *testing.T) {
	caller := goroutine()
	var order []int
	require.NoError(t, workers.Do(t.Context(), 5, 1, func(item int) error {
		require.Equal(t, caller, goroutine())
		order = append(order, item)
		return nil
	}))
	require.Equal(t, []int{0, 1, 2, 3, 4}, order)
}

// goroutine returns the name of the calling goroutine: "goroutine 7".
func goroutine() string {
	stack := make([]byte, 64)
	stack = stack[:runtime.Stack(stack, false)]
	return string(stack[:bytes.IndexByte(stack, '[')])
}

// TestDoReturnsTheLowestFailure has items that sleep and then fail, or do not.
func TestDoReturnsTheLowestFailure(t *testing.T) {
	type item struct {
		seconds int
		err     error
	}
	tests := []struct {
		name    string
		workers int
		items   []item
		err     error
		started int
	}{
		{"none failed", 2, []item{{1, nil}, {1, nil}, {1, nil}}, nil, 3},
		{"one worker stops at the first", 1, []item{{1, nil}, {1, errMine}, {1, errOther}}, errMine, 2},
		{"a later item that failed earlier", 2, []item{{2, errMine}, {1, errOther}, {1, nil}}, errMine, 2},
		{"an earlier item that failed earlier", 2, []item{{1, errMine}, {2, errOther}, {1, nil}}, errMine, 2},
		{"what was started is finished", 3, []item{{1, nil}, {9, nil}, {2, errMine}, {5, nil}}, errMine, 4},
		{"the last item", 2, []item{{1, nil}, {1, nil}, {1, errMine}}, errMine, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var started, ended atomic.Int32
				err := workers.Do(t.Context(), len(tt.items), tt.workers, func(i int) error {
					started.Add(1)
					defer ended.Add(1)
					time.Sleep(time.Duration(tt.items[i].seconds) * time.Second)
					return tt.items[i].err
				})
				require.True(t, err == tt.err, "as fn returned it: got %v", err)
				require.Equal(t, int32(tt.started), started.Load())
				require.Equal(t, started.Load(), ended.Load(), "all have ended")
			})
		})
	}
}

// TestDoFailsAlike has many items fail at once: which one is returned does not depend on luck.
func TestDoFailsAlike(t *testing.T) {
	for range 200 {
		err := workers.Do(t.Context(), 64, 8, func(item int) error {
			if item < 11 {
				return nil
			}
			return fmt.Errorf("item %d", item)
		})
		require.EqualError(t, err, "item 11")
	}
}

func TestDoEndsWithItsContext(t *testing.T) {
	const items = 6
	tests := []struct {
		name    string
		workers int
		cancel  int // the item, one a second, that ends ctx; -1 before Do
		fail    int // the item that fails; -1 for none
		err     error
		started int
	}{
		{"before Do", 1, -1, -1, errOther, 0},
		{"before Do with several workers", 3, -1, -1, errOther, 0},
		{"midway", 1, 2, -1, errOther, 3},
		{"midway with several workers", 2, 2, -1, errOther, 4},
		{"after all were started", 1, items - 1, -1, nil, items},
		{"after all were started by several workers", 3, items - 2, -1, nil, items},
		{"a failed item comes first", 1, 2, 2, errMine, 3},
		{"a failed item comes first with several workers", 2, 2, 3, errMine, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				if tt.cancel < 0 {
					cancel(errOther)
				}
				var started atomic.Int32
				err := workers.Do(ctx, items, tt.workers, func(item int) error {
					started.Add(1)
					time.Sleep(time.Second)
					if item == tt.cancel {
						cancel(errOther)
					}
					time.Sleep(time.Millisecond) // ctx has ended for those started with this one
					if item == tt.fail {
						return errMine
					}
					return nil
				})
				require.True(t, err == tt.err, "got %v, want %v", err, tt.err)
				require.Equal(t, int32(tt.started), started.Load())
			})
		})
	}
}

func TestDoOfNothingIgnoresItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, workers.Do(ctx, 0, 0, nil), "all items were started")
}

func TestPanicIsAnError(t *testing.T) {
	tests := []struct {
		name  string
		value any
		text  string
		is    error // nil if the value is not an error
	}{
		{"a value", "no such row", "item 3: panic: no such row", nil},
		{"an error", errMine, "item 3: panic: mine", errMine},
	}
	for _, n := range []int{1, 2} {
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%s/workers=%d", tt.name, n), func(t *testing.T) {
				err := workers.Do(t.Context(), 5, n, func(item int) error { return panicAt3(item, tt.value) })
				require.EqualError(t, err, tt.text)
				failed, ok := errors.AsType[*workers.PanicError](err)
				require.True(t, ok)
				require.Equal(t, 3, failed.Item)
				require.Equal(t, tt.value, failed.Value)
				require.Contains(t, string(failed.Stack), "panicAt3", "the stack leads to the panic")
				require.Equal(t, tt.is, failed.Unwrap())
			})
		}
	}
}

func panicAt3(item int, v any) error {
	if item == 3 {
		panic(v)
	}
	return nil
}

func TestRuntimePanicsAreErrors(t *testing.T) {
	var nilError *runtime.PanicNilError
	require.ErrorAs(t, workers.Do(t.Context(), 4, 2, func(int) error { panic(nil) }), &nilError)
	var short []int
	var runtimeError runtime.Error
	err := workers.Do(t.Context(), 4, 2, func(item int) error { return fmt.Errorf("%d", short[item]) })
	require.ErrorAs(t, err, &runtimeError)
	require.ErrorContains(t, err, "item 0: panic: runtime error: index out of range")
}

// TestGoexitIsAFailure ends the goroutine of an item, as t.FailNow does.
func TestGoexitIsAFailure(t *testing.T) {
	var started atomic.Int32
	err := workers.Do(t.Context(), 100, 2, func(item int) error {
		if started.Add(1); item == 0 {
			runtime.Goexit()
		}
		time.Sleep(time.Millisecond)
		return nil
	})
	require.EqualError(t, err, "item ended its goroutine: runtime.Goexit was called")
	require.Less(t, started.Load(), int32(100))
}

// TestNoGoroutineOutlivesDo relies on synctest, which fails if its function leaves a goroutine that
// never ends, and counts those that have not ended when Do returns.
func TestNoGoroutineOutlivesDo(t *testing.T) {
	ends := map[string]func(item int) error{
		"success": func(int) error { return nil },
		"failure": func(int) error { return errMine },
		"panic":   func(int) error { panic("mine") },
		"goexit":  func(int) error { runtime.Goexit(); return nil },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var running atomic.Int32
				_ = workers.Do(t.Context(), 20, 5, func(item int) error {
					running.Add(1)
					defer running.Add(-1)
					time.Sleep(time.Duration(item%3) * time.Second)
					return end(item)
				})
				require.Zero(t, running.Load())
			})
		})
	}
}

func TestDoNests(t *testing.T) {
	var done atomic.Int32
	require.NoError(t, workers.Do(t.Context(), 5, 3, func(int) error {
		return workers.Do(t.Context(), 7, 2, func(int) error { done.Add(1); return nil })
	}))
	require.Equal(t, int32(35), done.Load())
}

func TestOneWorkerAllocatesNothing(t *testing.T) {
	ctx, fn := t.Context(), func(int) error { return nil }
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = workers.Do(ctx, 10, 1, fn) }))
}

// BenchmarkDo measures what an item costs beside its work, which is nothing here.
func BenchmarkDo(b *testing.B) {
	const items = 1000
	for _, n := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("workers=%d", n), func(b *testing.B) {
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			b.ReportAllocs()
			for b.Loop() {
				_ = workers.Do(ctx, items, n, func(int) error { return nil })
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*items), "ns/item")
		})
	}
}

func ExampleDo() {
	squares := make([]int, 5)
	err := workers.Do(context.Background(), len(squares), 2, func(i int) error {
		squares[i] = i * i
		return nil
	})
	fmt.Println(squares, err)

	err = workers.Do(context.Background(), len(squares), 2, func(i int) error {
		if i > 1 {
			return fmt.Errorf("square %d: %w", i, errors.ErrUnsupported)
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// [0 1 4 9 16] <nil>
	// square 2: unsupported operation
}

// TestCall: a panic is an error that names no item, and wraps what was panicked.
func TestCall(t *testing.T) {
	require.NoError(t, workers.Call(func() error { return nil }))
	require.Equal(t, errMine, workers.Call(func() error { return errMine }), "as it was returned")
	err := workers.Call(func() error { panic(errMine) })
	require.EqualError(t, err, "panic: mine")
	require.ErrorIs(t, err, errMine)
	p, ok := errors.AsType[*workers.PanicError](err)
	require.True(t, ok)
	require.NotEmpty(t, p.Stack)
}

// TestCrewsRepeat: a crew can be used again, after a failure too, and takes no memory then.
func TestCrewsRepeat(t *testing.T) {
	var done atomic.Int64
	failing := errors.New("no")
	fail := false
	crew := workers.NewCrew(func(item int) error {
		done.Add(1)
		if fail && item == 1 {
			return failing
		}
		return nil
	})
	for _, n := range []int{1, 2, 5} {
		for range 3 {
			done.Store(0)
			require.NoError(t, crew.Do(t.Context(), 10, n))
			require.EqualValues(t, 10, done.Load())
			fail = true
			require.ErrorIs(t, crew.Do(t.Context(), 10, n), failing)
			fail = false
		}
		allocated := testing.AllocsPerRun(100, func() { _ = crew.Do(context.Background(), 10, n) })
		require.Zero(t, allocated, "%d workers", n)
	}
}
