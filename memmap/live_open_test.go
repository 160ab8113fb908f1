package memmap_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// kinds returns n rows of every kind of value.
func kinds(t testing.TB, n int) *tdict.TensorDict {
	t.Helper()
	td, err := tdict.FromMap(shapeops.Shape{n}, tdict.Entries{
		"id": expanded(tensor.Int64, n), "obs/pos": expanded(tensor.Float32, n, 3),
		"visits": visited(t, n, 1, 2), "kind": tensor.Must(tdict.NewData("a", n)),
		"codes": tensor.Must(tdict.NewUnbatched(tensor.Vector[uint8](1, 2))),
	})
	require.NoError(t, err)
	return td
}

// visited returns n ragged rows, each of one row of every level, whose values have features.
func visited(t testing.TB, n, levels int, features ...int) *ragged.Tensor {
	t.Helper()
	offsets := make([]int64, n+1)
	for i := range offsets {
		offsets[i] = int64(i)
	}
	l := tensor.Must(ragged.NewLayout(shapeops.Shape{n}, offsets))
	for range levels - 1 {
		l = tensor.Must(l.Nest(offsets))
	}
	return tensor.Must(ragged.New(expanded(tensor.Int16, append([]int{n}, features...)...), l))
}

// served returns the number of the generation that is served.
func served(t testing.TB, live *memmap.Live) int64 {
	t.Helper()
	ds := tensor.Must(live.Acquire())
	n := number(t, ds.TensorDict)
	require.NoError(t, live.Release(ds))
	return n
}

// A states makes the state of each version, and takes note of what becomes of it.
type states struct {
	fail func(n int64) error // what OnOpen returns, or nil
	bad  error               // what Close returns

	mu   sync.Mutex
	all  []*state
	errs []error // that OnError heard of
}

// A state is the state of a version.
type state struct {
	from   *states
	ds     *memmap.Dataset
	n      int64
	closed atomic.Int32
}

// Close reads an element, which must still be mapped.
func (s *state) Close() error {
	s.closed.Add(1)
	n, err := tdict.Slice[int64](s.ds.TensorDict, "deep/n")
	if err == nil && n[0] != s.n {
		err = fmt.Errorf("got generation %d, want %d", n[0], s.n)
	}
	if err == nil && s.from.bad != nil {
		return s.from.bad
	}
	return err
}

func (s *states) open(d *memmap.Dataset) (any, error) {
	n, err := tdict.Slice[int64](d.TensorDict, "deep/n")
	if err == nil && s.fail != nil {
		err = s.fail(n[0])
	}
	if err != nil {
		return nil, err
	}
	made := &state{from: s, ds: d, n: n[0]}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, made)
	return made, nil
}

func (s *states) heard(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, err)
}

// errors returns what OnError heard of.
func (s *states) errors() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]error(nil), s.errs...)
}

func (s *states) options() memmap.LiveOptions {
	return memmap.LiveOptions{Interval: interval, OnOpen: s.open, OnError: s.heard}
}

// requireClosed checks that each state was closed once, but for those that are held.
func (s *states) requireClosed(t *testing.T, held ...*state) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, made := range s.all {
		want := int32(1)
		for _, h := range held {
			if h == made {
				want = 0
			}
		}
		require.Equal(t, want, made.closed.Load(), "state of generation %d", made.n)
	}
}

// live serves generation 1 of a new directory.
func (s *states) live(t *testing.T) (dir string, live *memmap.Live) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "d")
	require.NoError(t, memmap.Save(dir, generation(t, 1)))
	live, err := memmap.OpenLive(dir, s.options())
	require.NoError(t, err)
	return dir, live
}

// awaitServed waits until a generation is served.
func awaitServed(t *testing.T, live *memmap.Live, n int64) {
	t.Helper()
	require.Eventually(t, func() bool { return served(t, live) == n }, time.Minute, time.Millisecond)
}

func TestLiveState(t *testing.T) {
	before, s := settledMaps(), &states{}
	dir, live := s.live(t)
	first := tensor.Must(live.Acquire())
	require.Equal(t, int64(1), first.State().(*state).n)
	require.NoError(t, memmap.Save(dir, generation(t, 2)))
	awaitServed(t, live, 2)
	second := tensor.Must(live.Acquire())
	require.Equal(t, int64(2), second.State().(*state).n)
	require.Same(t, second, second.State().(*state).ds, "the one that was opened is the one that is served")
	s.requireClosed(t, first.State().(*state), second.State().(*state))
	again := tensor.Must(first.Refresh())
	require.Nil(t, again.State(), "no Live serves that")
	require.NoError(t, again.Close())

	require.NoError(t, live.Release(first))
	s.requireClosed(t, second.State().(*state))
	require.NoError(t, live.Close())
	s.requireClosed(t, second.State().(*state))
	require.NoError(t, live.Release(second))
	s.requireClosed(t)
	require.Empty(t, s.errors())
	require.Equal(t, before, settledMaps())
	require.Nil(t, open(t, dir).State())
	require.Nil(t, (&memmap.Dataset{}).State())
}

