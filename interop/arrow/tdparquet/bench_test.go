package tdparquet_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/arrow/tdparquet"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// table returns a table of a million rows: numbers, categories, texts, and if lists is set, lists
// and images.
func table(b testing.TB, n int, lists bool) (*tdict.TensorDict, tdict.Schema) {
	r := rand.New(rand.NewPCG(1, 2))
	td := tdict.New(n)
	for i := range 6 {
		x := make([]float64, n)
		for j := range x {
			x[j] = r.NormFloat64()
		}
		require.NoError(b, td.Set(nestedkey.Of(fmt.Sprint("f", i)), tensor.Must(tensor.From(x, n))))
	}
	ids, codes := make([]int64, n), make([]int32, n)
	for j := range ids {
		ids[j], codes[j] = int64(j/7), int32(r.IntN(20))
	}
	require.NoError(b, td.Set("id", tensor.Must(tensor.From(ids, n))))
	require.NoError(b, td.Set("code", tensor.Must(tensor.From(codes, n))))
	texts := make([]string, n)
	for j := range texts {
		texts[j] = fmt.Sprint("patient ", r.IntN(5000))
	}
	require.NoError(b, td.Set("name", tensor.Must(ragged.FromStrings(texts))))
	if lists {
		values, lengths := make([]float32, 0, 4*n), make([]int64, n)
		for j := range lengths {
			lengths[j] = int64(r.IntN(8))
			for range lengths[j] {
				values = append(values, r.Float32())
			}
		}
		require.NoError(b, td.Set("list", tensor.Must(ragged.FromLengths(tensor.Vector(values...), lengths))))
		pixels := make([]uint8, n*16)
		for j := range pixels {
			pixels[j] = uint8(r.IntN(16))
		}
		require.NoError(b, td.Set("image", tensor.Must(tensor.From(pixels, n, 4, 4))))
	}
	schema := tdict.SchemaOf(td)
	for i := range schema {
		if schema[i].Key == "name" {
			schema[i] = tdict.Spec{Key: "name", Kind: tdict.KindText}
		}
	}
	return td, schema
}

// BenchmarkToDataset compares reading a file into a dataset with draining the library's reader of
// record batches, which decodes the same columns and keeps nothing.
func BenchmarkToDataset(b *testing.B) {
	for _, lists := range []bool{false, true} {
		for _, compression := range []string{"snappy", "zstd", "none"} {
			dir := testkit.TempDir(b)
			td, schema := table(b, 1<<19, lists)
			path := filepath.Join(dir, "table.parquet")
			out, err := os.Create(path)
			require.NoError(b, err)
			require.NoError(b, tdparquet.Write(b.Context(), out, schema, once(td), tdparquet.WriteOptions{Compression: compression}))
			require.NoError(b, out.Close())
			name := fmt.Sprintf("lists=%v/compression=%s/", lists, compression)
			for _, parallel := range []bool{false, true} {
				b.Run(fmt.Sprintf("%show=drain/parallel=%v", name, parallel), func(b *testing.B) {
					b.SetBytes(int64(td.ByteSize()))
					for b.Loop() {
						drain(b, path, parallel)
					}
				})
			}
			b.Run(name+"how=read", func(b *testing.B) {
				b.SetBytes(int64(td.ByteSize()))
				for b.Loop() {
					for _, err := range tdparquet.ReadFile(b.Context(), path, tdparquet.Options{}) {
						require.NoError(b, err)
					}
				}
			})
			b.Run(name+"how=save", func(b *testing.B) {
				b.SetBytes(int64(td.ByteSize()))
				for b.Loop() {
					chunks := tdparquet.ReadFile(b.Context(), path, tdparquet.Options{})
					require.NoError(b, memmap.SaveRows(b.Context(), filepath.Join(dir, "d"), chunks, memmap.SaveOptions{NoSync: true}))
				}
			})
		}
	}
}

// drain reads a file with the library.
func drain(b testing.TB, path string, parallel bool) {
	in, err := file.OpenParquetFile(path, false)
	require.NoError(b, err)
	defer in.Close()
	fr, err := pqarrow.NewFileReader(in, pqarrow.ArrowReadProperties{BatchSize: 1 << 16, Parallel: parallel}, memory.DefaultAllocator)
	require.NoError(b, err)
	r, err := fr.GetRecordReader(b.Context(), nil, nil)
	require.NoError(b, err)
	defer r.Release()
	for r.Next() {
	}
	require.NoError(b, r.Err())
}
