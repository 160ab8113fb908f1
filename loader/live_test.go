package loader_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/loadertest"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// A served is a directory that a Live serves, which knows when it has been replaced.
type served struct {
	dir      string
	live     *memmap.Live
	replaced chan struct{}
}

// serve serves a dictionary until the test ends.
func serve(t testing.TB, td *tdict.TensorDict) *served {
	t.Helper()
	before := mapping.Live()
	s := &served{dir: filepath.Join(t.TempDir(), "d"), replaced: make(chan struct{}, 9)}
	require.NoError(t, memmap.Save(s.dir, td))
	s.live = must(memmap.OpenLive(s.dir, memmap.LiveOptions{
		Interval:  2 * time.Millisecond,
		OnReplace: func(*memmap.Dataset) { s.replaced <- struct{}{} },
	}))
	t.Cleanup(func() {
		_ = s.live.Close() // tests may have closed it
		require.Equal(t, before, mapping.Live(), "files that are mapped")
	})
	return s
}

// replace has another dictionary served.
func (s *served) replace(t testing.TB, td *tdict.TensorDict) {
	t.Helper()
	require.NoError(t, memmap.Save(s.dir, td))
	<-s.replaced
}

// during ranges over an epoch, and calls fn within its first batch.
func during(t testing.TB, l *loader.Loader, fn func()) (rows []int, err error) {
	t.Helper()
	for batch, err := range l.Batches(t.Context()) {
		if err != nil {
			return rows, err
		}
		if rows = append(rows, rowsOf(t, batch)...); fn != nil {
			fn()
			fn = nil
		}
	}
	return rows, nil
}

var liveOptions = []loader.Options{
	{Batch: 2}, {Batch: 2, Sampler: sampler.Random()}, {Batch: 2, Workers: 1, Ahead: 1}, {Batch: 2, ReadAhead: 1 << 20},
}

// TestReplacedInTheMiddle: by default the epoch ends when its dataset is replaced, whatever the
// source is put together of.
func TestReplacedInTheMiddle(t *testing.T) {
	for name, from := range map[string]func(src loader.Source) loader.Source{
		"live":   func(src loader.Source) loader.Source { return src },
		"concat": func(src loader.Source) loader.Source { return must(loader.Concat(src, src)) },
		"zip":    func(src loader.Source) loader.Source { return must(loader.Zip(src, column(t, "b", 0, 40))) },
		"subset": func(src loader.Source) loader.Source {
			return must(loader.Subset(src, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 30}))
		},
	} {
		for i, opt := range liveOptions {
			t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
				s := serve(t, kinds(t, 0, 40))
				l := must(loader.New(from(must(loader.FromLive(s.live, loader.LiveOptions{}))), opt))
				rows, err := during(t, l, func() { s.replace(t, kinds(t, 100, 40)) })
				require.ErrorIs(t, err, loader.ErrReplaced)
				require.ErrorAs(t, err, new(*loader.BatchError))
				for _, row := range rows {
					require.Less(t, row, 100)
				}
				require.NoError(t, l.Seek(0, 0))
				rows, err = during(t, l, nil)
				require.NoError(t, err)
				for _, row := range rows {
					require.GreaterOrEqual(t, row, 100)
				}
			})
		}
	}
}

// TestFinish: when asked, the epoch ends on the dataset that it began with, and the next has the
// new one, which may have another number of rows.
func TestFinish(t *testing.T) {
	for i, opt := range liveOptions {
		for _, n := range []int{10, 3, 30} {
			t.Run(fmt.Sprintf("%d/rows=%d", i, n), func(t *testing.T) {
				s := serve(t, kinds(t, 0, 10))
				src := must(loader.FromLive(s.live, loader.LiveOptions{Finish: true}))
				l := must(loader.New(src, opt))
				rows, err := during(t, l, func() { s.replace(t, kinds(t, 100, n)) })
				require.NoError(t, err)
				require.ElementsMatch(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, rows)

				require.Equal(t, n, src.Len())
				require.Equal(t, (n+1)/2, l.Len())
				rows, err = during(t, l, nil)
				require.NoError(t, err)
				require.Len(t, rows, n)
				for _, row := range rows {
					require.GreaterOrEqual(t, row, 100)
				}
			})
		}
	}
}

// TestLiveClosedInTheMiddle: the epoch ends with an error, unless it was to be finished.
func TestLiveClosedInTheMiddle(t *testing.T) {
	for i, opt := range liveOptions {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			s := serve(t, kinds(t, 0, 40))
			l := must(loader.New(must(loader.FromLive(s.live, loader.LiveOptions{})), opt))
			_, err := during(t, l, func() { require.NoError(t, s.live.Close()) })
			require.ErrorIs(t, err, memmap.ErrClosed)
			_, err = during(t, l, nil)
			require.ErrorIs(t, err, memmap.ErrClosed)

			s = serve(t, kinds(t, 0, 40))
			l = must(loader.New(must(loader.FromLive(s.live, loader.LiveOptions{Finish: true})), opt))
			rows, err := during(t, l, func() { require.NoError(t, s.live.Close()) })
			require.NoError(t, err)
			require.Len(t, rows, 40)
			_, err = during(t, l, nil)
			require.ErrorIs(t, err, memmap.ErrClosed)
			require.Zero(t, l.Len())
		})
	}
}

