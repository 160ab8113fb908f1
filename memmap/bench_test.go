package memmap_test

import (
	"fmt"
	"math/rand/v2"
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

// filled returns a dictionary of so many leaves of uint8 [rows width], with no page of them
// untouched.
func filled(b *testing.B, leaves, rows int, shape ...int) *tdict.TensorDict {
	b.Helper()
	td := tdict.New(rows)
	for i := range leaves {
		x := tensor.Must(tensor.New(tensor.Uint8, append([]int{rows}, shape...)...))
		s := tensor.Must(tensor.Of[uint8](x))
		for j := range s {
			s[j] = uint8(j + i)
		}
		require.NoError(b, td.Set(nestedkey.Of(fmt.Sprintf("leaf%04d", i)), x))
	}
	return td
}

// BenchmarkSave saves 500 MB in 10 leaves. how=write is plain write calls of the same bytes and one
// sync a file.
func BenchmarkSave(b *testing.B) {
	td := filled(b, 10, 50_000, 1000)
	ways := []struct {
		name string
		run  func(dir string) error
	}{
		{"write", func(dir string) error { return plainWrite(dir, td) }},
		{"save", func(dir string) error { return memmap.Save(dir, td) }},
	}
	for _, way := range ways {
		b.Run("bytes=500MB/how="+way.name, func(b *testing.B) {
			b.SetBytes(500_000_000)
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				dir := filepath.Join(b.TempDir(), "d")
				b.StartTimer()
				if err := way.run(dir); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				require.NoError(b, os.RemoveAll(dir))
				b.StartTimer()
			}
		})
	}
}

func plainWrite(dir string, td *tdict.TensorDict) error {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	for key, l := range td.Leaves() {
		data, err := tensor.Of[uint8](l.(*tensor.Tensor))
		if err != nil {
			return err
		}
		f, err := os.Create(filepath.Join(dir, string(key)))
		if err != nil {
			return err
		}
		if _, err := f.Write(data); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

func BenchmarkSaveLeaves(b *testing.B) {
	td := filled(b, 1000, 8, 16)
	for _, how := range []string{"write", "save"} {
		b.Run("leaves=1000/how="+how, func(b *testing.B) {
			for b.Loop() {
				dir := filepath.Join(b.TempDir(), "d")
				err := error(nil)
				if how == "write" {
					err = plainWrite(dir, td)
				} else {
					err = memmap.Save(dir, td)
				}
				require.NoError(b, err)
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "d")
	require.NoError(b, memmap.Save(dir, filled(b, 1000, 8, 16)))
	b.Run("leaves=1000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ds, err := memmap.Open(dir)
			if err != nil {
				b.Fatal(err)
			}
			if err := ds.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkMappedRows copies 256 random rows out of a mapped uint8 [40000 3 64 64]. how=copy is a
// plain copy loop over the mapped slice into a buffer that is used again, how=makecopy one into a
// new buffer.
func BenchmarkMappedRows(b *testing.B) {
	const all, width, n = 40_000, 3 * 64 * 64, 256
	dir := filepath.Join(b.TempDir(), "d")
	require.NoError(b, memmap.Save(dir, filled(b, 1, all, 3, 64, 64)))
	ds := tensor.Must(memmap.Open(dir))
	defer ds.Close()
	src := tensor.Must(tensor.Of[uint8](tensor.Must(ds.Tensor("leaf0000"))))
	rows, buf := make([]int, n), make([]byte, n*width)
	dst := tensor.Must(ds.Index(ix.Take(rows...)))
	gather := func(to []byte) {
		for i, row := range rows {
			copy(to[i*width:(i+1)*width], src[row*width:])
		}
	}
	kept := buf
	ways := []struct {
		name string
		run  func() error
	}{
		{"copy", func() error { gather(buf); return nil }},
		{"into", func() error { return ds.IndexInto(dst, ix.Take(rows...)) }},
		{"makecopy", func() error { kept = make([]byte, n*width); gather(kept); return nil }},
		{"fresh", func() error { _, err := ds.Index(ix.Take(rows...)); return err }},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, way := range ways {
		b.Run(fmt.Sprintf("rows=%d/how=%s", n, way.name), func(b *testing.B) {
			b.SetBytes(n * width)
			b.ReportAllocs()
			for b.Loop() {
				for i := range rows { // other rows each time, so that no cache helps
					rows[i] = rng.IntN(all)
				}
				if err := way.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
