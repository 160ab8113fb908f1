package arith_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// FuzzWhere checks the effect of Where in place: each element is x's or other's, as the mask says,
// bytes beside the elements stay, and errors are classified.
func FuzzWhere(f *testing.F) {
	f.Add([]byte{1, 0, 1}, []byte("some bytes to choose from"), uint8(3), uint8(2), uint8(3), false)
	f.Add([]byte{0, 2}, []byte{9}, uint8(1), uint8(1), uint8(1), true)
	f.Fuzz(func(t *testing.T, bits, data []byte, kind, rows, wide uint8, turned bool) {
		dtypes := tensor.DTypes()
		d, n, w := dtypes[int(kind)%len(dtypes)], int(rows%40), int(wide%40)
		size := n * w * d.Size()
		mem, other := make([]byte, size+2), make([]byte, size)
		copy(mem, data)
		copy(other, append(data, bits...))
		x := tensor.Must(tensor.FromBytes(d, mem[1:1+size], n, w))
		y := tensor.Must(tensor.FromBytes(d, other, n, w))
		mask := tensor.Must(tensor.FromBytes(tensor.Bool, bits, len(bits)))
		if turned {
			x, y = tensor.Must(x.Permute(1, 0)), tensor.Must(y.Permute(1, 0))
		}
		if len(bits) == n*w {
			mask = tensor.Must(mask.Reshape(x.Shape()...))
		}
		first, last := mem[0], mem[size+1]
		before, no := testkit.Content(t, x), testkit.Content(t, y)
		err := arith.WhereInto(x, mask, x, y)
		require.Equal(t, []byte{first, last}, []byte{mem[0], mem[size+1]})
		if err != nil {
			require.True(t, errors.Is(err, tensor.ErrDType) || errors.Is(err, shapeops.ErrShape), err)
			require.Equal(t, before, testkit.Content(t, x))
			return
		}
		require.Equal(t, picked(t, mask, before, no, x.Shape(), d.Size()), testkit.Content(t, x))
	})
}

// FuzzVerbs checks the operations that work on each element by itself against the plainest
// arithmetic.
func FuzzVerbs(f *testing.F) {
	for v := range elementVerbs {
		f.Add(uint64(v), uint8(v), uint8(v*7), uint8(3), uint8(2))
	}
	f.Fuzz(func(t *testing.T, seed uint64, v, d, rows, wide uint8) {
		r := rand.New(rand.NewPCG(seed, 1))
		verb, dtype := elementVerbs[int(v)%len(elementVerbs)], tensor.DTypes()[int(d)%len(tensor.DTypes())]
		shape := []int{int(rows % 9), int(wide % 9)}
		xs := []tens{drawn(r, dtype, shape)}
		for range verb.others {
			xs = append(xs, drawn(r, dtype, broadcastable(r, shape)))
		}
		checkElementVerb(t, verb, dtype, xs)
	})
}
