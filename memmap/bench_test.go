package memmap_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
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
// sync a file, how=writeone the same into one file.
func BenchmarkSave(b *testing.B) {
	td := filled(b, 10, 50_000, 1000)
	ways := []struct {
		name string
		run  func(dir string) error
	}{
		{"write", func(dir string) error { return plainWrite(dir, td) }},
		{"save", func(dir string) error { return memmap.Save(dir, td) }},
		{"writeone", func(file string) error { return writeOne(file, td) }},
		{"archive", func(file string) error {
			return memmap.SaveWith(b.Context(), file, td, memmap.SaveOptions{Container: memmap.Archive})
		}},
	}
	for _, way := range ways {
		b.Run("bytes=500MB/how="+way.name, func(b *testing.B) {
			b.SetBytes(500_000_000)
			inNewDirs(b, way.run)
		})
	}
}

// inNewDirs times run in a directory that is not there yet, each time another, which it removes.
func inNewDirs(b *testing.B, run func(dir string) error) {
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		dir := filepath.Join(b.TempDir(), "d")
		b.StartTimer()
		if err := run(dir); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		require.NoError(b, os.RemoveAll(dir))
		b.StartTimer()
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

// writeOne writes the bytes of all leaves to one file and syncs it.
func writeOne(file string, td *tdict.TensorDict) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	for _, l := range td.Leaves() {
		data, err := tensor.Of[uint8](l.(*tensor.Tensor))
		if err != nil {
			return err
		}
		if _, err := f.Write(data); err != nil {
			return err
		}
	}
	return errors.Join(f.Sync(), f.Close())
}

// BenchmarkCopy copies 500 MB in 10 leaves from one form to the other. how=cp copies the one file
// of an archive and syncs the copy.
func BenchmarkCopy(b *testing.B) {
	dir, file := filepath.Join(b.TempDir(), "d"), filepath.Join(b.TempDir(), "a.tdz")
	require.NoError(b, memmap.Save(dir, filled(b, 10, 50_000, 1000)))
	require.NoError(b, memmap.Copy(b.Context(), dir, file, memmap.CopyOptions{}))
	copyAs := func(from, to string, form memmap.Container) error {
		return memmap.Copy(b.Context(), from, to, memmap.CopyOptions{Save: memmap.SaveOptions{Container: form}})
	}
	ways := []struct {
		name string
		run  func(to string) error
	}{
		{"cp", func(to string) error { return copyFile(file, to) }},
		{"pack", func(to string) error { return copyAs(dir, to, memmap.Archive) }},
		{"unpack", func(to string) error { return copyAs(file, to, memmap.Directory) }},
	}
	for _, way := range ways {
		b.Run("bytes=500MB/how="+way.name, func(b *testing.B) {
			b.SetBytes(500_000_000)
			inNewDirs(b, way.run)
		})
	}
}

