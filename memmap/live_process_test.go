package memmap_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A batch acquired so long after a save returned is not older than that save. The allowance is for
// opening the new dictionary, while two cores are busy with other things.
const (
	liveInterval  = 100 * time.Millisecond
	liveAllowance = 150 * time.Millisecond
)

// liveRows is how many rows a generation has.
const liveRows = 256

// published returns a dictionary of which every element, and the data, is g.
func published(t testing.TB, g int) *tdict.TensorDict {
	t.Helper()
	all := tensor.Must(tensor.Full(int64(g), liveRows, 64))
	td := tdict.New(liveRows)
	for key, dtype := range map[nestedkey.Key]tensor.DType{
		"a": tensor.Int64, "obs/b": tensor.Float32, "obs/deep/c": tensor.Int16, "obs/deep/d": tensor.Float64,
	} {
		require.NoError(t, td.Set(key, tensor.Must(all.Cast(dtype))))
	}
	require.NoError(t, td.Set("obs/g", tensor.Must(tdict.NewData(fmt.Sprint(g), liveRows))))
	return td
}

// generationOf returns the generation that all elements of a batch have.
func generationOf(td *tdict.TensorDict) (int, error) {
	value, _, err := uniform(td)
	if err != nil {
		return 0, err
	}
	g, err := strconv.Atoi(fmt.Sprint(value))
	if err != nil {
		return 0, err
	}
	for key, x := range td.Tensors() {
		all, err := x.Cast(tensor.Int64)
		if err != nil {
			return 0, err
		}
		for _, v := range tensor.Must(tensor.Of[int64](all)) {
			if v != int64(g) {
				return 0, fmt.Errorf("torn: %s has %d, and obs/g %d", key, v, g)
			}
		}
	}
	return g, nil
}

// uniform returns the data of a generation.
func uniform(td *tdict.TensorDict) (value any, same bool, err error) {
	d, err := tdict.Get[*tdict.Data](td, "obs/g")
	if err != nil {
		return nil, false, err
	}
	value, same = d.Uniform()
	if !same {
		err = errors.New("torn: obs/g has several values")
	}
	return value, same, err
}

// TestProcessPublishes is a process that saves so many generations, as fast as it can but for some
// pauses, and tells when each save returned.
func TestProcessPublishes(t *testing.T) {
	k, ok := processkit.TaskOf(t)
	if !ok {
		return
	}
	rng := k.Random(t, 2)
	for g := 1; g <= k.Number(t, 1); g++ {
		opt := memmap.SaveOptions{NoSync: rng.IntN(2) == 0}
		require.NoError(t, memmap.SaveWith(context.Background(), k.Args[0], published(t, g), opt))
		k.Tell("published %d %d", g, time.Now().UnixNano())
		if g == 5 || g == 10 {
			time.Sleep(2 * liveInterval) // these are seen, however fast the disk is
		} else if rng.IntN(8) == 0 {
			time.Sleep(time.Duration(rng.Int64N(int64(4 * liveInterval))))
		}
	}
}

// A sight is a generation with the moment before it was acquired.
type sight struct {
	at  time.Time
	gen int
}

// An audience reads what a Live serves.
type audience struct {
	live   *memmap.Live
	stop   chan struct{}
	newest atomic.Int64 // generation that anybody has seen

	mu    sync.Mutex
	seen  []sight
	wrong []error
}

func (a *audience) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wrong = append(a.wrong, err)
}

// running reports whether nobody has stopped it.
func (a *audience) running() bool {
	select {
	case <-a.stop:
		return false
	default:
		return true
	}
}

