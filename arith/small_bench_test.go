package arith_test

import (
	"fmt"
	"testing"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// BenchmarkAddSmall adds a number to leaves of [32 4] float32; how=loops does it by hand, with a
// slice made for each.
func BenchmarkAddSmall(b *testing.B) {
	for _, leaves := range []int{10, 1000} {
		td := tdict.New(32)
		for i := range leaves {
			x := tensor.Must(tensor.Zeros[float32](32, 4))
			if err := td.Set(nestedkey.Key(fmt.Sprint("leaf", i)), x); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("leaves=%d/how=loops", leaves), func(b *testing.B) { addByHand(b, td) })
		b.Run(fmt.Sprintf("leaves=%d/how=arith", leaves), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := arith.Add(td, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

var kept []float32 // so that what is made is on the heap

func addByHand(b *testing.B, td *tdict.TensorDict) {
	var all [][]float32
	for _, x := range td.Tensors() {
		all = append(all, tensor.Must(tensor.Of[float32](x)))
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range all {
			out := make([]float32, len(s))
			for i, v := range s {
				out[i] = v + 1
			}
			kept = out
		}
	}
}
