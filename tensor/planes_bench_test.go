package tensor_test

import (
	"fmt"
	"testing"

	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/tensor"
)

// BenchmarkPermute copies 64 MB that lie in another order of dims into given memory. how=copy is a
// plain copy of the same bytes, on the same cores.
func BenchmarkPermute(b *testing.B) {
	for _, dtype := range []tensor.DType{tensor.Uint8, tensor.Float16, tensor.Float32, tensor.Float64, tensor.Complex128} {
		for _, odd := range []int{0, 1} {
			n := 4096 + 3*odd
			m := benchBytes/dtype.Size()/4096 + 5*odd
			k := 64 + odd
			for _, c := range []struct {
				name  string
				shape shape.Shape
				dims  []int
			}{
				{"transpose", shape.Shape{m, n}, []int{1, 0}},
				{"last-two", shape.Shape{benchBytes / dtype.Size() / k / k, k, k}, []int{0, 2, 1}},
				{"last-first", shape.Shape{m / k, k, n}, []int{2, 0, 1}},
				{"four", shape.Shape{benchBytes / dtype.Size() / k / k / k, k, k, k}, []int{3, 1, 2, 0}},
				{"short", shape.Shape{benchBytes / dtype.Size() / 8, 8}, []int{1, 0}},
			} {
				x := filled(b, dtype, c.shape)
				turned := tensor.Must(x.Permute(c.dims...))
				dst := filled(b, dtype, turned.Shape())
				plain := filled(b, dtype, x.Shape())
				for how, fn := range map[string]func() error{
					"tensor": func() error { return dst.CopyFrom(turned) },
					"copy":   func() error { return plain.CopyFrom(x) },
				} {
					b.Run(fmt.Sprintf("dtype=%s/odd=%d/order=%s/how=%s", dtype, odd, c.name, how), func(b *testing.B) {
						b.SetBytes(int64(x.ByteSize()))
						for b.Loop() {
							if err := fn(); err != nil {
								b.Fatal(err)
							}
						}
					})
				}
			}
		}
	}
}

// filled returns a tensor of ones: memory that was never written is one page of zeros, in the
// cache.
func filled(b *testing.B, dtype tensor.DType, sizes shape.Shape) *tensor.Tensor {
	x, err := tensor.Must(tensor.Full(uint8(1), sizes...)).Cast(dtype)
	if err != nil {
		b.Fatal(err)
	}
	return x
}
