package loadertest_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/loadertest"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// rows returns n rows: "row" is their number, "deep/x" a half of it, which is NaN in row 1.
func rows(t testing.TB, n int) *tdict.TensorDict {
	t.Helper()
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i) / 2
		if i == 1 {
			x[i] = float32(math.NaN())
		}
	}
	td := tdict.New(n)
	require.NoError(t, td.Set("row", tensor.Must(tensor.Arange(0, int64(n), 1))))
	require.NoError(t, td.Set("deep/x", tensor.Must(tensor.From(x, n))))
	return td
}

// fetch is what a Source does.
type fetch func(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error)

// A source is loader.Source of a function.
type source struct {
	len   func() int
	fetch fetch
}

func (s source) Len() int { return s.len() }

func (s source) Fetch(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
	return s.fetch(ctx, rows, dst)
}

// What a source may be, too.
type (
	slicer struct {
		source
		slice func(start, stop int) (*tdict.TensorDict, error)
	}
	prefetcher struct {
		source
		prefetch func(rows ...int) error
	}
	describer struct {
		source
		describe func() (loader.Description, error)
	}
	snapshotter struct {
		source
		snapshot func() (loader.Snapshot, error)
	}
)

func (s slicer) Slice(start, stop int) (*tdict.TensorDict, error) { return s.slice(start, stop) }
func (s prefetcher) Prefetch(rows ...int) error                   { return s.prefetch(rows...) }
func (s describer) Describe() (loader.Description, error)         { return s.describe() }
func (s snapshotter) Snapshot() (loader.Snapshot, error)          { return s.snapshot() }

// good returns a source that does what it should.
func good(t testing.TB, td *tdict.TensorDict) source {
	t.Helper()
	src := tensor.Must(loader.From(td))
	return source{src.Len, src.Fetch}
}

// snapshotOf returns a Snapshot of a source that does not change.
func snapshotOf(src loader.Source) func() (loader.Snapshot, error) {
	return func() (loader.Snapshot, error) { return loader.Snapshot{Source: src}, nil }
}

