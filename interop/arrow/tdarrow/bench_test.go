package tdarrow_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/arrow/tdarrow"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// The table of the benchmarks: 10 columns of float64, 400 MB.
const (
	benchColumns = 10
	benchRows    = 5_000_000
)

// benchFile writes the table into a directory, and returns the path.
func benchFile(b *testing.B, dir string, opt tdarrow.WriteOptions) string {
	b.Helper()
	td := tdict.New(benchRows)
	for c := range benchColumns {
		x := make([]float64, benchRows)
		for i := range x {
			x[i] = float64(i*(c+3)%1000) / 8
		}
		require.NoError(b, td.Set(nestedkey.Key(fmt.Sprint("c", c)), tensor.Must(tensor.From(x, benchRows))))
	}
	path := filepath.Join(dir, "x.arrow")
	f, err := os.Create(path)
	require.NoError(b, err)
	require.NoError(b, tdarrow.Write(context.Background(), f, nil, once(td), opt))
	require.NoError(b, f.Close())
	return path
}

// BenchmarkDataset compares what makes a dataset of a file with a copy of the file.
func BenchmarkDataset(b *testing.B) {
	ctx := context.Background()
	dir := b.TempDir()
	path := benchFile(b, dir, tdarrow.WriteOptions{})
	b.Run("op=cp", func(b *testing.B) {
		b.SetBytes(benchColumns * benchRows * 8)
		for b.Loop() {
			require.NoError(b, copyFile(path, filepath.Join(dir, "copy")))
		}
	})
	b.Run("op=dataset", func(b *testing.B) {
		b.SetBytes(benchColumns * benchRows * 8)
		b.ReportAllocs()
		for b.Loop() {
			require.NoError(b, memmap.SaveRows(ctx, filepath.Join(dir, "d"), tdarrow.ReadFile(ctx, path, tdarrow.Options{}), memmap.SaveOptions{NoSync: true}))
		}
	})
}

// copyFile copies a file as cp does: reads and writes of 256 KiB, into a new file.
func copyFile(from, to string) error {
	_ = os.Remove(to) // it may not be there
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{r}, make([]byte, 256<<10))
	if closed := w.Close(); err == nil {
		err = closed
	}
	return err
}

// BenchmarkRead reads all batches without using them: what is lent costs nothing.
func BenchmarkRead(b *testing.B) {
	ctx := context.Background()
	for _, compression := range []string{"", "lz4", "zstd"} {
		path := benchFile(b, b.TempDir(), tdarrow.WriteOptions{Compression: compression})
		for _, keys := range [][]nestedkey.Key{nil, {"c3"}} {
			b.Run(fmt.Sprintf("compression=%s/columns=%d", compression, max(len(keys), benchColumns*(1-len(keys)))), func(b *testing.B) {
				b.SetBytes(benchColumns * benchRows * 8)
				b.ReportAllocs()
				for b.Loop() {
					_, err := last(tdarrow.ReadFile(ctx, path, tdarrow.Options{Keys: keys}))
					require.NoError(b, err)
				}
			})
		}
	}
}

// BenchmarkStream writes and reads a stream in memory.
func BenchmarkStream(b *testing.B) {
	td, schema := visits(b, 100_000)
	data := written(b, schema, tdarrow.WriteOptions{Stream: true}, td)
	b.Run("op=write", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			require.NoError(b, tdarrow.Write(context.Background(), io.Discard, schema, once(td), tdarrow.WriteOptions{Stream: true}))
		}
	})
	b.Run("op=read", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			_, err := last(tdarrow.Read(context.Background(), bytes.NewReader(data), tdarrow.Options{}))
			require.NoError(b, err)
		}
	})
}