// TestLiveOnOpenFails has OnOpen refuse every second generation, in each way.
func TestLiveOnOpenFails(t *testing.T) {
	refused := errors.New("refused")
	ways := map[string]func() error{
		"an error": func() error { return refused },
		"a panic":  func() error { panic(refused) },
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			before := settledMaps()
			s := &states{fail: func(n int64) error {
				if n%2 == 0 {
					return way()
				}
				return nil
			}}
			dir, live := s.live(t)
			for n := int64(2); n < 8; n += 2 {
				require.NoError(t, memmap.Save(dir, generation(t, n)))
				was := len(s.errors())
				require.Eventually(t, func() bool { return len(s.errors()) > was+1 }, time.Minute, time.Millisecond, "it is tried again")
				require.Equal(t, n-1, served(t, live))
				require.NoError(t, memmap.Save(dir, generation(t, n+1)))
				awaitServed(t, live, n+1)
			}
			require.NoError(t, live.Close())
			for _, err := range s.errors() {
				require.ErrorIs(t, err, refused)
				require.ErrorContains(t, err, "open "+dir+": OnOpen: ")
			}
			s.requireClosed(t)
			require.Equal(t, before, settledMaps())

			require.NoError(t, memmap.Save(dir, generation(t, 8)))
			_, err := memmap.OpenLive(dir, s.options())
			require.ErrorIs(t, err, refused, "the first one too")
			require.Equal(t, before, mapping.Live())
		})
	}
}

// blocking returns states whose OnOpen waits for gate at generation 2, having said so.
func blocking() (s *states, begun, gate chan struct{}) {
	begun, gate = make(chan struct{}), make(chan struct{})
	var once sync.Once
	return &states{fail: func(n int64) error {
		if n == 2 {
			once.Do(func() { close(begun) })
			<-gate
		}
		return nil
	}}, begun, gate
}

// TestLiveOnOpenBlocks: others get the old version as long as OnOpen takes.
func TestLiveOnOpenBlocks(t *testing.T) {
	before := settledMaps()
	s, begun, gate := blocking()
	dir, live := s.live(t)
	require.NoError(t, memmap.Save(dir, generation(t, 2)))
	<-begun
	for began := time.Now(); time.Since(began) < 5*interval; time.Sleep(time.Millisecond) {
		require.Equal(t, int64(1), served(t, live))
	}
	close(gate)
	awaitServed(t, live, 2)
	require.NoError(t, live.Close())
	s.requireClosed(t)
	require.Equal(t, before, settledMaps())
}

// TestLiveCloseDuringOnOpen: Close waits for OnOpen, whose version is closed without being served.
func TestLiveCloseDuringOnOpen(t *testing.T) {
	for _, bad := range []error{nil, errors.New("bad")} {
		before, goroutines := settledMaps(), runtime.NumGoroutine()
		s, begun, gate := blocking()
		s.bad = bad
		dir, live := s.live(t)
		require.NoError(t, memmap.Save(dir, generation(t, 2)))
		<-begun
		closed := make(chan error)
		go func() { closed <- live.Close() }()
		require.Eventually(t, func() bool {
			ds, err := live.Acquire()
			if err == nil {
				require.NoError(t, live.Release(ds))
			}
			return errors.Is(err, memmap.ErrClosed)
		}, time.Minute, time.Millisecond)
		select {
		case <-closed:
			require.Fail(t, "Close did not wait")
		case <-time.After(2 * interval):
		}
		close(gate)
		require.ErrorIs(t, <-closed, bad, "of generation 1")
		s.requireClosed(t)
		require.Len(t, s.all, 2)
		for _, err := range s.errors() {
			require.ErrorIs(t, err, bad, "of generation 2, which the watcher has closed")
		}
		require.Equal(t, bad != nil, len(s.errors()) == 1)
		require.Equal(t, before, settledMaps())
		requireGoroutines(t, goroutines)
	}
}

