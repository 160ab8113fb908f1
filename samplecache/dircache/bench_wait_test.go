//go:build unix

package dircache_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/dircache/internal/host"
	"github.com/go-tensordict/tensordict/tensor"
)

// BenchmarkHeld reserves and commits 20,000 slots while others hold 4,096: at least 10,000 a
// second.
func BenchmarkHeld(b *testing.B) {
	sample := benchSample(b, 1, 8)
	for _, sessions := range []int{0, 1, 64} {
		b.Run(fmt.Sprintf("by=%d", sessions), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				dir := benchCreate(b, sample, samplecache.Config{Samples: 1 << 15})
				var holders []*samplecache.Producer
				for range sessions {
					holders = append(holders, benchProducer(b, benchOpen(b, dir, samplecache.First), ""))
				}
				for i := range min(sessions, 1) * 4096 {
					tensor.Must(holders[i%sessions].Reserve(b.Context()))
				}
				c := benchOpen(b, dir, samplecache.First)
				p := benchProducer(b, c, "gen")
				b.StartTimer()
				for range 20_000 {
					require.NoError(b, tensor.Must(p.Reserve(b.Context())).Commit(b.Context()))
				}
				b.StopTimer()
				require.NoError(b, c.Close())
				b.StartTimer()
			}
			b.ReportMetric(float64(b.N)*20_000/b.Elapsed().Seconds(), "commits/s")
		})
	}
}

// BenchmarkWake is the time from before the commit that completes a generation to when all who wait
// for it have heard of it, or have it open: goroutines of one session, sessions of one process, and
// processes.
func BenchmarkWake(b *testing.B) {
	for _, until := range []string{"hear", "wait"} {
		for _, kind := range []string{"goroutines", "sessions", "processes"} {
			for _, n := range []int{1, 8, 64} {
				b.Run(fmt.Sprintf("until=%s/%s=%d", until, kind, n), func(b *testing.B) { benchWake(b, until, kind, n) })
			}
		}
	}
}

func benchWake(b *testing.B, until, kind string, n int) {
	sample := benchSample(b, 1, 8)
	dir := benchCreate(b, sample, samplecache.Config{Samples: 1})
	c := benchOpen(b, dir, samplecache.First)
	p := benchProducer(b, c, "gen")
	e := benchTapped(b, dir)
	wait := make([]func(after int) (at func() time.Duration), n)
	for i := range wait {
		switch kind {
		case "processes":
			other := benchStart(b, until, dir)
			wait[i] = func(after int) func() time.Duration {
				other.ask(b, "%d", after)
				return func() time.Duration { return other.at(b) }
			}
		case "sessions":
			wait[i] = benchWaiter(benchTapped(b, dir), until)
		default:
			wait[i] = benchWaiter(e, until)
		}
	}
	var last, all []time.Duration
	for after := 0; b.Loop(); after++ {
		woken := make([]func() time.Duration, n)
		for i := range wait {
			woken[i] = wait[i](after)
		}
		time.Sleep(time.Duration(5+n/2) * time.Millisecond) // by then they wait
		begun, slowest := host.Monotonic(), time.Duration(0)
		benchPut(b, p, sample, 1)
		for _, at := range woken {
			took := at() - begun
			slowest, all = max(slowest, took), append(all, took)
		}
		last = append(last, slowest)
	}
	benchQuantiles(b, "each", all)
	benchQuantiles(b, "last", last)
}

// benchTapped joins a cache until the benchmark ends.
func benchTapped(b *testing.B, dir string) *tapped {
	b.Helper()
	e := &tapped{Engine: dircache.Engine{Dir: dir}}
	c, err := samplecache.Open(b.Context(), e, samplecache.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { _ = c.Close() })
	e.cache = c
	return e
}

// benchWaiter returns a function that has a goroutine wait.
func benchWaiter(e *tapped, until string) func(after int) (at func() time.Duration) {
	return func(after int) func() time.Duration {
		done := make(chan time.Duration, 1)
		go func() { done <- benchHear(e, until, uint64(after)) }()
		return func() time.Duration { return <-done }
	}
}

