package natscache_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// benchVariable is the environment variable that makes a process of this test one of a benchmark:
// which, and its arguments, separated by spaces.
const benchVariable = "NATSCACHE_BENCH"

// benchHere is a process of a benchmark until standard input ends.
func benchHere(is string) {
	args := strings.Split(is, " ")
	var err error
	switch args[0] {
	case "sink":
		err = sinkHere()
	case "cluster":
		err = clusterHere(args[1])
	case "client":
		err = clientHere(args[1], args[2], args[3])
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// A child is a process of a benchmark.
type child struct {
	b   *testing.B
	in  io.Writer
	out *bufio.Reader
}

func startChild(b *testing.B, is string) *child {
	b.Helper()
	exe, err := os.Executable()
	require.NoError(b, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), benchVariable+"="+is)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &child{b, in, bufio.NewReader(out)}
}

func (c *child) line() string {
	c.b.Helper()
	line, err := c.out.ReadString('\n')
	require.NoError(c.b, err, line)
	return strings.TrimSpace(line)
}

// number reads a number that the child prints.
func (c *child) number() int {
	c.b.Helper()
	line := c.line()
	n, err := strconv.Atoi(line)
	require.NoError(c.b, err, line)
	return n
}

func (c *child) say(line any) {
	c.b.Helper()
	_, err := fmt.Fprintln(c.in, line)
	require.NoError(c.b, err)
}

// sinkHere reads samples from connections, and answers each with a byte. Before it comes the
// length.
func sinkHere() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	buffer, length := make([]byte, 1<<20), make([]byte, 8)
	for {
		if _, err := io.ReadFull(conn, length); err != nil {
			return err
		}
		for left := int(binary.LittleEndian.Uint64(length)); left > 0; {
			n, err := conn.Read(buffer[:min(left, len(buffer))])
			if err != nil {
				return err
			}
			left -= n
		}
		if _, err := conn.Write(length[:1]); err != nil {
			return err
		}
	}
}

// A sink is a plain connection to a process that reads samples.
type sink struct{ net.Conn }

func newSink(b *testing.B) sink {
	b.Helper()
	conn, err := net.Dial("tcp", startChild(b, "sink").line())
	require.NoError(b, err)
	b.Cleanup(func() { _ = conn.Close() })
	return sink{conn}
}

// write sends a sample, and waits until all of it was read.
func (s sink) write(b *testing.B, data []byte) {
	var length [8]byte
	binary.LittleEndian.PutUint64(length[:], uint64(len(data)))
	for _, part := range [][]byte{length[:], data} {
		if _, err := s.Write(part); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := io.ReadFull(s, length[:1]); err != nil {
		b.Fatal(err)
	}
}

// clusterHere is three servers.
func clusterHere(dir string) error {
	var ports [3]int
	var routes []*url.URL
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		ports[i] = l.Addr().(*net.TCPAddr).Port
		routes = append(routes, &url.URL{Scheme: "nats", Host: l.Addr().String()})
		_ = l.Close()
	}
	var all [3]*natscache.Server
	var errs [3]error
	var starting sync.WaitGroup
	for i := range all {
		starting.Go(func() {
			all[i], errs[i] = natscache.Serve(natscache.ServeOptions{Dir: filepath.Join(dir, strconv.Itoa(i)), Configure: func(o *server.Options) {
				o.ServerName = fmt.Sprint("s", i)
				o.Cluster = server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: ports[i]}
				o.Routes = routes
			}})
		})
	}
	starting.Wait()
	var urls []string
	for i, s := range all {
		if errs[i] != nil {
			return errs[i]
		}
		urls = append(urls, s.URL())
	}
	fmt.Println(strings.Join(urls, ","))
	_, _ = io.Copy(io.Discard, os.Stdin)
	for _, s := range all {
		_ = s.Close()
	}
	return nil
}

// Sizes of samples.
const (
	benchSmall = 1 << 10
	benchLarge = 16 << 20
)

// benchData returns bytes that differ.
func benchData(size int) []byte {
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i * i >> 3)
	}
	return data
}

