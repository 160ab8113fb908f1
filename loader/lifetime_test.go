package loader_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A shot source has snapshots, and counts those that are not released.
type shot struct {
	loader.Source
	mu      sync.Mutex
	open    int
	version string
}

// Snapshot implements loader.Snapshotter.
func (s *shot) Snapshot() (loader.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open++
	return loader.Snapshot{Source: s.Source, Version: s.version, Release: func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open--
		return nil
	}}, nil
}

// TestSnapshotsAreReleased: however the loop ends.
func TestSnapshotsAreReleased(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic(errMine) }, "Goexit": runtime.Goexit, "the end": func() {}} {
		for _, opt := range ways(t) {
			t.Run(fmt.Sprintf("%s/workers=%d/into=%t", name, opt.Workers, opt.Into != nil), func(t *testing.T) {
				noLeak(t)
				src := &shot{Source: numbered(t, 20)}
				l := must(loader.New(src, opt))
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					defer func() { _ = recover() }()
					for range l.Batches(context.Background()) {
						end()
					}
				}()
				<-ended
				require.Zero(t, src.open)
				require.NotEmpty(t, epoch(t, l), "another loop can run")
				require.Zero(t, src.open)
			})
		}
	}
}

// ways returns options for batches of five numbered rows: with and without workers, in memory of
// the loader and of the caller.
func ways(t testing.TB) (all []loader.Options) {
	t.Helper()
	fresh := func(context.Context) (*tdict.TensorDict, error) {
		return must(numbered(t, 5).Fetch(t.Context(), []int{0, 0, 0, 0, 0}, nil)), nil
	}
	for _, workers := range []int{0, 2} {
		all = append(all, loader.Options{Batch: 5, Workers: workers}, loader.Options{Batch: 5, Workers: workers, Into: fresh})
	}
	return all
}

// TestReplacedAfterRestore: a state is restored to what the source is then, and not to another.
func TestReplacedAfterRestore(t *testing.T) {
	for _, opt := range ways(t) {
		src := &shot{Source: numbered(t, 20), version: "1"}
		l := must(loader.New(src, opt))
		require.NoError(t, l.Seek(0, 2))
		require.NoError(t, l.Restore(l.State()))
		src.Source, src.version = numbered(t, 8), "2"
		_, err := untilError(l)
		require.ErrorIs(t, err, loader.ErrReplaced)
		require.Len(t, epoch2(t, l, 1), 2, "a new epoch is of the new one")
	}
}

// epoch2 returns the rows of an epoch.
func epoch2(t testing.TB, l *loader.Loader, number uint64) [][]int {
	t.Helper()
	require.NoError(t, l.Seek(number, 0))
	return epoch(t, l)
}

// TestStateOfABrokenOffEpoch: is of the version that it began with, and fits no other.
func TestStateOfABrokenOffEpoch(t *testing.T) {
	src := &shot{Source: numbered(t, 10), version: "1"}
	l := must(loader.New(src, loader.Options{Batch: 2}))
	for _, err := range l.Batches(t.Context()) {
		require.NoError(t, err)
		break
	}
	src.Source, src.version = numbered(t, 20), "2"
	require.Equal(t, []int{0, 0}, []int{l.Len(), l.Left()})
	state := l.State()
	require.Equal(t, []int{10, 1}, []int{state.Rows, state.Batch})
	require.ErrorIs(t, l.Restore(state), loader.ErrState)
	_, err := untilError(l)
	require.ErrorIs(t, err, loader.ErrReplaced)
}

// TestSnapshotsOfSeveral: those that were taken are released if a later one panics.
func TestSnapshotsOfSeveral(t *testing.T) {
	src := &shot{Source: numbered(t, 10)}
	for _, both := range []loader.Source{must(loader.Concat(src, unshot{src})), must(loader.Zip(src, unshot{src}))} {
		func() {
			defer func() { _ = recover() }()
			_, _ = both.(loader.Snapshotter).Snapshot()
		}()
		require.Zero(t, src.open)
	}
}

// An unshot source panics when it is to be shot.
type unshot struct{ loader.Source }

// Snapshot implements loader.Snapshotter.
func (unshot) Snapshot() (loader.Snapshot, error) { panic(errMine) }

// TestStateBetweenEpochs: is of the source as it is for the next one.
func TestStateBetweenEpochs(t *testing.T) {
	src := &shot{Source: numbered(t, 10), version: "1"}
	l := must(loader.New(src, loader.Options{Batch: 5}))
	epoch(t, l)
	src.Source, src.version = numbered(t, 12), "2"
	require.Equal(t, 12, l.State().Rows)
	again, between := must(loader.New(src, loader.Options{Batch: 5})), l.State()
	require.NoError(t, again.Restore(between))
	require.Len(t, epoch(t, again), 3)
	src.Source = numbered(t, 21) // a state between epochs fits other rows
	require.NoError(t, again.Restore(between))
	require.Equal(t, uint64(1), again.Epoch())
	require.Len(t, epoch(t, again), 5)
}

// TestRowBytesAreOfTheState: the order of Blocks depends on them.
func TestRowBytesAreOfTheState(t *testing.T) {
	src := func(bytes int) loader.Source { return sized{numbered(t, 40), bytes} }
	opt := loader.Options{Batch: 4, Sampler: sampler.Blocks(sampler.BlockOptions{BlockBytes: 16, WindowBytes: 64})}
	l := must(loader.New(src(4), opt))
	require.NoError(t, l.Seek(0, 1))
	state := l.State()
	testkit.Fails(t, loader.ErrState, must(loader.New(src(8), opt)).Restore(state))
	require.NoError(t, must(loader.New(src(4), opt)).Restore(state))
}

