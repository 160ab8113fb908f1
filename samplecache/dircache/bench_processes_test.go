//go:build unix

package dircache_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache/internal/host"
	"github.com/go-tensordict/tensordict/tensor"
)

// benchTask is the variable with what another process does in a cache, and the cache's directory.
const benchTask = "DIRCACHE_BENCH_TASK"

// benchMark begins the lines that such a process tells; package testing prints others.
const benchMark = "told "

// A benchProcess is another process, which runs a benchmark of this binary as its task.
type benchProcess struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// benchStart starts a process, which ends with the benchmark.
func benchStart(b *testing.B, task, dir string) *benchProcess {
	b.Helper()
	cmd := exec.Command(tensor.Must(os.Executable()), "-test.run=^$", "-test.bench=^BenchmarkTask$", "-test.benchtime=1x")
	cmd.Env = append(os.Environ(), benchTask+"="+task+" "+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() { _, _ = in.Close(), cmd.Wait() }) // the end of its input ends it
	p := &benchProcess{cmd, in, bufio.NewScanner(out)}
	require.Equal(b, "ready", p.next(b))
	return p
}

// next returns the next line that the process tells.
func (p *benchProcess) next(b *testing.B) string {
	b.Helper()
	for p.out.Scan() {
		if line, ok := strings.CutPrefix(p.out.Text(), benchMark); ok {
			return line
		}
	}
	b.Fatal("the process has ended")
	return ""
}

// at returns the time that the process tells.
func (p *benchProcess) at(b *testing.B) time.Duration {
	b.Helper()
	return time.Duration(tensor.Must(strconv.ParseInt(strings.TrimPrefix(p.next(b), "at "), 10, 64)))
}

// ask tells the process something, and returns nothing: see next.
func (p *benchProcess) ask(b *testing.B, format string, args ...any) {
	b.Helper()
	_, err := fmt.Fprintf(p.in, format+"\n", args...)
	require.NoError(b, err)
}

// BenchmarkTask is the other end of a benchProcess. It does nothing else.
func BenchmarkTask(b *testing.B) {
	task, dir, ok := strings.Cut(os.Getenv(benchTask), " ")
	if !ok {
		b.Skip("it is what other benchmarks start in processes of their own")
	}
	e := new(tapped)
	if task != "join" {
		e = benchTapped(b, dir)
	}
	if task == "hold" { // the only slot
		tensor.Must(benchProducer(b, e.cache, "").Reserve(context.Background()))
	}
	fmt.Println(benchMark + "ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		n := tensor.Must(strconv.Atoi(in.Text()))
		switch task {
		case "put": // for the given number of milliseconds
			fmt.Println(benchMark+"put", benchPutFor(b, e.cache, 1, time.Duration(n)*time.Millisecond))
		case "join":
			e = benchTapped(b, dir)
			fmt.Println(benchMark+"at", int64(host.Monotonic()))
		default: // wait for the generation after one
			fmt.Println(benchMark+"at", int64(benchHear(e, task, uint64(n))))
		}
	}
}

// benchPutFor reserves and commits slots in so many goroutines, each a producer, for a while. It
// returns how many.
func benchPutFor(b *testing.B, c *samplecache.Cache, goroutines int, d time.Duration) int {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	counts := make([]int, goroutines)
	var all sync.WaitGroup
	for i := range goroutines {
		p := benchProducer(b, c, fmt.Sprintf("gen-%d-%d", os.Getpid(), i))
		all.Go(func() {
			defer p.Close()
			for ctx.Err() == nil {
				s, err := p.Reserve(ctx)
				if err == nil {
					err = s.Commit(context.Background())
				}
				if err != nil && ctx.Err() == nil {
					b.Error(err)
				}
				counts[i]++
			}
		})
	}
	all.Wait()
	n := 0
	for _, count := range counts {
		n += count
	}
	return n
}

// BenchmarkRate reserves and commits slots of tiny samples, of which a generation has 1,000, for a
// second an operation. Four processes are to do 100,000 a second together.
func BenchmarkRate(b *testing.B) {
	const d = time.Second
	sample := benchSample(b, 1, 8)
	for _, n := range []struct{ processes, goroutines int }{{1, 1}, {1, 2}, {1, 4}, {2, 1}, {4, 1}} {
		b.Run(fmt.Sprintf("processes=%d/goroutines=%d", n.processes, n.goroutines), func(b *testing.B) {
			dir := benchCreate(b, sample, samplecache.Config{Samples: 1000})
			c := benchOpen(b, dir, samplecache.First)
			var others []*benchProcess
			for range n.processes - 1 {
				others = append(others, benchStart(b, "put", dir))
			}
			commits := 0
			for b.Loop() {
				for _, p := range others {
					p.ask(b, "%d", d.Milliseconds())
				}
				commits += benchPutFor(b, c, n.goroutines, d)
				for _, p := range others {
					commits += tensor.Must(strconv.Atoi(strings.TrimPrefix(p.next(b), "put ")))
				}
			}
			b.ReportMetric(float64(commits)/b.Elapsed().Seconds(), "commits/s")
			b.ReportMetric(float64(tensor.Must(c.Stats()).Swaps)/b.Elapsed().Seconds(), "swaps/s")
		})
	}
}

// BenchmarkRead fetches one small row, again and again, while another process puts samples and
// publishes generations: of a cache beside this one, and of this one. The 99th percentile there is
// to be at most twice as much. Each 1,000 reads the latest generation is opened anew.
func BenchmarkRead(b *testing.B) {
	for _, verify := range []samplecache.Verify{samplecache.Never, samplecache.First} {
		for _, swaps := range []bool{false, true} {
			name := fmt.Sprintf("verify=%s/swaps=%t", [...]string{"first", "always", "never"}[verify], swaps)
			b.Run(name, func(b *testing.B) { benchRead(b, swaps, verify) })
		}
	}
}

func benchRead(b *testing.B, swaps bool, verify samplecache.Verify) {
	const d, samples = 2 * time.Second, 1000
	sample := benchSample(b, 1, 64)
	dir := benchCreate(b, sample, samplecache.Config{Samples: samples})
	c := benchOpen(b, dir, verify)
	benchPut(b, benchProducer(b, c, "first"), sample, samples)
	if !swaps {
		dir = benchCreate(b, sample, samplecache.Config{Samples: samples})
	}
	p := benchStart(b, "put", dir)
	g := tensor.Must(c.Latest(b.Context()))
	dst := tensor.Must(g.Fetch(b.Context(), []int{0}, nil))
	before := tensor.Must(c.Stats()).Swaps
	var reads, opens []time.Duration
	for b.Loop() {
		p.ask(b, "%d", d.Milliseconds())
		for began := time.Now(); time.Since(began) < d; {
			at := time.Now()
			require.NoError(b, g.Close())
			g = tensor.Must(c.Latest(b.Context()))
			opens = append(opens, time.Since(at))
			for i := range 1000 {
				at = time.Now()
				tensor.Must(g.Fetch(b.Context(), []int{i * 7919 % samples}, dst))
				reads = append(reads, time.Since(at))
			}
		}
		p.next(b)
	}
	b.ReportMetric(float64(tensor.Must(c.Stats()).Swaps-before), "swaps")
	benchQuantiles(b, "read", reads)
	benchQuantiles(b, "open", opens)
}