// benchSample returns a sample of one leaf.
func benchSample(size int) (*tdict.TensorDict, error) {
	x, err := tensor.From(benchData(size), size)
	if err != nil {
		return nil, err
	}
	td := tdict.New()
	return td, td.Set("x", x)
}

// benchCreate makes a cache. Three servers may need a while until they have a leader.
func benchCreate(b *testing.B, url string, sample *tdict.TensorDict, config natscache.Config) natscache.Engine {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), 30*time.Second)
	defer cancel()
	require.NoError(b, natscache.Create(ctx, url, "bench", sample, config))
	return natscache.Engine{URL: url, Name: "bench"}
}

func benchOpen(b *testing.B, e natscache.Engine) *samplecache.Cache {
	b.Helper()
	c, err := samplecache.Open(b.Context(), e, samplecache.Options{OnError: func(err error) { b.Error(err) }})
	require.NoError(b, err)
	b.Cleanup(func() { _ = c.Close() })
	return c
}

// benchBeside calls fn and, in turn, sends the same bytes over plain TCP. It reports the ratio.
func benchBeside(b *testing.B, data []byte, fn func(i int)) {
	b.Helper()
	s := newSink(b)
	for i := range 4 { // memory that is new costs more
		fn(i)
		s.write(b, data)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	var plain, ours time.Duration
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		fn(i)
		ours += time.Since(began)
		b.StopTimer()
		began = time.Now()
		s.write(b, data)
		plain += time.Since(began)
		b.StartTimer()
	}
	b.ReportMetric(plain.Seconds()/ours.Seconds(), "of-TCP")
	b.ReportMetric(float64(len(data))*float64(b.N)/plain.Seconds()/1e6, "TCP-MB/s")
}

// A benchStore is where samples are.
type benchStore struct {
	name   string
	config natscache.Config
}

// benchStores are on one server each, or on three that share a process.
var benchStores = []benchStore{
	{"memory", natscache.Config{Memory: true}}, {"file", natscache.Config{}}, {"file3", natscache.Config{Replicas: 3}},
}

// serve starts the servers in another process.
func (s benchStore) serve(b *testing.B) (url string) {
	b.Helper()
	if s.config.Replicas > 1 {
		return startChild(b, "cluster "+b.TempDir()).line()
	}
	return newServer(b).url()
}

// BenchmarkPut puts samples, one after the other, with sums: for 16 MiB, memory is to reach 0.25 of
// TCP, and file 0.15. Generations follow one another, so that removing old ones counts too.
func BenchmarkPut(b *testing.B) {
	for _, store := range benchStores {
		for _, size := range []int{benchLarge, 1 << 20, 100 << 20} {
			b.Run(fmt.Sprintf("storage=%s/MiB=%d", store.name, size>>20), func(b *testing.B) {
				data, sample, config := benchData(size), tensor.Must(benchSample(size)), store.config
				config.Config = engine.Config{Samples: 4, Retain: -1, MaxHeld: -1}
				c := benchOpen(b, benchCreate(b, store.serve(b), sample, config))
				p := tensor.Must(c.Producer("p"))
				benchBeside(b, data, func(int) {
					if err := p.Put(context.Background(), sample); err != nil {
						b.Fatal(err)
					}
				})
			})
		}
	}
}

// BenchmarkGet reads samples of 16 MiB, one after the other, which is to reach 0.2 of TCP: rows of
// the engine, and samples whose sums are checked.
func BenchmarkGet(b *testing.B) {
	const samples = 4
	for _, store := range benchStores {
		b.Run("storage="+store.name, func(b *testing.B) {
			data, sample, config := benchData(benchLarge), tensor.Must(benchSample(benchLarge)), store.config
			config.Samples = samples
			e := benchCreate(b, store.serve(b), sample, config)
			c := benchOpen(b, e)
			p := tensor.Must(c.Producer("p"))
			for range samples {
				require.NoError(b, p.Put(b.Context(), sample))
			}
			b.Run("how=rows", func(b *testing.B) {
				s, err := e.Join(b.Context(), engine.Options{})
				require.NoError(b, err)
				defer s.Close()
				r, err := s.Open(b.Context(), 1)
				require.NoError(b, err)
				dst := make([]byte, benchLarge)
				benchBeside(b, data, func(i int) {
					err := r.(engine.RowReader).ReadRows(context.Background(), []int{i % samples}, [][]byte{dst})
					if err != nil {
						b.Fatal(err)
					}
				})
			})
			b.Run("how=fetch", func(b *testing.B) {
				g := tensor.Must(c.Latest(b.Context()))
				var dst *tdict.TensorDict
				benchBeside(b, data, func(i int) {
					var err error
					if dst, err = g.Fetch(context.Background(), []int{i % samples}, dst); err != nil {
						b.Fatal(err)
					}
				})
			})
		})
	}
}