// copyFile copies a file as cp does, and syncs the copy.
func copyFile(from, to string) error {
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{r}, make([]byte, 1<<18))
	return errors.Join(err, w.Sync(), w.Close())
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
	for _, leaves := range []int{1000, 10_000, 100_000} {
		for _, form := range []memmap.Container{memmap.Directory, memmap.Archive} {
			b.Run(fmt.Sprintf("leaves=%d/form=%v", leaves, form), func(b *testing.B) {
				at := filepath.Join(b.TempDir(), "d")
				opt := memmap.SaveOptions{NoSync: true, Container: form}
				require.NoError(b, memmap.SaveWith(b.Context(), at, filled(b, leaves, 8, 16), opt))
				b.ReportAllocs()
				for b.Loop() {
					ds, err := memmap.Open(at)
					if err != nil {
						b.Fatal(err)
					}
					if err := ds.Close(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
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
	live, err := memmap.OpenLive(dir, memmap.LiveOptions{})
	require.NoError(b, err)
	defer live.Close()
	file := filepath.Join(b.TempDir(), "d.tdz")
	require.NoError(b, memmap.Copy(b.Context(), dir, file, memmap.CopyOptions{}))
	packed := tensor.Must(memmap.Open(file))
	defer packed.Close()
	for i := range all - n { // so that no page is seen for the first time
		if i%n == 0 {
			require.NoError(b, packed.IndexInto(dst, ix.Range(i, i+n)))
		}
	}
	kept := buf
	ways := []struct {
		name string
		run  func() error
	}{
		{"copy", func() error { gather(buf); return nil }},
		{"into", func() error { return ds.IndexInto(dst, ix.Take(rows...)) }},
		{"archive", func() error { return packed.IndexInto(dst, ix.Take(rows...)) }},
		{"live", func() error {
			ds, err := live.Acquire()
			if err != nil {
				return err
			}
			return errors.Join(ds.IndexInto(dst, ix.Take(rows...)), live.Release(ds))
		}},
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

// BenchmarkVerify verifies 500 MB in 10 leaves. how=read only reads them, on as many goroutines.
func BenchmarkVerify(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "d")
	require.NoError(b, memmap.SaveWith(b.Context(), dir, filled(b, 10, 50_000, 1000), memmap.SaveOptions{NoSync: true}))
	files := tensor.Must(filepath.Glob(filepath.Join(dir, "*.memmap")))
	ways := []struct {
		name string
		run  func() error
	}{
		{"read", func() error {
			return workers.Do(b.Context(), len(files), 2, func(i int) error { return readAll(files[i]) })
		}},
		{"verify", func() error {
			_, err := memmap.Verify(b.Context(), dir, memmap.VerifyOptions{Workers: 2})
			return err
		}},
	}
	for _, way := range ways {
		b.Run("bytes=500MB/how="+way.name, func(b *testing.B) {
			b.SetBytes(500_000_000)
			b.ReportAllocs()
			for b.Loop() {
				if err := way.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func readAll(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	for buf := make([]byte, 1<<20); ; {
		if _, err := f.Read(buf); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// ragged10 returns 64 rows of 10 ragged leaves of 0 to 1984 bytes, 992 on average, each with a
// layout of its own.
func ragged10(b *testing.B) *tdict.TensorDict {
	td := tdict.New(64)
	for key, v := range filled(b, 10, 64*992).Tensors() {
		lengths := make([]int64, 64)
		for i := range lengths {
			lengths[i] = int64([]int{i, 63 - i}[i%2] * 1984 / 63)
		}
		sum := int64(0)
		for _, n := range lengths[:63] {
			sum += n
		}
		lengths[63] = 64*992 - sum
		layout, err := ragged.LayoutOf(shapeops.Shape{64}, lengths)
		require.NoError(b, err)
		require.NoError(b, td.Set(key, tensor.Must(ragged.New(v, layout))))
	}
	return td
}

// BenchmarkAppend appends batches of 64 rows of 10 leaves of 1000 bytes, 64 MB in all, and commits
// once; rows=ragged are of 0 to 1984 bytes. how=write is plain write calls of the same batches,
// with one sync a file; how=saverows is SaveRows of them.
func BenchmarkAppend(b *testing.B) {
	b.Run("rows=dense", func(b *testing.B) { appends(b, filled(b, 10, 64, 1000)) })
	b.Run("rows=ragged", func(b *testing.B) { appends(b, ragged10(b)) })
}

func appends(b *testing.B, batch *tdict.TensorDict) {
	const leaves, batches = 10, 100
	one := tensor.Must(batch.Index(ix.At(0)))
	ways := []struct {
		name string
		run  func(dir string) error
	}{
		{"write", func(dir string) error { return plainAppend(dir, batch, batches) }},
		{"saverows", func(dir string) error {
			return memmap.SaveRows(b.Context(), dir, func(yield func(*tdict.TensorDict, error) bool) {
				for n := 0; n < batches && yield(batch, nil); n++ {
				}
			}, memmap.SaveOptions{})
		}},
		{"append", func(dir string) error {
			w, err := memmap.NewWriter(dir, one, memmap.WriterOptions{})
			for range batches {
				if err == nil {
					err = w.Append(batch)
				}
			}
			if err != nil {
				return err
			}
			return errors.Join(w.Commit(), w.Close())
		}},
	}
	for _, way := range ways {
		b.Run("bytes=64MB/how="+way.name, func(b *testing.B) {
			b.SetBytes(batches * 64 * leaves * 1000)
			inNewDirs(b, way.run)
		})
	}
}

func plainAppend(dir string, batch *tdict.TensorDict, batches int) error {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	var files []*os.File
	var parts [][]byte
	add := func(name string, data []byte, err error) error {
		if err != nil {
			return err
		}
		f, err := os.Create(filepath.Join(dir, name))
		files, parts = append(files, f), append(parts, data)
		return err
	}
	for key, l := range batch.Leaves() {
		x, dense := l.(*tensor.Tensor)
		if !dense {
			if err := add(string(key)+".offsets", make([]byte, 8*64), nil); err != nil {
				return err
			}
			x = tensor.Must(l.(*ragged.Tensor).Values())
		}
		data, err := tensor.Of[uint8](x)
		if err := add(string(key), data, err); err != nil {
			return err
		}
	}
	for range batches {
		for i, f := range files {
			if _, err := f.Write(parts[i]); err != nil {
				return err
			}
		}
	}
	for _, f := range files {
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkCreate makes and fills 500 MB in 10 leaves, and flushes them. how=mmap is a mapped file
// a leaf by hand.
func BenchmarkCreate(b *testing.B) {
	const leaves, size = 10, 50_000_000
	zero := tensor.Must(tensor.Must(tensor.New(tensor.Uint8)).Expand(size))
	prototype := tdict.New(size)
	for i := range leaves {
		require.NoError(b, prototype.Set(nestedkey.Of(fmt.Sprint("leaf", i)), zero))
	}
	fill := func(s []byte) {
		for i := range s {
			s[i] = byte(i)
		}
	}
	ways := []struct {
		name string
		run  func(dir string) error
	}{
		{"mmap", func(dir string) error { return fillByHand(dir, leaves, size, fill) }},
		{"create", func(dir string) error {
			ds, err := memmap.Create(dir, prototype, memmap.CreateOptions{})
			if err != nil {
				return err
			}
			for _, x := range ds.Tensors() {
				if err := tensor.Write(x, fill); err != nil {
					return err
				}
			}
			return ds.Close()
		}},
	}
	for _, way := range ways {
		b.Run("bytes=500MB/how="+way.name, func(b *testing.B) {
			b.SetBytes(leaves * size)
			inNewDirs(b, way.run)
		})
	}
}

func fillByHand(dir string, leaves, size int, fill func([]byte)) error {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	for i := range leaves {
		f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			return err
		}
		if err := f.Truncate(int64(size)); err != nil {
			return err
		}
		m, err := mapping.Map(f, size, mapping.ReadWrite)
		if err != nil {
			return err
		}
		s, err := m.Acquire()
		if err != nil {
			return err
		}
		fill(s)
		m.Release()
		if err := errors.Join(m.Flush(), m.Close(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}