// TestFinds: each source breaks a rule, and is found to do so.
func TestFinds(t *testing.T) {
	td := rows(t, 12)
	ok := good(t, td)
	withRows := func(n func() int) loader.Source { return source{n, ok.fetch} }
	with := func(fn fetch) loader.Source { return source{ok.len, fn} }
	// first fetches, and then has fn change what is returned.
	first := func(fn func(rows []int, out *tdict.TensorDict) (*tdict.TensorDict, error)) loader.Source {
		return with(func(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
			out, err := ok.fetch(ctx, rows, dst)
			if err != nil {
				return nil, err
			}
			return fn(rows, out)
		})
	}
	var calls atomic.Int64
	var lengths atomic.Int64
	var mu sync.Mutex
	kept := tensor.Must(td.Index(ix.Take(0)))
	var last []int
	tests := []struct {
		name string
		src  loader.Source
		want string
	}{
		{"nil", nil, "the source is nil"},
		{"a negative length", withRows(func() int { return -1 }), "Len is the number of rows: got -1"},
		{"a length that panics", withRows(func() int { panic("boom") }), "Len is the number of rows: panic: boom"},
		{"a length that changes", withRows(func() int { return 12 - int(lengths.Add(1)/3)%2 }), "Len stays the same: got 11, it was 12 before"},
		{"rows that cannot be fetched", with(func(context.Context, []int, *tdict.TensorDict) (*tdict.TensorDict, error) {
			return nil, errors.New("no such file")
		}), "Fetch returns rows: rows [0 1 2 3 4 5 6 7 8 9 10 11]: no such file"},
		{"a panic", with(func(context.Context, []int, *tdict.TensorDict) (*tdict.TensorDict, error) { panic("boom") }), "panic: boom"},
		{"nothing", with(func(context.Context, []int, *tdict.TensorDict) (*tdict.TensorDict, error) { return nil, nil }), "got a nil dictionary and no error"},
		{"a row more", first(func(rows []int, _ *tdict.TensorDict) (*tdict.TensorDict, error) {
			return td.Index(ix.Take(append(slices.Clone(rows), 0)...))
		}), "got batch shape [13], want [12 ...]"},
		{"a row without its dim", first(func(rows []int, out *tdict.TensorDict) (*tdict.TensorDict, error) {
			if len(rows) == 1 {
				return out.Index(ix.At(0))
			}
			return out, nil
		}), "rows [0]: got batch shape [], want [1 ...]"},
		{"another batch shape for one row", first(func(rows []int, out *tdict.TensorDict) (*tdict.TensorDict, error) {
			if len(rows) == 1 {
				return out.Unsqueeze(1)
			}
			return out, nil
		}), "got batch shape [1 1], others have [12]"},
		{"a locked dictionary", first(func(_ []int, out *tdict.TensorDict) (*tdict.TensorDict, error) {
			out.Lock()
			return out, nil
		}), "got a locked dictionary"},
		{"ascending rows", with(func(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
			return ok.fetch(ctx, slices.Sorted(slices.Values(rows)), dst)
		}), "Fetch returns rows in the order asked for, repetitions included: rows [11 10 9 8 7 6 5 4 3 2 1 0]: got (and other, want) \"row\": element [0] is 0, other 11"},
		{"each row once", first(func(rows []int, out *tdict.TensorDict) (*tdict.TensorDict, error) {
			return td.Index(ix.Take(slices.Compact(slices.Clone(rows))...))
		}), "repetitions included: rows [0 0 0]: got batch shape [1], want [3 ...]"},
		{"another row each time", first(func(rows []int, out *tdict.TensorDict) (*tdict.TensorDict, error) {
			return out, out.Set("row", tensor.Must(tensor.Full(calls.Add(1), len(rows))))
		}), "repetitions included: rows [0]: got"},
		{"views", first(func(rows []int, out *tdict.TensorDict) (*tdict.TensorDict, error) {
			if len(rows) == 1 {
				return rowsAlone(t, rows[0]), nil
			}
			return out, nil
		}), "Fetch shares no memory with the source: after writing to what was fetched before: rows [0]: got"},
		{"the same dictionary", first(func(rows []int, out *tdict.TensorDict) (*tdict.TensorDict, error) {
			if len(rows) == 1 && rows[0] == 0 {
				return kept, td.IndexInto(kept, ix.Take(0))
			}
			return out, nil
		}), "Fetch returns a new dictionary if dst is nil: got the same dictionary twice"},
		{"changed rows", with(func(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
			defer slices.Reverse(rows)
			return ok.fetch(ctx, rows, dst)
		}), "Fetch does not change or keep rows: it has changed: got [0 1 2], want [2 1 0]"},
		{"kept rows", with(func(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
			mu.Lock()
			defer mu.Unlock()
			if len(last) == 3 && last[0] == 11 { // the caller has changed what it asked for
				return nil, errors.New("it was kept")
			}
			last = rows
			return ok.fetch(ctx, rows, dst)
		}), "it was kept"},
		{"dst as it is", with(func(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
			if dst != nil && dst.Shape()[0] == len(rows) {
				return dst, ctx.Err()
			}
			return ok.fetch(ctx, rows, nil)
		}), "Fetch returns the same with a dst that fits: rows [1 2 3]: got"},
		{"dst that does not fit", with(func(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
			out, err := ok.fetch(ctx, rows, dst)
			if dst != nil && dst.Shape()[0] == len(rows) && err == nil {
				return dst, dst.Update(out)
			}
			return out, err
		}), "Fetch ignores a dst that does not fit: dst with a key more: rows [0 1 2]: got"},
		{"a row before the first", with(func(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
			return ok.fetch(ctx, each(rows, func(row int) int { return max(row, 0) }), dst)
		}), "Fetch returns an error if a row does not exist: rows [-1] of 12: got no error"},
		{"a row after the last", with(func(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
			return ok.fetch(ctx, each(rows, func(row int) int { return min(row, 11) }), dst)
		}), "Fetch returns an error if a row does not exist: rows [12] of 12"},
		{"a panic for a row that does not exist", with(func(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
			_ = make([]int, 12)[rows[0]]
			return ok.fetch(ctx, rows, dst)
		}), "Fetch returns an error if a row does not exist: rows [-1] of 12: panic: runtime error: index out of range [-1]"},
		{"an ended context", with(func(_ context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
			return ok.fetch(context.Background(), rows, dst)
		}), "Fetch returns an error if ctx ended: got none"},
		{"memory for all", with(shared(td)), "Fetch is safe for concurrent use"},

		{"other rows in a view", slicer{ok, func(start, stop int) (*tdict.TensorDict, error) {
			return td.Index(ix.Range(12-stop, 12-start))
		}}, "Slice returns the rows that Fetch returns: rows 0 to 1: rows [0]: got"},
		{"a view of other length", slicer{ok, func(start, stop int) (*tdict.TensorDict, error) {
			return td.Index(ix.Range(start, stop+1))
		}}, "Slice returns the rows that Fetch returns: rows 0 to 1: got batch shape [2], want [1 ...]"},
		{"no view", slicer{ok, func(start, stop int) (*tdict.TensorDict, error) { return nil, nil }}, "got a nil dictionary and no error"},
		{"a view that fails", slicer{ok, func(start, stop int) (*tdict.TensorDict, error) {
			return nil, errors.New("no such file")
		}}, "Slice returns the rows that Fetch returns: rows 0 to 1: no such file"},
		{"the same view", slicer{ok, sameView(td)}, "Slice returns the rows that Fetch returns: rows 0 to 1: got the same dictionary twice"},
		{"a prefetch that fails", prefetcher{ok, func(rows ...int) error {
			if len(rows) == 0 {
				return nil
			}
			return errors.New("no such file")
		}}, "Prefetch does not change results: of rows [0 1 2 3 4 5 6 7 8 9 10 11]: no such file"},
		{"a prefetch of nothing that fails", prefetcher{ok, func(rows ...int) error { _ = rows[0]; return nil }}, "Prefetch does not change results: panic: runtime error"},
		{"a negative size", describer{ok, func() (loader.Description, error) { return loader.Description{RowBytes: -1}, nil }}, "Describe describes the rows: got RowBytes -1, want 0 or more"},
		{"a description that fails", describer{ok, func() (loader.Description, error) {
			return loader.Description{}, errors.New("no such file")
		}}, "Describe describes the rows: no such file"},
		{"a description that changes", describer{ok, func() (loader.Description, error) {
			return loader.Description{Schema: fmt.Sprint(calls.Add(1))}, nil
		}}, "Describe describes the rows: got"},
		{"a snapshot that fails", snapshotter{ok, func() (loader.Snapshot, error) {
			return loader.Snapshot{}, errors.New("no such file")
		}}, "Snapshot returns the current state of the source: no such file"},
		{"no snapshot", snapshotter{ok, func() (loader.Snapshot, error) { return loader.Snapshot{}, nil }}, "got a nil source and no error"},
		{"a release that fails", snapshotter{ok, func() (loader.Snapshot, error) {
			return loader.Snapshot{Source: ok, Release: func() error { return errors.New("no such file") }}, nil
		}}, "Snapshot returns the current state of the source: release: no such file"},
		{"a snapshot of other length", snapshotter{ok, snapshotOf(good(t, rows(t, 3)))},
			"Snapshot returns the current state of the source: got 3 rows, the source has 12"},
		{"a snapshot of other rows", snapshotter{ok, snapshotOf(good(t, tensor.Must(shapeops.Flip(td, 0))))},
			"Snapshot returns the current state of the source: got (and other, want) \"row\": element [0] is 11, other 0"},
		{"a snapshot that breaks a rule", snapshotter{ok, snapshotOf(withRows(func() int { return -1 }))},
			"Snapshot returns the current state of the source: broken rule: Len is the number of rows: got -1"},
		{"versions that change", snapshotter{ok, func() (loader.Snapshot, error) {
			return loader.Snapshot{Source: ok, Version: fmt.Sprint(calls.Add(1))}, nil
		}}, "Snapshot returns the current state of the source: got version"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := loadertest.TestSource(t.Context(), tt.src)
			require.ErrorContains(t, err, tt.want)
			for line := range strings.Lines(err.Error()) {
				require.True(t, tt.src == nil || strings.HasPrefix(line, "broken rule: "), line)
			}
		})
	}
}

