//go:build unix

package drivertest

import (
	"context"
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
// sends as many bytes over plain TCP.
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
	db := connect(b, "mongodb://"+serveEngine(b, dircache.Engine{Dir: dir}, mongowire.Options{ChunkBytes: chunk}))
	f := file(b, 1, n)
	for range 16 { // until the files are in memory
		require.NoError(b, put(context.Background(), db, chunk, f, f))
	}
	b.Run("how=put", func(b *testing.B) {
		b.SetBytes(2 * n)
		defer cpu(b)()
		for b.Loop() {
			require.NoError(b, put(context.Background(), db, chunk, f, f))
		}
	})
	b.Run("how=get", func(b *testing.B) {
		b.SetBytes(2 * n)
		defer cpu(b)()
		for i := 0; b.Loop(); i++ {
			got := 0
			require.NoError(b, eachChunk(context.Background(), db, []int{i % 4}, func(_ int32, _ string, chunk []byte) { got += len(chunk) }))
			require.Equal(b, 2*len(f), got)
		}
	})
}

// cpu returns a function that reports the processor's time for each operation, of client and server:
// where others use the processors too, it says more than the clock.
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
