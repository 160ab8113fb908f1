package tensor_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/tensor"
)

// raggedRuns returns n runs of shortest to longest elements, side by side in the source and evenly
// spaced in a destination of so many, and how many elements they have.
func raggedRuns(n, shortest, longest, rows int) (runs []shape.Run, total int) {
	r := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		length := shortest + r.IntN(longest-shortest+1)
		runs = append(runs, shape.Run{To: rows / n * i, From: total, Len: length})
		total += length
	}
	return runs, total
}

// BenchmarkFillRuns pads short rows in memory that is there. how=setcopy sets as many bytes as are
// padding, at once, and copies as many as are not, each core its part.
func BenchmarkFillRuns(b *testing.B) {
	sizes := []struct {
		name                          string
		rows, runs, shortest, longest int
	}{
		{"136MB", 17_000_000, 10_000, 10, 400},
		{"2MB", 262_144, 6_500, 1, 20},
	}
	for _, size := range sizes {
		runs, total := raggedRuns(size.runs, size.shortest, size.longest, size.rows)
		src := tensor.Must(tensor.Full[int64](3, total))
		dst := tensor.Must(tensor.Full[int64](1, size.rows))
		to, from := tensor.Must(tensor.Of[int64](dst)), tensor.Must(tensor.Of[int64](src))
		for _, workers := range []int{1, 2} {
			for _, value := range []int64{0, 7} {
				b.Run(fmt.Sprintf("dst=%s/workers=%d/value=%d/how=fillruns", size.name, workers, value), func(b *testing.B) {
					fill := tensor.Scalar(value)
					b.SetBytes(int64(dst.ByteSize()))
					b.ReportAllocs()
					for b.Loop() {
						tr := tensor.Transfer{Workers: workers}
						_ = tr.FillRuns(dst, src, fill, runs)
						_ = tr.Run()
					}
				})
			}
			b.Run(fmt.Sprintf("dst=%s/workers=%d/how=setcopy", size.name, workers), func(b *testing.B) {
				b.SetBytes(int64(dst.ByteSize()))
				for b.Loop() {
					setCopy(to, from, workers)
				}
			})
		}
	}
}

// setCopy copies all of from to the end of to and clears the rest, each of several goroutines its
// part.
func setCopy(to, from []int64, workers int) {
	gap := len(to) - len(from)
	part := func(w int) {
		clear(to[gap*w/workers : gap*(w+1)/workers])
		lo, hi := len(from)*w/workers, len(from)*(w+1)/workers
		copy(to[gap+lo:gap+hi], from[lo:hi])
	}
	var wg sync.WaitGroup
	for w := 1; w < workers; w++ {
		wg.Go(func() { part(w) })
	}
	part(0)
	wg.Wait()
}