// each returns what fn makes of each number.
func each(rows []int, fn func(row int) int) []int {
	out := make([]int, len(rows))
	for i, row := range rows {
		out[i] = fn(row)
	}
	return out
}

var alone sync.Map // dictionaries of one row

// rowsAlone returns one row, in the same memory each time.
func rowsAlone(t testing.TB, row int) *tdict.TensorDict {
	td, _ := alone.LoadOrStore(row, tensor.Must(rows(t, 12).Index(ix.Take(row))))
	return td.(*tdict.TensorDict).Copy()
}

// shared returns a Fetch that is right as long as one is called after the other.
func shared(td *tdict.TensorDict) fetch {
	var running atomic.Int64
	src := tensor.Must(loader.From(td))
	return func(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
		defer running.Add(-1)
		if running.Add(1) > 1 {
			return nil, errors.New("somebody else fetches")
		}
		time.Sleep(200 * time.Microsecond) // others come meanwhile
		return src.Fetch(ctx, rows, dst)
	}
}

// sameView returns a Slice that shows rows in the same dictionary each time.
func sameView(td *tdict.TensorDict) func(start, stop int) (*tdict.TensorDict, error) {
	first := tensor.Must(td.Index(ix.Range(0, 1)))
	return func(start, stop int) (*tdict.TensorDict, error) {
		if start == 0 && stop == 1 {
			return first, nil
		}
		return td.Index(ix.Range(start, stop))
	}
}

