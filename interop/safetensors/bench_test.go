package safetensors_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// filled returns a dictionary of tensors of uint8 [rows width], with no page of them untouched.
func filled(b *testing.B, tensors, rows, width int) *tdict.TensorDict {
	b.Helper()
	td := tdict.New(rows)
	for i := range tensors {
		x := tensor.Must(tensor.New(tensor.Uint8, rows, width))
		s := tensor.Must(tensor.Of[uint8](x))
		for j := range s {
			s[j] = uint8(j + i)
		}
		require.NoError(b, td.Set(nestedkey.Of(fmt.Sprintf("x%06d", i)), x))
	}
	return td
}

// both saves td as a file and as a directory, and returns what opens each.
func both(b *testing.B, td *tdict.TensorDict) map[string]func() (*tdict.TensorDict, io.Closer) {
	b.Helper()
	dir, path := filepath.Join(b.TempDir(), "d"), filepath.Join(b.TempDir(), "x")
	require.NoError(b, memmap.SaveWith(b.Context(), dir, td, memmap.SaveOptions{NoSync: true}))
	require.NoError(b, safetensors.SaveWith(b.Context(), path, td, safetensors.SaveOptions{NoSync: true}))
	return map[string]func() (*tdict.TensorDict, io.Closer){
		"directory": func() (*tdict.TensorDict, io.Closer) {
			ds := tensor.Must(memmap.Open(dir))
			return ds.TensorDict, ds
		},
		"file": func() (*tdict.TensorDict, io.Closer) {
			f := tensor.Must(safetensors.Open(path))
			return f.TensorDict, f
		},
	}
}

// BenchmarkOpen opens and closes 500 MB in 10 tensors, and small tensors in numbers, in a file and
// in a directory.
func BenchmarkOpen(b *testing.B) {
	for _, size := range [][3]int{{10, 50_000, 1000}, {1000, 8, 16}, {10_000, 8, 16}, {100_000, 2, 1}} {
		ways := both(b, filled(b, size[0], size[1], size[2]))
		for _, how := range []string{"directory", "file"} {
			b.Run(fmt.Sprintf("tensors=%d/bytes=%d/how=%s", size[0], size[0]*size[1]*size[2], how), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, c := ways[how]()
					require.NoError(b, c.Close())
				}
			})
		}
	}
}

// BenchmarkRows copies 256 random rows of 12 KiB to memory that is there, from a directory, where
// they begin at pages, and from a file, where they begin anywhere, in turn. It reports how much
// longer the file takes, by the least of all times and by their medians. All pages were read
// before.
func BenchmarkRows(b *testing.B) {
	const rows, width = 20_000, 12 << 10
	ways := both(b, filled(b, 1, rows, width))
	hows := []string{"directory", "file"}
	from, times := map[string]*tdict.TensorDict{}, map[string][]time.Duration{}
	for _, how := range hows {
		td, c := ways[how]()
		defer c.Close()
		require.NoError(b, testkit.Err(td.Clone()))
		from[how] = td
	}
	dst := tensor.Must(from["file"].NewZeros(256))
	rng := rand.New(rand.NewPCG(1, 2))
	list := make([]int, 256)
	b.SetBytes(2 * 256 * width)
	for i := 0; b.Loop(); i++ {
		for _, how := range []string{hows[i%2], hows[1-i%2]} { // each is first as often
			for i := range list {
				list[i] = rng.IntN(rows)
			}
			start := time.Now()
			if err := from[how].IndexInto(dst, ix.Take(list...)); err != nil {
				b.Fatal(err)
			}
			times[how] = append(times[how], time.Since(start))
		}
	}
	for name, at := range map[string]int{"least": 0, "median": len(times["file"]) / 2} {
		for _, how := range hows {
			slices.Sort(times[how])
		}
		b.ReportMetric(float64(times["file"][at])/float64(times["directory"][at]), "file/directory-"+name)
	}
}

// BenchmarkSave saves 500 MB in 10 tensors. how=write is write calls of the same bytes, and a sync
// of the file and its directory.
func BenchmarkSave(b *testing.B) {
	td := filled(b, 10, 50_000, 1000)
	for _, how := range []string{"write", "save", "write", "save"} {
		b.Run("bytes=500MB/how="+how, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "x")
			b.SetBytes(500_000_000)
			for b.Loop() {
				err := error(nil)
				if how == "save" {
					err = safetensors.Save(path, td)
				} else {
					err = plainWrite(path, td)
				}
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				require.NoError(b, os.Remove(path))
				b.StartTimer()
			}
		})
	}
}

func plainWrite(path string, td *tdict.TensorDict) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for _, x := range td.Tensors() {
		s := tensor.Must(tensor.Of[uint8](x))
		for len(s) > 0 && err == nil {
			n := min(len(s), 8<<20)
			_, err = f.Write(s[:n])
			s = s[n:]
		}
	}
	if err == nil {
		err = errors.Join(f.Sync(), vfs.OS.SyncDir(filepath.Dir(path)))
	}
	return errors.Join(err, f.Close())
}
