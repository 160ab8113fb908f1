package npy_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// wide returns a dictionary of n tensors, some in nested dictionaries.
func wide(t testing.TB, n int) *tdict.TensorDict {
	td := tdict.New(4)
	for i := range n {
		key := nestedkey.Key(fmt.Sprintf("part%d/x%d", i/100, i))
		require.NoError(t, td.Set(key, tensor.Must(tensor.Zeros[float32](4, 8))))
	}
	return td
}

// opens returns a function that opens a file and closes it.
func opens[C io.Closer](open func(path string) (C, error)) func(path string) error {
	return func(path string) error {
		c, err := open(path)
		return errors.Join(err, c.Close())
	}
}

// BenchmarkOpenMany opens and closes 1000 tensors in a directory, in an archive as it is saved, as
// NumPy saves it, and deflated.
func BenchmarkOpenMany(b *testing.B) {
	td := wide(b, 1000)
	dir := filepath.Join(b.TempDir(), "dir")
	require.NoError(b, memmap.Save(dir, td))
	b.Run("in=directory", func(b *testing.B) { openOften(b, dir, opens(memmap.Open)) })
	for name, opt := range map[string]npy.SaveDictOptions{"npz": {}, "unaligned": {Unaligned: true}, "deflated": {Compress: true}} {
		path := filepath.Join(b.TempDir(), "x.npz")
		require.NoError(b, npy.SaveDictWith(b.Context(), path, td, opt))
		b.Run("in="+name, func(b *testing.B) { openOften(b, path, opens(npy.OpenDict)) })
	}
}

func openOften(b *testing.B, path string, open func(path string) error) {
	b.ReportAllocs()
	for b.Loop() {
		if err := open(path); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpenLarge opens and closes 500 MB.
func BenchmarkOpenLarge(b *testing.B) {
	x := tensor.Must(tensor.Zeros[uint8](500, 1e6))
	path := filepath.Join(b.TempDir(), "x")
	require.NoError(b, npy.SaveWith(b.Context(), path, x, npy.SaveOptions{NoSync: true}))
	b.Run("as=npy", func(b *testing.B) { openOften(b, path, opens(npy.Open)) })
	td := tdict.New(500)
	require.NoError(b, td.Set("x", x))
	require.NoError(b, npy.SaveDictWith(b.Context(), path, td, npy.SaveDictOptions{NoSync: true}))
	b.Run("as=npz", func(b *testing.B) { openOften(b, path, opens(npy.OpenDict)) })
}

// BenchmarkRows copies 256 random rows of 12 KiB from a mapped directory, and from files where
// elements are aligned and where they are not.
func BenchmarkRows(b *testing.B) {
	const rows = 20000
	x := tensor.Must(tensor.Zeros[float32](rows, 3072))
	td := tdict.New(rows)
	require.NoError(b, td.Set("x", x))
	dir := b.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(b, memmap.Save(at("dir"), td))
	require.NoError(b, npy.Save(at("x.npy"), x))
	require.NoError(b, npy.SaveDict(at("x.npz"), td))
	require.NoError(b, npy.SaveDictWith(b.Context(), at("unaligned.npz"), td, npy.SaveDictOptions{Unaligned: true}))
	ds := tensor.Must(memmap.Open(at("dir")))
	defer ds.Close()
	from := []struct {
		name string
		x    *tensor.Tensor
	}{
		{"directory", tensor.Must(ds.Tensor("x"))},
		{"npy", open(b, at("x.npy")).Tensor},
		{"npz", tensor.Must(openDict(b, at("x.npz")).Tensor("x"))},
		{"unaligned", tensor.Must(openDict(b, at("unaligned.npz")).Tensor("x"))},
	}
	picks := make([][]int, 64)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range picks {
		for range 256 {
			picks[i] = append(picks[i], rng.IntN(rows))
		}
	}
	dst := tensor.Must(tensor.Zeros[float32](256, 3072))
	for _, f := range from {
		_ = tensor.Must(f.x.Clone()) // the pages are there
	}
	for _, f := range from {
		b.Run("from="+f.name, func(b *testing.B) {
			b.SetBytes(int64(dst.ByteSize()))
			for i := 0; b.Loop(); i++ {
				if err := f.x.IndexInto(dst, ix.Take(picks[i%len(picks)]...)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSave saves 128 MB. how=write is write calls of as many bytes, and a sync of the file and
// of its directory.
func BenchmarkSave(b *testing.B) {
	x := tensor.Must(tensor.Zeros[uint8](128, 1e6))
	td := tdict.New(128)
	require.NoError(b, td.Set("x", x))
	plain := tensor.Must(tensor.Of[uint8](x))
	ways := []struct {
		name string
		run  func(path string) error
	}{
		{"write", func(path string) error { return plainWrite(path, plain) }},
		{"npy", func(path string) error { return npy.Save(path, x) }},
		{"npz", func(path string) error { return npy.SaveDict(path, td) }},
	}
	for _, way := range ways {
		b.Run("how="+way.name, func(b *testing.B) {
			b.SetBytes(int64(len(plain)))
			path := filepath.Join(b.TempDir(), "x")
			for b.Loop() {
				if err := way.run(path); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				require.NoError(b, os.Remove(path))
				b.StartTimer()
			}
		})
	}
}

func plainWrite(path string, data []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(data, 8<<20) {
		if _, err = f.Write(part); err != nil {
			break
		}
	}
	if err == nil {
		err = errors.Join(f.Sync(), vfs.OS.SyncDir(filepath.Dir(path)))
	}
	return errors.Join(err, f.Close())
}