// A snapshot may be checked like any source, and keeps what it is of.
func TestLiveSnapshot(t *testing.T) {
	s := serve(t, kinds(t, 0, 7))
	src := must(loader.FromLive(s.live, loader.LiveOptions{Finish: true}))
	now, err := src.(loader.Snapshotter).Snapshot()
	require.NoError(t, err)
	s.replace(t, kinds(t, 100, 3))
	require.NoError(t, loadertest.TestSource(t.Context(), now.Source))
	require.NoError(t, loadertest.TestSource(t.Context(), src))
	require.Equal(t, []int{6, 0}, numbers(t, now.Source, 6, 0))
	require.Equal(t, []int{102, 100}, numbers(t, src, 2, 0))
	require.NoError(t, now.Release())
	require.ErrorIs(t, testkit.Err(now.Source.Fetch(t.Context(), []int{0}, nil)), memmap.ErrClosed)
}

func TestLiveRefuses(t *testing.T) {
	closed := serve(t, kinds(t, 0, 3))
	src := must(loader.FromLive(closed.live, loader.LiveOptions{}))
	joined := must(loader.Concat(must(loader.From(kinds(t, 0, 3))), src))
	require.NoError(t, closed.live.Close())
	scalar := must(loader.FromLive(serve(t, tdict.New()).live, loader.LiveOptions{}))
	require.Zero(t, src.Len())
	require.Zero(t, scalar.Len())
	snapshot := func(src loader.Source) error {
		_, err := src.(loader.Snapshotter).Snapshot()
		return err
	}
	s := serve(t, kinds(t, 0, 9))
	shrunk := must(loader.FromLive(s.live, loader.LiveOptions{}))
	some := must(loader.Subset(shrunk, []int{8}))
	both := must(loader.Zip(shrunk, column(t, "b", 0, 9)))
	s.replace(t, kinds(t, 0, 4))
	tests := []struct {
		name string
		op   func() error
		is   error
	}{
		{"rows of a closed one", func() error { return testkit.Err(src.Fetch(t.Context(), []int{0}, nil)) }, memmap.ErrClosed},
		{"a description of a closed one", func() error { return testkit.Err(src.(loader.Describer).Describe()) }, memmap.ErrClosed},
		{"a snapshot of a closed one", func() error { return snapshot(src) }, memmap.ErrClosed},
		{"a snapshot of sources of which one is closed", func() error { return snapshot(joined) }, memmap.ErrClosed},
		{"a concat of sources of which one is closed", func() error { return testkit.Err(loader.Concat(shrunk, src)) }, memmap.ErrClosed},
		{"a snapshot of a subset of a closed one", func() error { return snapshot(must(loader.Subset(src, nil))) }, memmap.ErrClosed},
		{"a loader of a closed one", func() error { return testkit.Err(loader.New(src, loader.Options{Batch: 1})) }, memmap.ErrClosed},
		{"rows of a dictionary without a batch dim", func() error { return testkit.Err(scalar.Fetch(t.Context(), []int{0}, nil)) }, shapeops.ErrDim},
		{"a snapshot of a dictionary without a batch dim", func() error { return snapshot(scalar) }, shapeops.ErrDim},
		{"a loader of a dictionary without a batch dim", func() error { return testkit.Err(loader.New(scalar, loader.Options{Batch: 1})) }, shapeops.ErrDim},
		{"a row that was there before", func() error { return testkit.Err(some.Fetch(t.Context(), []int{0}, nil)) }, shapeops.ErrIndex},
		{"a snapshot of sources that differ in length since", func() error { return snapshot(both) }, loader.ErrLen},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.is, tt.op()) })
	}
}

// An epoch is of one dataset, also if it is loaded in several loops.
func TestLiveReplacedBetweenLoops(t *testing.T) {
	for _, finish := range []bool{false, true} {
		t.Run(fmt.Sprintf("finish=%t", finish), func(t *testing.T) {
			s := serve(t, kinds(t, 0, 6))
			src := must(loader.Concat(must(loader.FromLive(s.live, loader.LiveOptions{Finish: finish}))))
			l := must(loader.New(src, loader.Options{Batch: 2}))
			for _, err := range l.Batches(t.Context()) {
				require.NoError(t, err)
				break
			}
			s.replace(t, kinds(t, 100, 8))
			_, err := untilError(l)
			require.ErrorIs(t, err, loader.ErrReplaced)
			require.Zero(t, l.Len(), "the epoch cannot be gone on with")
			require.NoError(t, l.Seek(1, 0))
			require.Equal(t, 4, l.Len(), "there are more rows now")
			require.Equal(t, []int{100, 101}, epoch(t, l)[0])
		})
	}
}

// TestLiveKeys: rows have the chosen entries only, and a version without one of them is refused.
func TestLiveKeys(t *testing.T) {
	s := serve(t, kinds(t, 0, 6))
	src := must(loader.FromLive(s.live, loader.LiveOptions{Finish: true, Keys: []nestedkey.Key{"row", "deep/x"}}))
	require.NoError(t, loadertest.TestSource(t.Context(), src))
	l := must(loader.New(src, loader.Options{Batch: 4, Sampler: sampler.Random()}))
	for batch, err := range l.Batches(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, []nestedkey.Key{"row", "deep/x"}, testkit.Keys(batch.Leaves()))
	}
	s.replace(t, must(kinds(t, 0, 6).Select("row")))
	_, err := untilError(l)
	testkit.Fails(t, tdict.ErrMissing, err)
}