// clientHere is a process with sessions that put samples. For each number n on standard input
// it puts n samples, and prints the bytes of its heap.
func clientHere(url, name, sessions string) error {
	count, err := strconv.Atoi(sessions)
	if err != nil {
		return err
	}
	ctx := context.Background()
	var producers []*samplecache.Producer
	for range count {
		c, err := samplecache.Open(ctx, natscache.Engine{URL: url, Name: name}, samplecache.Options{OnError: func(err error) { fmt.Println(err) }})
		if err != nil {
			return err
		}
		p, err := c.Producer("")
		if err != nil {
			return err
		}
		producers = append(producers, p)
	}
	fmt.Println("ready")
	sample, err := benchSample(benchSmall)
	if err != nil {
		return err
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		n, err := strconv.ParseInt(in.Text(), 10, 64)
		if err != nil {
			return err
		}
		var left atomic.Int64
		left.Store(n)
		err = workers.Do(ctx, count, count, func(i int) error {
			for left.Add(-1) >= 0 {
				if err := producers[i].Put(ctx, sample); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		fmt.Println(m.HeapAlloc)
	}
	return nil
}

// BenchmarkCommits reserves and commits samples of 1 KiB, from all sessions at once: 1,500 a second
// in total are to be reached with each number of sessions.
func BenchmarkCommits(b *testing.B) {
	for _, store := range benchStores {
		for _, n := range []struct{ processes, sessions int }{{1, 1}, {4, 8}, {4, 32}, {4, 128}, {1, 128}} {
			b.Run(fmt.Sprintf("storage=%s/processes=%d/sessions=%d", store.name, n.processes, n.sessions), func(b *testing.B) {
				all := benchClients(b, store, 1000, n.processes, n.sessions)
				const commits = 8000
				benchRound(b, all, commits/4)
				for b.Loop() {
					benchRound(b, all, commits)
				}
				b.ReportMetric(float64(commits*b.N)/b.Elapsed().Seconds(), "commits/s")
			})
		}
	}
}

// benchClients starts processes, which share the sessions evenly.
func benchClients(b *testing.B, store benchStore, samples, processes, sessions int) (all []*child) {
	b.Helper()
	config := store.config
	config.Samples = samples
	e := benchCreate(b, store.serve(b), tensor.Must(benchSample(benchSmall)), config)
	for range processes {
		all = append(all, startChild(b, fmt.Sprintf("client %s %s %d", e.URL, e.Name, sessions/processes)))
	}
	for _, c := range all {
		require.Equal(b, "ready", c.line())
	}
	return all
}

// benchRound makes clients commit, and returns the heap of one.
func benchRound(b *testing.B, all []*child, commits int) (heap int) {
	b.Helper()
	for _, c := range all {
		c.say(commits / len(all))
	}
	for _, c := range all {
		heap = c.number()
	}
	return heap
}

// BenchmarkGrowth is how fast commits are, and how much memory a process has, after more and more
// commits: neither is to grow.
func BenchmarkGrowth(b *testing.B) {
	all := benchClients(b, benchStores[1], 1000, 2, 16)
	done := 0
	for _, commits := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("commits=%d", commits), func(b *testing.B) {
			benchRound(b, all, max(commits-done, 0))
			done = commits
			heap := 0
			for b.Loop() {
				heap = benchRound(b, all, 4000)
				done += 4000
			}
			b.ReportMetric(float64(4000*b.N)/b.Elapsed().Seconds(), "commits/s")
			b.ReportMetric(float64(heap)/1e3, "heap-KB")
		})
	}
}
