package tensor_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// BenchmarkRuns moves runs of 1 to 16 rows of 64 bytes, a million rows in all, in another order.
// how=copy is a plain copy loop over the same runs.
func BenchmarkRuns(b *testing.B) {
	const rows, width = 1_000_000, 64
	src := tensor.Must(tensor.New(tensor.Uint8, rows, width))
	dst := tensor.Must(tensor.New(tensor.Uint8, rows, width))
	runs := shuffledRuns(rows)
	from, to := tensor.Must(tensor.Of[uint8](src)), tensor.Must(tensor.Of[uint8](dst))
	b.Run("how=copy", func(b *testing.B) {
		b.SetBytes(rows * width)
		for b.Loop() {
			for _, r := range runs {
				copy(to[r.To*width:(r.To+r.Len)*width], from[r.From*width:])
			}
		}
	})
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("how=runs/workers=%d", workers), func(b *testing.B) {
			b.SetBytes(rows * width)
			b.ReportAllocs()
			tr := tensor.Transfer{Workers: workers}
			for b.Loop() {
				tr.Reset()
				if err := tr.Runs(dst, src, runs); err != nil {
					b.Fatal(err)
				}
				if err := tr.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// shuffledRuns cuts so many rows into runs, which come one after the other, from places in another
// order.
func shuffledRuns(rows int) []shapeops.Run {
	rng := rand.New(rand.NewPCG(3, 4))
	var runs []shapeops.Run
	for at := 0; at < rows; at += runs[len(runs)-1].Len {
		runs = append(runs, shapeops.Run{From: at, Len: min(1+rng.IntN(16), rows-at)})
	}
	rng.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	at := 0
	for i := range runs {
		runs[i].To = at
		at += runs[i].Len
	}
	return runs
}

// BenchmarkFill fills 4 MiB with one element. how=loop is a plain loop over a slice.
func BenchmarkFill(b *testing.B) {
	const n = 1 << 20
	dst := tensor.Must(tensor.Zeros[float32](n))
	to, value := tensor.Must(tensor.Of[float32](dst)), tensor.Scalar[float32](7)
	b.Run("how=loop", func(b *testing.B) {
		b.SetBytes(4 * n)
		for b.Loop() {
			for i := range to {
				to[i] = 7
			}
		}
	})
	b.Run("how=fill", func(b *testing.B) {
		b.SetBytes(4 * n)
		for b.Loop() {
			var tr tensor.Transfer
			if err := tr.Fill(dst, value); err != nil {
				b.Fatal(err)
			}
			if err := tr.Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