// TestAccepts: what is left to sources.
func TestAccepts(t *testing.T) {
	td := rows(t, 12)
	ok := good(t, td)
	some := tensor.Must(ragged.From[float64]([][]float64{{1, math.NaN()}, {}, {2}, {3, 4, 5}}))
	uneven := tdict.New(4)
	require.NoError(t, uneven.Set("x", some))
	lists := tensor.Must(loader.From(uneven))
	tests := []struct {
		name string
		src  loader.Source
	}{
		{"no views", slicer{ok, func(start, stop int) (*tdict.TensorDict, error) { return nil, errors.ErrUnsupported }}},
		{"some views", slicer{ok, func(start, stop int) (*tdict.TensorDict, error) {
			if start%2 == 0 {
				return nil, fmt.Errorf("rows %d to %d: %w", start, stop, errors.ErrUnsupported)
			}
			return td.Index(ix.Range(start, stop))
		}}},
		{"no rows", good(t, rows(t, 0))},
		{"one row", good(t, rows(t, 1))},
		{"two rows", good(t, rows(t, 2))},
		{"neither rows nor leaves", good(t, tdict.New(0))},
		{"bools, bytes and complex numbers", good(t, mixed(t))},
		{"ragged leaves that are not filled", source{lists.Len, func(ctx context.Context, rows []int, _ *tdict.TensorDict) (*tdict.TensorDict, error) {
			return lists.Fetch(ctx, rows, nil)
		}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.NoError(t, loadertest.TestSource(t.Context(), tt.src)) })
	}
}

// mixed returns rows whose elements are partly what rubbish is.
func mixed(t testing.TB) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(3)
	require.NoError(t, td.Set("b", tensor.Vector(true, false, true)))
	require.NoError(t, td.Set("u", tensor.Vector[uint8](85, 0, 85)))
	require.NoError(t, td.Set("c", tensor.Vector(complex64(85), 0, complex(float32(math.NaN()), 1))))
	require.NoError(t, td.Set("d", tensor.Must(tdict.NewData("a", 3))))
	return td
}

// TestLooksAtFewRows: a source may be huge, and rows costly.
func TestLooksAtFewRows(t *testing.T) {
	for _, n := range []int{0, 1, 5, 31, 32, 33, 1000, math.MaxInt} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var mu sync.Mutex
			seen, fetched := map[int]bool{}, 0
			src := tensor.Must(loader.FromRows(n, func(_ context.Context, row int) (*tdict.TensorDict, error) {
				mu.Lock()
				defer mu.Unlock()
				seen[row], fetched = true, fetched+1
				td := tdict.New()
				return td, td.Set("row", tensor.Scalar(int64(row)))
			}))
			require.NoError(t, loadertest.TestSource(t.Context(), src))
			require.LessOrEqual(t, len(seen), loadertest.MaxRows)
			require.GreaterOrEqual(t, len(seen), min(n, loadertest.MaxRows*3/4))
			require.LessOrEqual(t, fetched, 1000)
			if n > 0 {
				require.True(t, seen[0] && seen[n-1])
			}
		})
	}
}
