package tdict_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// BenchmarkPad pads leaves of float32 [32 4] by a row on either side. how=makecopy makes the same
// blocks and copies the same rows.
func BenchmarkPad(b *testing.B) {
	for _, leaves := range []int{1, 10, 100} {
		td := tdict.New(32)
		for i := range leaves {
			_ = td.Set(nestedkey.Key(fmt.Sprint("leaf", i)), tensor.Must(tensor.Full(float32(1), 32, 4)))
		}
		b.Run(fmt.Sprintf("leaves=%d/how=tdict", leaves), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = td.Pad(tdict.PadOptions{}, 1, 1)
			}
		})
		from := make([]float32, 32*4)
		b.Run(fmt.Sprintf("leaves=%d/how=makecopy", leaves), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for range leaves {
					to := make([]float32, 34*4)
					copy(to[4:], from)
					sink = to
				}
			}
		})
	}
}

var sink []float32

// visits are sequences of 1 to 63 rows, with leaves of 16, 4 and 1 features.
func visits(n int) []*tdict.TensorDict {
	rng := rand.New(rand.NewPCG(1, 2))
	out := make([]*tdict.TensorDict, n)
	for i := range out {
		rows := 1 + rng.IntN(63)
		out[i] = tdict.New(rows)
		for _, width := range []int{16, 4, 1} {
			_ = out[i].Set(nestedkey.Key(fmt.Sprint("w", width)), tensor.Must(tensor.Full(float32(1), rows, width)))
		}
	}
	return out
}

// BenchmarkPadSequence pads 64 sequences. how=loop copies them by hand into fresh memory.
func BenchmarkPadSequence(b *testing.B) {
	for _, n := range []int{64, 640, 6400} {
		tds := visits(n)
		longest := 0
		parts := map[int][][]float32{}
		for _, td := range tds {
			longest = max(longest, td.Shape()[0])
			for _, width := range []int{16, 4, 1} {
				s := tensor.Must(tdict.Slice[float32](td, nestedkey.Key(fmt.Sprint("w", width))))
				parts[width] = append(parts[width], s)
			}
		}
		b.Run(fmt.Sprintf("n=%d/how=tdict", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = shapeops.PadSequence(tds, shapeops.PadSequenceOptions{})
			}
		})
		b.Run(fmt.Sprintf("n=%d/how=masks", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _, _ = shapeops.PadSequenceMasked(tds, shapeops.PadSequenceOptions{})
			}
		})
		b.Run(fmt.Sprintf("n=%d/how=loop", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, width := range []int{16, 4, 1} {
					to := make([]float32, n*longest*width)
					for i, s := range parts[width] {
						copy(to[i*longest*width:], s)
					}
					sink = to
				}
			}
		})
	}
}

// BenchmarkGather gathers 4096 rows of 4000 bytes by an index tensor, into given memory. how=take
// does so by ix.Take.
func BenchmarkGather(b *testing.B) {
	td := tdict.New(8192)
	_ = td.Set("x", tensor.Must(tensor.New(tensor.Float32, 8192, 1000)))
	rng := rand.New(rand.NewPCG(1, 2))
	list, rows := make([]int64, 4096), make([]int, 4096)
	for i := range list {
		rows[i] = rng.IntN(8192)
		list[i] = int64(rows[i])
	}
	index, dst := tensor.Vector(list...), tensor.Must(td.NewZeros(4096))
	b.Run("how=take", func(b *testing.B) {
		for b.Loop() {
			_ = td.IndexInto(dst, ix.Take(rows...))
		}
	})
	b.Run("how=gather", func(b *testing.B) {
		for b.Loop() {
			_ = td.GatherInto(dst, 0, index)
		}
	})
}
