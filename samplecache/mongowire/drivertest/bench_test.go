//go:build unix

package drivertest

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire"
)

// BenchmarkSamples puts and gets samples of 32 MiB in chunks of 8 MiB with MongoDB's driver, and
// sends the same number of bytes over plain TCP. The servers are ours in this process, one without
// work, which shows the cost of the driver, and ours in a process of its own.
func BenchmarkSamples(b *testing.B) {
	const n, chunk = 16 << 20, 8 << 20
	b.Run("how=tcp", func(b *testing.B) {
		w := sink(b)
		piece := make([]byte, chunk)
		b.SetBytes(2 * n)
		defer cpu(b)()
		for b.Loop() {
			for range 2 * n / chunk {
				_, err := w.Write(piece)
				require.NoError(b, err)
			}
		}
	})
	dir := filepath.Join(shm(b), "cache")
	require.NoError(b, dircache.Create(dir, schema(b, n), samplecache.Config{Samples: 4}))
	address := serveEngine(b, dircache.Engine{Dir: dir}, mongowire.Options{ChunkBytes: chunk})
	f := file(b, 1, n)
	samples(b, "server=own", address, chunk, f)
	samples(b, "server=none", serveCanned(b, address), chunk, f)
	samples(b, "server=process", serveProcess(b, chunk), chunk, f)
}

// samples puts and gets samples.
func samples(b *testing.B, server, address string, chunk int, f []byte) {
	db := connect(b, "mongodb://"+address)
	for range 16 { // until the files are in memory
		require.NoError(b, put(context.Background(), db, chunk, f, f))
	}
	b.Run("how=put/"+server, func(b *testing.B) {
		b.SetBytes(int64(2 * len(f)))
		defer cpu(b)()
		for b.Loop() {
			require.NoError(b, put(context.Background(), db, chunk, f, f))
		}
	})
	b.Run("how=get/"+server, func(b *testing.B) {
		b.SetBytes(int64(2 * len(f)))
		defer cpu(b)()
		for i := 0; b.Loop(); i++ {
			got := 0
			require.NoError(b, eachChunk(context.Background(), db, []int{i % 4}, func(_ int32, _ string, chunk []byte) { got += len(chunk) }))
			require.Equal(b, 2*len(f), got)
		}
	})
}

// serveProcess serves a cache in another process.
func serveProcess(b *testing.B, chunk int) (addr string) {
	dir := shm(b)
	config := fmt.Sprintf("DBNAME: unit\nSWAP_CAP: 4\nCHUNKSIZE: %d\n", chunk>>20)
	require.NoError(b, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o644))
	addr, kill := start(b, build(b), dir, "127.0.0.1:0")
	b.Cleanup(kill)
	return addr
}

// cpu returns a function that reports the processor's time for each operation, of client and
// server: where others use the processors too, it says more than the clock.
func cpu(b *testing.B) (report func()) {
	now := func() float64 {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
	}
	start := now()
	return func() { b.ReportMetric((now()-start)/float64(b.N), "cpu-ms/op") }
}

// shm returns a directory in memory, if there are such.
func shm(b *testing.B) string {
	dir, err := os.MkdirTemp("/dev/shm", "drivertest-")
	if err != nil {
		return b.TempDir()
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// sink returns a connection to a reader that throws all away.
func sink(b *testing.B) net.Conn {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, _ = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{c}, make([]byte, chunkOfSink))
			_ = c.Close()
		}
		_ = l.Close()
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	require.NoError(b, err)
	b.Cleanup(func() { _ = c.Close(); runtime.GC() })
	return c
}

const chunkOfSink = 1 << 20
