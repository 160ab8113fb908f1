//go:build unix && !solaris && !aix

package bell_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/internal/bell"
)

func countIOWaits(stacks []byte) int { return bytes.Count(stacks, []byte(" [IO wait")) }

// rings returns how many rings nobody has heard, and takes them.
func rings(t *testing.T, path string) int {
	t.Helper()
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK, 0)
	require.NoError(t, err)
	defer unix.Close(fd)
	n, err := unix.Read(fd, make([]byte, 1<<20))
	if err == unix.EAGAIN {
		return 0
	}
	require.NoError(t, err)
	return n
}

func TestRingWakes(t *testing.T) {
	b, l, _ := hang(t)
	for range 3 {
		woken := async(b.Wait)
		requireBlocked(t, 1)
		require.NoError(t, l.Ring())
		require.NoError(t, soon(t, woken))
	}
}

func TestManyRingsAreOne(t *testing.T) {
	tests := []struct {
		name  string
		rings int
	}{
		{"one", 1},
		{"some", 3},
		{"as many as are read at once", 4096},
		{"more", 4097},
		{"more than the FIFO holds, at which Ring neither blocks nor complains", 70_000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, l, path := hang(t)
			for range tt.rings {
				require.NoError(t, l.Ring())
			}
			require.NoError(t, soon(t, async(b.Wait)))
			require.Zero(t, rings(t, path), "Wait took them all")
		})
	}
}

// TestNoRingIsLost has ringers that wait to be seen before they ring again. If a ring were lost,
// they would all wait in the end.
func TestNoRingIsLost(t *testing.T) {
	const ringers, times = 8, 500
	b, _, path := hang(t)
	var asks [ringers]atomic.Bool
	var seen [ringers]chan struct{}
	var all sync.WaitGroup
	for i := range ringers {
		seen[i] = make(chan struct{})
		l := dial(t, path)
		all.Go(func() {
			for range times {
				asks[i].Store(true)
				if err := l.Ring(); err != nil {
					t.Error(err)
				}
				<-seen[i]
			}
		})
	}
	err := soon(t, async(func() error {
		for left := ringers * times; left > 0; {
			if err := b.Wait(); err != nil {
				return err
			}
			for i := range ringers {
				if asks[i].Swap(false) {
					seen[i] <- struct{}{}
					left--
				}
			}
		}
		return nil
	}))
	require.NoError(t, err)
	all.Wait()
}

// Lines that come and go do not end a Wait.
func TestRingersComeAndGo(t *testing.T) {
	b, first, path := hang(t)
	woken := async(b.Wait)
	require.NoError(t, first.Close())
	for range 10 {
		l, err := bell.Dial(path)
		require.NoError(t, err)
		require.NoError(t, l.Close())
	}
	requireBlocked(t, 1)
	require.Empty(t, woken)
	require.NoError(t, dial(t, path).Ring())
	require.NoError(t, soon(t, woken))
}

func TestOneLineForManyRingers(t *testing.T) {
	b, l, path := hang(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				if err := l.Ring(); err != nil || !l.Alive() {
					t.Error("not alive", err)
				}
			}
		})
	}
	all.Wait()
	require.NoError(t, soon(t, async(b.Wait)))
	require.Zero(t, rings(t, path))
}

func TestRingAllocatesNothing(t *testing.T) {
	_, l, _ := hang(t)
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = l.Ring() }))
}

func TestCloseEndsWait(t *testing.T) {
	b, _, path := hang(t)
	woken := async(b.Wait)
	requireBlocked(t, 1)
	require.NoError(t, b.Close())
	require.ErrorIs(t, soon(t, woken), os.ErrClosed)
	require.ErrorIs(t, b.Wait(), os.ErrClosed)
	require.ErrorIs(t, b.Close(), os.ErrClosed)
	require.FileExists(t, path)
}

func TestHangRefuses(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o666))
	require.NoError(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o666))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "link")))
	tests := []struct {
		name, path string
		err        error
	}{
		{"a file's name", "file", fs.ErrExist},
		{"another FIFO's name", "fifo", fs.ErrExist},
		{"a link's name, even if it leads nowhere", "link", fs.ErrExist},
		{"a directory that is not there", "no/fifo", fs.ErrNotExist},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := bell.Hang(filepath.Join(dir, tt.path))
			require.ErrorIs(t, err, tt.err)
		})
	}
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, list, 3, "what was there stays")
}

func TestHangLeavesNothingIfItCannotOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bell")
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	few := limit
	few.Cur = 3
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &few))
	_, err := bell.Hang(path)
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	require.ErrorIs(t, err, unix.EMFILE)
	require.NoFileExists(t, path)
}

func TestUmaskSaysWhoMayRing(t *testing.T) {
	for _, mask := range []int{0o002, 0o022, 0o077} {
		path := filepath.Join(t.TempDir(), "bell")
		old := unix.Umask(mask)
		b, err := bell.Hang(path)
		unix.Umask(old)
		require.NoError(t, err)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o666&^mask), info.Mode().Perm())
		require.NoError(t, b.Close())
	}
}

// Whoever waits is a goroutine, not a thread.
func TestWaitersTakeNoThreads(t *testing.T) {
	const pairs = 500
	threads := pprof.Lookup("threadcreate").Count()
	var waits, deaths []<-chan error
	var bells []*bell.Bell
	for range pairs {
		b, l, _ := hang(t)
		bells = append(bells, b)
		waits, deaths = append(waits, async(b.Wait)), append(deaths, async(l.Dead))
	}
	requireBlocked(t, 2*pairs)
	require.Less(t, pprof.Lookup("threadcreate").Count()-threads, 50)
	for i, b := range bells {
		require.NoError(t, b.Close())
		require.ErrorIs(t, soon(t, waits[i]), os.ErrClosed)
		require.NoError(t, soon(t, deaths[i]))
	}
}

func BenchmarkRing(b *testing.B) {
	b.Run("fifo=full", func(b *testing.B) {
		_, l, _ := hang(b)
		for range 70_000 {
			_ = l.Ring()
		}
		b.ReportAllocs()
		for b.Loop() {
			_ = l.Ring()
		}
	})
	b.Run("fifo=heard", func(b *testing.B) { // with one Wait for each 10,000
		heard, l, _ := hang(b)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			_ = l.Ring()
			if i%10_000 == 0 {
				_ = heard.Wait()
			}
		}
	})
}

func BenchmarkAlive(b *testing.B) {
	_, l, _ := hang(b)
	b.ReportAllocs()
	for b.Loop() {
		_ = l.Alive()
	}
}

// BenchmarkThereAndBack rings another process, which rings back.
func BenchmarkThereAndBack(b *testing.B) {
	mine, _, path := hang(b)
	other := filepath.Join(b.TempDir(), "other")
	start(b, 1, echo, other, path)
	l := dial(b, other)
	for b.Loop() {
		_ = l.Ring()
		_ = mine.Wait()
	}
}

// BenchmarkKill takes the time from SIGKILL until Dead returns.
func BenchmarkKill(b *testing.B) {
	var total time.Duration
	for b.Loop() {
		path := filepath.Join(b.TempDir(), "bell")
		p := start(b, 1, holder, path)
		l := dial(b, path)
		dead := async(l.Dead)
		began := time.Now()
		p.signal(b, unix.SIGKILL)
		require.NoError(b, soon(b, dead))
		total += time.Since(began)
	}
	b.ReportMetric(float64(total.Microseconds())/float64(b.N), "µs/kill")
}