// benchHear waits for the generation after one, until it has heard of it or has it open, and
// returns when.
func benchHear(e *tapped, until string, after uint64) (at time.Duration) {
	if until == "wait" {
		g := tensor.Must(e.cache.Wait(context.Background(), after))
		at = host.Monotonic()
		_ = g.Close() // it is open
		return at
	}
	for changed := e.session.Changed(); tensor.Must(e.session.Latest(context.Background())) <= after; changed = e.session.Changed() {
		<-changed
	}
	return host.Monotonic()
}

// BenchmarkDeath is the time from the death of a process to when another, which waits for its slot,
// has it: at most 200 ms.
func BenchmarkDeath(b *testing.B) {
	dir := benchCreate(b, benchSample(b, 1, 8), samplecache.Config{Samples: 1})
	p := benchProducer(b, benchOpen(b, dir, samplecache.First), "")
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		holder := benchStart(b, "hold", dir)
		done := make(chan time.Duration, 1)
		go func() {
			s := tensor.Must(p.Reserve(context.Background()))
			done <- host.Monotonic()
			_ = s.Abort() // it was reserved
		}()
		time.Sleep(time.Duration(20+i*37%160) * time.Millisecond)
		begun := host.Monotonic()
		require.NoError(b, holder.cmd.Process.Kill())
		took = append(took, <-done-begun)
	}
	benchQuantiles(b, "free", took)
}

// BenchmarkJoins is 200 sessions that join at once: within a second.
func BenchmarkJoins(b *testing.B) {
	const n = 200
	sample := benchSample(b, 1, 8)
	b.Run("processes=1", func(b *testing.B) {
		for b.Loop() {
			dir := benchCreate(b, sample, samplecache.Config{Samples: 100})
			var all sync.WaitGroup
			caches := make([]*samplecache.Cache, n)
			begun := time.Now()
			for i := range caches {
				all.Go(func() {
					caches[i] = tensor.Must(samplecache.Open(context.Background(), dircache.Engine{Dir: dir}, samplecache.Options{}))
				})
			}
			all.Wait()
			b.ReportMetric(float64(time.Since(begun).Milliseconds()), "ms")
			for _, c := range caches {
				require.NoError(b, c.Close())
			}
		}
	})
	b.Run("processes=200", func(b *testing.B) {
		for b.Loop() {
			dir := benchCreate(b, sample, samplecache.Config{Samples: 100})
			var all []*benchProcess
			for range n {
				all = append(all, benchStart(b, "join", dir))
			}
			begun, last := host.Monotonic(), time.Duration(0)
			for _, p := range all {
				p.ask(b, "0")
			}
			for _, p := range all {
				last = max(last, p.at(b)-begun)
			}
			b.ReportMetric(float64(last.Milliseconds()), "ms")
		}
	})
}

// BenchmarkSessions counts what 64 sessions of a process have open: at most 3 descriptors and 2
// goroutines each, and one descriptor for each generation that is held.
func BenchmarkSessions(b *testing.B) {
	const n = 64
	for _, doing := range []string{"nothing", "waiting", "holding"} {
		b.Run(doing, func(b *testing.B) {
			sample := benchSample(b, 1, 8)
			dir := benchCreate(b, sample, samplecache.Config{Samples: 1})
			benchPut(b, benchProducer(b, benchOpen(b, dir, samplecache.First), "gen"), sample, 1)
			files, goroutines := benchFiles(b), runtime.NumGoroutine()
			users := 0
			for b.Loop() {
				for range n {
					c := benchOpen(b, dir, samplecache.First)
					switch doing {
					case "waiting":
						users++
						go func() { _, _ = c.Wait(b.Context(), 1<<20) }()
					case "holding":
						tensor.Must(c.Latest(b.Context()))
					}
				}
				time.Sleep(300 * time.Millisecond)
			}
			b.ReportMetric(float64(benchFiles(b)-files)/n/float64(b.N), "files/session")
			b.ReportMetric(float64(runtime.NumGoroutine()-goroutines-users)/n/float64(b.N), "goroutines/session")
		})
	}
}

// benchFiles returns how many descriptors this process has.
func benchFiles(b *testing.B) int {
	b.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		b.Skip("only Linux has /proc")
	}
	return len(entries)
}
