package memmap_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

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

// BenchmarkSaveForm saves 128 MiB, in turn with writing as many bytes of the same memory to a new
// file and syncing it. It reports the least time of each.
func BenchmarkSaveForm(b *testing.B) {
	td := manyLeaves(b, 4, 1<<20)
	for _, x := range td.Leaves() {
		require.NoError(b, x.(*tensor.Tensor).CopyFrom(tensor.Scalar[float32](1.5))) // its pages are there
	}
	at := filepath.Join(b.TempDir(), "x")
	timed := func(least *time.Duration, path string, write func() error) {
		start := time.Now()
		require.NoError(b, write())
		*least = min(*least, time.Since(start))
		require.NoError(b, os.Remove(path))
	}
	plain, save := time.Hour, time.Hour
	b.SetBytes(2 * int64(td.ByteSize()))
	for b.Loop() {
		timed(&plain, at, func() error { return writePlainly(at, td) })
		timed(&save, at+".tdc", func() error { return memmap.Save(at+".tdc", td) })
	}
	b.ReportMetric(float64(plain.Milliseconds()), "plain-ms")
	b.ReportMetric(float64(save.Milliseconds()), "save-ms")
	b.ReportMetric(plain.Seconds()/save.Seconds(), "ratio")
}

// writePlainly writes the elements of all leaves to a new file and syncs it.
func writePlainly(at string, td *tdict.TensorDict) error {
	f, err := os.Create(at)
	for _, x := range td.Leaves() {
		if err == nil {
			_, err = x.(*tensor.Tensor).WriteTo(f)
		}
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
