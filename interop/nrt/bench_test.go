package nrt_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/tensor"
)

// hospital returns a collection of 1250 patients with some events each, and as many codes an event
// as shrink leaves of some 37: two fields of codes, one of events.
func hospital(b *testing.B, shrink int) *joint.Joint {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var events, codes []int64
	total := 0
	for range 1250 {
		k := 20 + rng.IntN(416)
		events = append(events, int64(k))
		for range k {
			n := (3 + rng.IntN(69)) / shrink
			codes, total = append(codes, int64(n)), total+n
		}
	}
	l := tensor.Must(ragged.LayoutOf([]int{1250}, events, codes))
	numbers := func(n int) *tensor.Tensor {
		v := make([]int64, n)
		for i := range v {
			v[i] = rng.Int64N(100)
		}
		return tensor.Vector(v...)
	}
	return tensor.Must(joint.New(
		field("dim_1", "", numbers(len(codes)), l.Outer()), field("dim_2_1", "", numbers(total), l), field("dim_2_2", "", numbers(total), l),
	))
}

// saveOnce returns the path and size of a file of a collection.
func saveOnce(b *testing.B, j *joint.Joint) (path string, size int64) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "data.nrt")
	require.NoError(b, nrt.Save(path, j))
	return path, tensor.Must(os.Stat(path)).Size()
}

// BenchmarkOpen opens and closes files of 285,000 events, whose codes differ in number: with all
// fields, and with the field of events only.
func BenchmarkOpen(b *testing.B) {
	for _, shrink := range []int{1, 16} {
		path, size := saveOnce(b, hospital(b, shrink))
		for _, keys := range [][]string{nil, {"dim_1"}} {
			b.Run(fmt.Sprintf("bytes=%dMB/keys=%d", size/1e6, len(keys)), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					f, err := nrt.OpenWith(path, nrt.Options{Keys: keys})
					if err = errors.Join(err, f.Close()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkRow goes to some events of a patient of an opened file, and to their codes.
func BenchmarkRow(b *testing.B) {
	path, _ := saveOnce(b, hospital(b, 16))
	f := open(b, path)
	for _, what := range []string{"joint", "values"} {
		b.Run("to="+what, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				j, err := f.Row(i % 1250)
				if err == nil {
					j, err = j.Range(2, 18)
				}
				if err == nil && what == "values" {
					_, err = tensor.Must(j.Tensor("dim_2_1")).Values()
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSave saves a file, from memory and from another file that is mapped. how=write is write
// calls of the same bytes, 8 MiB at a time; with sync=true it syncs the file and its directory, as
// a save does.
func BenchmarkSave(b *testing.B) {
	j := hospital(b, 1)
	from, size := saveOnce(b, j)
	f := open(b, from)
	plain := tensor.Must(os.ReadFile(from))
	for _, sync := range []bool{false, true} {
		opt := nrt.SaveOptions{NoSync: !sync}
		ways := []struct {
			name string
			run  func(path string) error
		}{
			{"write", func(path string) error { return plainWrite(path, plain, sync) }},
			{"save", func(path string) error { return nrt.SaveWith(b.Context(), path, j, opt) }},
			{"savemapped", func(path string) error { return nrt.SaveWith(b.Context(), path, f.Joint, opt) }},
		}
		for _, way := range ways {
			b.Run(fmt.Sprintf("sync=%v/how=%s", sync, way.name), func(b *testing.B) {
				b.SetBytes(size)
				inNewFiles(b, way.run)
			})
		}
	}
}

// inNewFiles times run with the path of a file that is not there yet, which it removes.
func inNewFiles(b *testing.B, run func(path string) error) {
	path := filepath.Join(b.TempDir(), "x")
	for b.Loop() {
		if err := run(path); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		require.NoError(b, os.Remove(path))
		b.StartTimer()
	}
}

func plainWrite(path string, data []byte, sync bool) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(data, 8<<20) {
		if _, err = f.Write(part); err != nil {
			break
		}
	}
	if err == nil && sync {
		err = errors.Join(f.Sync(), vfs.OS.SyncDir(filepath.Dir(path)))
	}
	return errors.Join(err, f.Close())
}
