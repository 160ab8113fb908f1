package inspect_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// special are numbers of which many are among random ones.
var special = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -1, 0.5, 65504, math.MaxFloat64}

// layouts make a tensor of a shape from one of another, which they also say.
var layouts = map[string]struct {
	base func(shape []int) []int
	view func(x *tensor.Tensor, shape []int) (*tensor.Tensor, error)
}{
	"contiguous": {slices.Clone[[]int], func(x *tensor.Tensor, _ []int) (*tensor.Tensor, error) { return x, nil }},
	"transposed": {reversed, func(x *tensor.Tensor, shape []int) (*tensor.Tensor, error) {
		dims := make([]int, len(shape))
		for i := range dims {
			dims[i] = len(dims) - 1 - i
		}
		return x.Permute(dims...)
	}},
	"stepped": {doubled, func(x *tensor.Tensor, shape []int) (*tensor.Tensor, error) {
		return x.Index(slices.Repeat([]ix.Index{ix.Range(1, ix.End).Step(2)}, len(shape))...)
	}},
	"repeated": {oneRow, func(x *tensor.Tensor, shape []int) (*tensor.Tensor, error) { return x.Expand(shape...) }},
}

func reversed(shape []int) []int {
	shape = slices.Clone(shape)
	slices.Reverse(shape)
	return shape
}

func doubled(shape []int) []int {
	shape = slices.Clone(shape)
	for i := range shape {
		shape[i] = 2*shape[i] + 1
	}
	return shape
}

func oneRow(shape []int) []int {
	shape = slices.Clone(shape)
	if len(shape) > 0 {
		shape[0] = min(shape[0], 1)
	}
	return shape
}

// randomLike returns random elements in a layout.
func randomLike(t testing.TB, r *rand.Rand, dtype tensor.DType, layout string, shape ...int) *tensor.Tensor {
	t.Helper()
	l := layouts[layout]
	x, err := l.view(random(t, r, dtype, l.base(shape)...), shape)
	require.NoError(t, err)
	return x
}

// random returns random elements, many of them special.
func random(t testing.TB, r *rand.Rand, dtype tensor.DType, shape ...int) *tensor.Tensor {
	t.Helper()
	n := 1
	for _, size := range shape {
		n *= size
	}
	if dtype.IsInteger() || dtype == tensor.Bool {
		b := make([]byte, n*dtype.Size())
		for i := range b {
			b[i] = byte(r.Uint32())
			if dtype == tensor.Bool {
				b[i] &= 1
			} else if r.IntN(3) == 0 {
				b[i] = []byte{0, 0xff, 0x80}[r.IntN(3)]
			}
		}
		return tensor.Must(tensor.FromBytes(dtype, b, shape...))
	}
	number := func() float64 {
		if r.IntN(4) == 0 {
			return special[r.IntN(len(special))]
		}
		return r.NormFloat64() * 10
	}
	all := make([]complex128, n)
	for i := range all {
		all[i] = complex(number(), 0)
		if dtype.IsComplex() {
			all[i] = complex(number(), number())
		}
	}
	x := tensor.Must(tensor.From(all, shape...))
	if !dtype.IsComplex() {
		x = tensor.Must(x.Cast(tensor.Float64))
	}
	return tensor.Must(x.Cast(dtype))
}

// damage changes the last element of x, which is 3, in a dataset.
func damage(t testing.TB, path string) {
	t.Helper()
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "x.memmap")
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	three := []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x40, 0x40} // 1, 2, 3
	at := bytes.Index(text, three)
	require.GreaterOrEqual(t, at, 0)
	text[at+8] ^= 1
	require.NoError(t, os.WriteFile(path, text, 0o666))
}