// A sized source says how large its rows are.
type sized struct {
	loader.Source
	bytes int
}

// Describe implements loader.Describer.
func (s sized) Describe() (loader.Description, error) {
	return loader.Description{RowBytes: s.bytes}, nil
}

// TestNoRowsInAnyOrder: there are no batches, in whatever order.
func TestNoRowsInAnyOrder(t *testing.T) {
	for name, s := range map[string]sampler.Sampler{
		"sequential": nil, "random": sampler.Random(), "blocks": sampler.Blocks(sampler.BlockOptions{}),
		"shard": must(sampler.Shard(sampler.Random(), sampler.Share{World: 3})),
	} {
		t.Run(name, func(t *testing.T) {
			l := must(loader.New(numbered(t, 0), loader.Options{Batch: 4, Sampler: s}))
			require.Empty(t, epoch(t, l))
			require.Equal(t, uint64(1), l.Epoch())
		})
	}
}

// TestPanicsOfUsers: a source, a sampler or a batching that panics ends the loop, not the process.
func TestPanicsOfUsers(t *testing.T) {
	noLeak(t)
	t.Run("Prefetch", func(t *testing.T) {
		l := must(loader.New(panicker{numbered(t, 20)}, loader.Options{Batch: 5, ReadAhead: 100}))
		require.Len(t, epoch(t, l), 4, "it is advice only")
	})
	t.Run("Fetch", func(t *testing.T) {
		src := must(loader.FromFunc(9, func(context.Context, []int, *tdict.TensorDict) (*tdict.TensorDict, error) { panic(errMine) }))
		for _, opt := range ways(t) {
			_, err := untilError(must(loader.New(src, opt)))
			require.ErrorIs(t, err, errMine)
		}
	})
	t.Run("Batch", func(t *testing.T) {
		_, err := untilError(must(loader.New(numbered(t, 9), loader.Options{Batching: unplanned{}})))
		require.ErrorIs(t, err, errMine)
	})
}

// A panicker panics when it is told what to read.
type panicker struct{ loader.Source }

// Prefetch implements loader.Prefetcher.
func (panicker) Prefetch(...int) error { panic(errMine) }

// Describe implements loader.Describer.
func (p panicker) Describe() (loader.Description, error) {
	return p.Source.(loader.Describer).Describe()
}

// An unplanned batching panics when it is asked for a batch.
type unplanned struct{}

func (unplanned) Units(n int) (int, error)                        { return n, nil }
func (u unplanned) Plan(sampler.Order, int) (sampler.Plan, error) { return u, nil }
func (unplanned) String() string                                  { return "unplanned" }
func (unplanned) Len() int                                        { return 3 }
func (unplanned) Batch(int, sampler.Batch) sampler.Batch          { panic(errMine) }

// TestRowsOfFurtherDims: each number is there for all of its row.
func TestRowsOfFurtherDims(t *testing.T) {
	td := tdict.New(4, 2)
	require.NoError(t, td.Set("x", tensor.Must(tensor.Zeros[float32](4, 2))))
	for batch, err := range must(loader.New(must(loader.From(td)), loader.Options{Batch: 3, RowsKey: "n"})).Batches(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, []int64{0, 0, 1, 1, 2, 2}, must(tdict.Slice[int64](batch, "n")))
		break
	}
}

// TestOwnUnbatched: an unbatched tensor of a batch that owns its memory is not the source's.
func TestOwnUnbatched(t *testing.T) {
	td := kinds(t, 0, 4)
	theirs := must(tdict.Get[*tdict.Unbatched](td, "weights")).Tensor()
	for _, own := range []bool{false, true} {
		for batch, err := range must(loader.New(must(loader.From(td)), loader.Options{Batch: 4, Own: own})).Batches(t.Context()) {
			require.NoError(t, err)
			require.Equal(t, !own, must(tdict.Get[*tdict.Unbatched](batch, "weights")).Tensor().SharesMemory(theirs))
		}
	}
}

// TestProgressWithoutEnd says how far a loop has come, but not what is left.
func TestProgressWithoutEnd(t *testing.T) {
	var last loader.Progress
	l := must(loader.New(numbered(t, 6), loader.Options{
		Batch: 4, Sampler: sampler.Endless(sampler.Random()), Progress: func(p loader.Progress) { last = p },
	}))
	for range l.Batches(t.Context()) {
		if last.Done == 2 {
			break
		}
	}
	require.Contains(t, last.String(), "epoch 0: 3 batches, ")
	require.Zero(t, last.Left())
}

// TestOthersMayAsk: while a loop runs, in the body of the loop and in other goroutines.
func TestOthersMayAsk(t *testing.T) {
	noLeak(t)
	l := must(loader.New(numbered(t, 200), loader.Options{Batch: 5, Sampler: sampler.Random(), Workers: 2}))
	ask := func() {
		_, _, _, _ = l.Epoch(), l.State(), l.Stats(), l.Len()
		if left := l.Left(); left < 0 || left > 40 {
			t.Errorf("got %d batches left of 40", left)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var others sync.WaitGroup
	for range 2 {
		others.Go(func() {
			for ctx.Err() == nil {
				ask()
				time.Sleep(10 * time.Microsecond)
			}
		})
	}
	for range 5 {
		for _, err := range l.Batches(t.Context()) {
			require.NoError(t, err)
			ask()
		}
	}
	cancel()
	others.Wait()
}
