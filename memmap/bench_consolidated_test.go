package memmap_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// manyLeaves returns a dictionary of leaves [rows 8] of float32.
func manyLeaves(b testing.TB, leaves, rows int) *tdict.TensorDict {
	td := tdict.New(rows)
	for i := range leaves {
		require.NoError(b, td.Set(nestedkey.Of(fmt.Sprint(i/100), fmt.Sprint(i)), tensor.Must(tensor.New(tensor.Float32, rows, 8))))
	}
	return td
}

// BenchmarkOpenForm opens and closes datasets, with one read of the last leaf.
func BenchmarkOpenForm(b *testing.B) {
	for _, leaves := range []int{1000, 10_000, 100_000} {
		td := manyLeaves(b, leaves, 1)
		for _, name := range []string{"directory", "x.tdc"} {
			if leaves > 1000 && name == "directory" {
				continue
			}
			at := filepath.Join(b.TempDir(), name)
			require.NoError(b, memmap.SaveWith(b.Context(), at, td, memmap.SaveOptions{NoSync: true}))
			b.Run(fmt.Sprintf("leaves=%d/form=%s", leaves, name), func(b *testing.B) {
				for b.Loop() {
					ds := tensor.Must(memmap.Open(at))
					require.NoError(b, ds.Close())
				}
			})
		}
	}
}

// BenchmarkRowsForm picks rows of mapped datasets.
func BenchmarkRowsForm(b *testing.B) {
	td := manyLeaves(b, 20, 100_000)
	rows := make([]int, 1000)
	for i := range rows {
		rows[i] = i * 7919 % 100_000
	}
	for _, name := range []string{"directory", "x.tdc"} {
		at := filepath.Join(b.TempDir(), name)
		require.NoError(b, memmap.SaveWith(b.Context(), at, td, memmap.SaveOptions{NoSync: true}))
		ds := tensor.Must(memmap.Open(at))
		dst := tensor.Must(ds.NewZeros(len(rows)))
		b.Run("form="+name, func(b *testing.B) {
			b.SetBytes(int64(dst.ByteSize()))
			for b.Loop() {
				require.NoError(b, ds.IndexInto(dst, ix.Take(rows...)))
			}
		})
		require.NoError(b, ds.Close())
	}
}

// BenchmarkSaveForm saves 256 MiB: how=plain writes and syncs one file of as many bytes.
func BenchmarkSaveForm(b *testing.B) {
	td := manyLeaves(b, 8, 1<<20)
	at := filepath.Join(b.TempDir(), "x.tdc")
	zeros := make([]byte, 1<<20)
	b.Run("how=plain", func(b *testing.B) {
		b.SetBytes(int64(td.ByteSize()))
		for b.Loop() {
			f := tensor.Must(os.Create(at + ".plain"))
			for range td.ByteSize() / len(zeros) {
				_ = tensor.Must(f.Write(zeros))
			}
			require.NoError(b, f.Sync())
			require.NoError(b, f.Close())
		}
	})
	b.Run("how=save", func(b *testing.B) {
		b.SetBytes(int64(td.ByteSize()))
		for b.Loop() {
			require.NoError(b, memmap.Save(at, td))
		}
	})
}