// saw takes note of a generation that was acquired after floor had been seen.
func (a *audience) saw(at time.Time, g, floor int64) {
	if g < floor {
		a.fail(fmt.Errorf("got generation %d after %d", g, floor))
	}
	for old := a.newest.Load(); g > old && !a.newest.CompareAndSwap(old, g); {
		old = a.newest.Load()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = append(a.seen, sight{at, int(g)})
}

// watch reads batches until it is stopped. pause is how long it holds each one before it reads it
// again.
func (a *audience) watch(rng *rand.Rand, pause time.Duration) {
	for a.running() {
		floor, at := a.newest.Load(), time.Now()
		ds, err := a.live.Acquire()
		if err != nil {
			a.fail(err)
			return
		}
		g, err := readBatch(ds, rng)
		if err == nil && pause > 0 {
			err = readAgain(ds, rng, pause, g)
		}
		if err = errors.Join(err, a.live.Release(ds)); err != nil {
			a.fail(err)
			continue
		}
		a.saw(at, int64(g), floor)
	}
}

// readBatch reads some rows by a list or by a range.
func readBatch(ds *memmap.Dataset, rng *rand.Rand) (int, error) {
	first := rng.IntN(liveRows - 8)
	rows := ix.Range(first, first+8)
	if rng.IntN(2) == 0 {
		rows = ix.Take(rng.IntN(liveRows), first, rng.IntN(liveRows))
	}
	td, err := ds.Index(rows)
	if err != nil {
		return 0, err
	}
	return generationOf(td)
}

// readAgain reads all of what was acquired a while ago.
func readAgain(ds *memmap.Dataset, rng *rand.Rand, pause time.Duration, want int) error {
	time.Sleep(time.Duration(rng.Int64N(int64(pause))))
	g, err := generationOf(ds.TensorDict)
	if err == nil && g != want {
		err = fmt.Errorf("got generation %d of what was acquired as %d", g, want)
	}
	return err
}

// TestLiveServesWhileAnotherProcessSaves reads in several goroutines while another process saves
// generations: no read fails, no batch is of two generations, none is stale after the interval.
func TestLiveServesWhileAnotherProcessSaves(t *testing.T) {
	needsExchange(t)
	for _, name := range []string{"set", "set.tdz"} {
		t.Run(name, func(t *testing.T) { serveWhileSaved(t, name) })
	}
}

func serveWhileSaved(t *testing.T, name string) {
	dir, rng := filepath.Join(t.TempDir(), name), processkit.Random(t)
	require.NoError(t, memmap.Save(dir, published(t, 0)))
	maps, goroutines := settledMaps(), runtime.NumGoroutine()

	a := &audience{stop: make(chan struct{})}
	called := 0
	live, err := memmap.OpenLive(dir, memmap.LiveOptions{
		Interval:  liveInterval,
		OnReplace: func(d *memmap.Dataset) { called++; a.called(d) },
		OnError:   a.fail,
	})
	require.NoError(t, err)
	a.live = live
	var readers sync.WaitGroup
	for _, pause := range []time.Duration{0, 0, 0, 3 * liveInterval} {
		own := rand.New(rand.NewPCG(rng.Uint64(), 2))
		readers.Go(func() { a.watch(own, pause) })
	}
	n := kills(t, 40, 200)
	times := publish(t, dir, n, rng)
	time.Sleep(liveInterval + liveAllowance)
	close(a.stop)
	readers.Wait()
	requireFresh(t, a, times)
	requireServed(t, live, n, func() int { return called })
	require.Empty(t, a.wrong)
	require.LessOrEqual(t, mapping.Live(), maps, "nothing is mapped any more")
	requireGoroutines(t, goroutines)
}

// settledMaps returns how many mappings there are once those that other tests dropped are gone.
func settledMaps() int {
	for n := -1; ; time.Sleep(20 * time.Millisecond) {
		runtime.GC()
		if was := n; was == mapping.Live() {
			return n
		}
		n = mapping.Live()
	}
}

// requireGoroutines waits until there are no more than so many.
func requireGoroutines(t *testing.T, want int) {
	t.Helper()
	for range 3000 {
		if runtime.NumGoroutine() <= want {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	require.FailNow(t, "goroutines are left", "%s", stacks[:runtime.Stack(stacks, true)])
}

// called is OnReplace: what it is given was not replaced by something older.
func (a *audience) called(d *memmap.Dataset) {
	at := time.Now()
	g, err := generationOf(d.TensorDict)
	if err != nil {
		a.fail(err)
	}
	a.saw(at, int64(g), 0)
}

// publish has a process save generations and returns when each was saved.
func publish(t *testing.T, dir string, n int, rng *rand.Rand) []time.Time {
	t.Helper()
	p := start(t, "TestProcessPublishes", dir, n, rng.Int64())
	times := []time.Time{{}}
	for g := 1; g <= n; g++ {
		line := p.Words(t)
		require.Equal(t, []string{"published", strconv.Itoa(g)}, line[:2], "%s", p.Tail())
		at, err := strconv.ParseInt(line[2], 10, 64)
		require.NoError(t, err)
		times = append(times, time.Unix(0, at))
	}
	require.NoError(t, p.Ended(), "%s", p.Tail())
	return times
}

// requireFresh checks that nobody has acquired what had been replaced a while before.
func requireFresh(t *testing.T, a *audience, times []time.Time) {
	t.Helper()
	worst, batches, gens := time.Duration(0), len(a.seen), map[int]bool{}
	for _, s := range a.seen {
		gens[s.gen] = true
		if next := s.gen + 1; next < len(times) {
			worst = max(worst, s.at.Sub(times[next]))
		}
	}
	t.Logf("%d batches of %d generations out of %d; the stalest was acquired %v after the next save returned",
		batches, len(gens), len(times)-1, worst.Round(time.Millisecond))
	require.Less(t, worst, liveInterval+liveAllowance)
	require.Greater(t, len(gens), 2)
}

// requireServed checks that the callback was called for the last generation too, and closes.
func requireServed(t *testing.T, live *memmap.Live, n int, called func() int) {
	t.Helper()
	ds, err := live.Acquire()
	require.NoError(t, err)
	g, err := generationOf(ds.TensorDict)
	require.NoError(t, err)
	require.Equal(t, n, g)
	require.NoError(t, live.Release(ds))
	require.NoError(t, live.Close())
	require.NotZero(t, called())
	require.LessOrEqual(t, called(), n)
	_, err = live.Acquire()
	require.ErrorIs(t, err, memmap.ErrClosed)
}
