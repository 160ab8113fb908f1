package arith_test

import (
	"testing"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/tensor"
)

func BenchmarkCumSum(b *testing.B) {
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.Int64} {
		for name, over := range map[string]arith.Over{"line": arith.Dims(1), "rows": arith.Dims(0)} {
			x := tensor.Must(tensor.Must(tensor.Full(0.5, 1000, 4000)).Cast(d))
			dst := tensor.Must(arith.CumSum(x, over))
			b.Run("dtype="+d.String()+"/along="+name, func(b *testing.B) {
				b.SetBytes(int64(x.Size() * d.Size()))
				for b.Loop() {
					if err := arith.CumSumInto(dst, x, over); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