// TestLiveStateFailsToClose: OnError hears of it, or Close and what comes after return it; the
// version is closed all the same.
func TestLiveStateFailsToClose(t *testing.T) {
	bad, before := errors.New("bad"), settledMaps()
	heard := func(s *states) func() bool { return func() bool { return len(s.errors()) == 1 } }
	tests := []struct {
		name string
		end  func(t *testing.T, s *states, dir string, live *memmap.Live) (returned error)
	}{
		{"nobody holds it when it is replaced", func(t *testing.T, s *states, dir string, live *memmap.Live) error {
			require.NoError(t, memmap.Save(dir, generation(t, 2)))
			require.Eventually(t, heard(s), time.Minute, time.Millisecond)
			return live.Close()
		}},
		{"it is released", func(t *testing.T, s *states, dir string, live *memmap.Live) error {
			ds := tensor.Must(live.Acquire())
			require.NoError(t, memmap.Save(dir, generation(t, 2)))
			awaitServed(t, live, 2)
			require.NoError(t, live.Release(ds))
			require.Eventually(t, heard(s), time.Minute, time.Millisecond)
			return live.Close()
		}},
		{"the Live is closed", func(t *testing.T, s *states, dir string, live *memmap.Live) error {
			return live.Close()
		}},
		{"it is released after the Live was closed", func(t *testing.T, s *states, dir string, live *memmap.Live) error {
			ds := tensor.Must(live.Acquire())
			require.NoError(t, live.Close())
			return live.Release(ds)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &states{bad: bad}
			dir, live := s.live(t)
			err := tt.end(t, s, dir, live)
			told := s.errors()
			if err != nil { // or the watcher was the last to let go, and OnError heard of it
				told = append(told, err)
			}
			require.Len(t, told, len(s.all), "each version that fails is told once")
			for _, err := range told {
				require.ErrorIs(t, err, bad)
				require.EqualError(t, err, "close "+dir+": state: bad")
			}
			s.requireClosed(t)
			require.Equal(t, before, settledMaps())
		})
	}
}

// A panicker is a state whose Close panics.
type panicker struct{}

func (panicker) Close() error { panic("bad") }

func TestLiveStatePanicsInClose(t *testing.T) {
	before, dir := settledMaps(), saved(t)
	live, err := memmap.OpenLive(dir, memmap.LiveOptions{OnOpen: func(*memmap.Dataset) (any, error) { return panicker{}, nil }})
	require.NoError(t, err)
	require.EqualError(t, live.Close(), "close "+dir+": state: panic: bad")
	require.Equal(t, before, settledMaps())
}

// TestLiveStateSeesGrowth: a version is also what a Writer has committed.
func TestLiveStateSeesGrowth(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	w := newWriter(t, dir)
	live, err := memmap.OpenLive(dir, memmap.LiveOptions{Interval: interval,
		OnOpen: func(d *memmap.Dataset) (any, error) { return d.Shape()[0], nil }})
	require.NoError(t, err)
	defer live.Close()
	await := func(n int) {
		require.Eventually(t, func() bool {
			ds := tensor.Must(live.Acquire())
			defer live.Release(ds)
			require.Equal(t, ds.Shape()[0], ds.State())
			return ds.State() == n
		}, time.Minute, time.Millisecond)
	}
	await(0)
	for n := range 3 {
		require.NoError(t, w.Append(rows(t, n)))
		require.NoError(t, w.Commit())
		await(n + 1)
	}
	require.NoError(t, w.Finish())
	await(3)
}

// TestLiveStatesOfManyVersions replaces what goroutines acquire and release: each sees a state that
// belongs to its version and is open, and in the end each state was closed once.
func TestLiveStatesOfManyVersions(t *testing.T) {
	before, goroutines, s := settledMaps(), runtime.NumGoroutine(), &states{}
	s.fail = func(n int64) error {
		if n%5 == 0 {
			panic("a multiple of five")
		}
		return nil
	}
	dir, live := s.live(t)
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for last := int64(0); ; {
				select {
				case <-stop:
					return
				default:
				}
				if n, err := readState(live); err != nil || n < last {
					t.Errorf("got generation %d after %d, %v", n, last, err)
					return
				} else {
					last = n
				}
			}
		})
	}
	for n := range int64(60) {
		require.NoError(t, memmap.SaveWith(t.Context(), dir, generation(t, n+2), memmap.SaveOptions{NoSync: true}))
		time.Sleep(interval / 4 * time.Duration(n%4))
	}
	awaitServed(t, live, 61)
	held := tensor.Must(live.Acquire())
	close(stop)
	readers.Wait()
	require.NoError(t, live.Close())
	s.requireClosed(t, held.State().(*state))
	require.NoError(t, live.Release(held))
	s.requireClosed(t)
	require.Greater(t, len(s.all), 3)
	for _, err := range s.errors() {
		require.ErrorContains(t, err, "OnOpen: panic: a multiple of five")
	}
	require.Equal(t, before, settledMaps())
	requireGoroutines(t, goroutines)
}

// readState acquires a version, and compares it with its state, which must not be closed until it
// is released.
func readState(live *memmap.Live) (n int64, err error) {
	ds, err := live.Acquire()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, live.Release(ds)) }()
	st := ds.State().(*state)
	got, err := tdict.Slice[int64](ds.TensorDict, "deep/n")
	if err == nil && got[0] != st.n {
		err = fmt.Errorf("got generation %d with the state of %d", got[0], st.n)
	}
	runtime.Gosched()
	if st.closed.Load() != 0 {
		err = errors.Join(err, errors.New("the state of what is held is closed"))
	}
	return st.n, err
}
