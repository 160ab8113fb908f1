package mapping_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
)

// waiters starts goroutines that wait for the word. wake changes it, and returns how long each took
// to see that.
func waiters(b *testing.B, m *mapping.Mapping, n int) (wake func() []time.Duration) {
	word := word32(b, m, 4)
	first, woken := word.Load(), make(chan time.Time, n)
	var all sync.WaitGroup
	var ending atomic.Bool
	for range n {
		all.Go(func() {
			for now := first; !ending.Load(); now = word.Load() {
				for word.Load() == now {
					_ = m.WaitWord(4, now, time.Second)
				}
				woken <- time.Now()
			}
		})
	}
	b.Cleanup(func() {
		ending.Store(true)
		word.Add(1)
		_ = m.WakeWord(4)
		all.Wait()
	})
	return func() []time.Duration {
		time.Sleep(20 * time.Millisecond) // all wait
		begun := time.Now()
		word.Add(1)
		if err := m.WakeWord(4); err != nil {
			b.Fatal(err)
		}
		took := make([]time.Duration, n)
		for i := range took {
			took[i] = (<-woken).Sub(begun)
		}
		return took
	}
}

// reportLatencies reports the mean of all, and the mean and the greatest time of the last woken.
func reportLatencies(b *testing.B, wake func() []time.Duration) {
	var sum, lasts, worst time.Duration
	n, wakes := 0, 0
	for b.Loop() {
		took := wake()
		for _, d := range took {
			sum += d
		}
		last := slices.Max(took)
		n, wakes, lasts, worst = n+len(took), wakes+1, lasts+last, max(worst, last)
	}
	micro := func(d time.Duration, n int) float64 { return float64(d.Nanoseconds()) / float64(n) / 1e3 }
	b.ReportMetric(micro(sum, n), "us/waiter")
	b.ReportMetric(micro(lasts, wakes), "us/last")
	b.ReportMetric(micro(worst, 1), "us/worst")
	b.ReportMetric(0, "ns/op") // mostly the pause before
}

func BenchmarkWakeGoroutines(b *testing.B) {
	for _, n := range []int{1, 64} {
		b.Run(fmt.Sprintf("waiting=%d", n), func(b *testing.B) {
			m := mappedWords(b)
			reportLatencies(b, waiters(b, m, n))
		})
	}
}

// report prints when it saw each change of the word, until in ends.
func report(m *mapping.Mapping, in *os.File) {
	go func() {
		_, _ = in.Read(make([]byte, 1))
		os.Exit(0)
	}()
	word, err := m.Word32(4)
	if err != nil {
		panic(err)
	}
	defer m.Release()
	for now := word.Load(); ; now = word.Load() {
		for word.Load() == now {
			if err := m.WaitWord(4, now, time.Second); err != nil {
				panic(err)
			}
		}
		fmt.Println(time.Now().UnixNano())
	}
}

// waitingProcess starts a process that reports, and returns its lines.
func waitingProcess(b *testing.B, path string) *bufio.Scanner {
	cmd := wordProcess(path, "wait")
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	require.True(b, lines.Scan())
	return lines
}

// waitingProcesses start, and return how long each took to see the word change.
func waitingProcesses(b *testing.B, n int) (wake func() []time.Duration) {
	path := wordsPath(b)
	m, err := mapWords(path)
	require.NoError(b, err)
	b.Cleanup(func() { _ = m.Close() })
	word := word32(b, m, 4)
	lines := make([]*bufio.Scanner, n)
	for i := range lines {
		lines[i] = waitingProcess(b, path)
	}
	return func() []time.Duration {
		time.Sleep(100 * time.Millisecond) // all wait
		begun := time.Now()
		word.Add(1)
		if err := m.WakeWord(4); err != nil {
			b.Fatal(err)
		}
		took := make([]time.Duration, n)
		for i, l := range lines {
			l.Scan()
			at, err := strconv.ParseInt(l.Text(), 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			took[i] = time.Duration(at - begun.UnixNano())
		}
		return took
	}
}

func BenchmarkWakeProcesses(b *testing.B) {
	for _, n := range []int{8, 64} {
		b.Run(fmt.Sprintf("waiting=%d", n), func(b *testing.B) { reportLatencies(b, waitingProcesses(b, n)) })
	}
}

// switches returns the context switches of the process while it waits for 5 s, again and again
// until the timeout.
func switches(m *mapping.Mapping, timeout time.Duration) int {
	time.Sleep(100 * time.Millisecond)
	before := contextSwitches()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); {
		if err := m.WaitWord(4, 0, timeout); err != nil {
			panic(err)
		}
	}
	return contextSwitches() - before
}

// contextSwitches returns those of all threads, voluntary and not.
func contextSwitches() (n int) {
	tasks, _ := filepath.Glob("/proc/self/task/*/status")
	for _, path := range tasks {
		text, _ := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			if name, count, ok := strings.Cut(line, ":"); ok && strings.HasSuffix(name, "voluntary_ctxt_switches") {
				k, _ := strconv.Atoi(strings.TrimSpace(count))
				n += k
			}
		}
	}
	return n
}

// BenchmarkWaitSwitches counts the context switches of a process that only waits.
func BenchmarkWaitSwitches(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("counts what Linux counts")
	}
	for _, timeout := range []string{"100ms", "190ms", "250ms", "500ms", "5s"} {
		b.Run("timeout="+timeout, func(b *testing.B) {
			path := wordsPath(b)
			for b.Loop() {
				out, err := wordProcess(path, timeout).Output()
				require.NoError(b, err)
				n, err := strconv.Atoi(strings.Fields(string(out))[0])
				require.NoError(b, err)
				b.ReportMetric(float64(n), "switches/5s")
			}
		})
	}
}
