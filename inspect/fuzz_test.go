package inspect_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// fuzzed returns a dtype, a layout and a shape of at most 4,000 elements that numbers stand for.
func fuzzed(kind, layout uint8, a, b, c uint8) (tensor.DType, string, []int) {
	all := []string{"contiguous", "transposed", "stepped", "repeated"}
	dtypes := tensor.DTypes()
	shape := []int{int(a) % 21, int(b) % 13, int(c) % 17}
	return dtypes[int(kind)%len(dtypes)], all[int(layout)%len(all)], shape[:int(kind/16)%4]
}

func FuzzDescribe(f *testing.F) {
	f.Add(uint64(1), uint8(60), uint8(1), uint8(20), uint8(12), uint8(16), int8(-1))
	f.Add(uint64(2), uint8(58), uint8(3), uint8(5), uint8(0), uint8(4), int8(2))
	f.Fuzz(func(t *testing.T, seed uint64, kind, layout, a, b, c uint8, dims int8) {
		r := rand.New(rand.NewPCG(seed, 0))
		dtype, name, shape := fuzzed(kind, layout, a, b, c)
		x := randomLike(t, r, dtype, name, shape...)
		td := tdict.New()
		require.NoError(t, td.Set("x", x))
		opt := inspect.DescribeOptions{Keys: []nestedkey.Key{"x"}, Quantiles: quantiles, Workers: 1 + int(seed%3)}
		var there []bool
		if dims >= 0 {
			var mask *tensor.Tensor
			mask, there = maskOf(t, r, name, shape, int(dims)%(len(shape)+1))
			require.NoError(t, td.Set("x_mask", mask))
			opt.Mask = "x_mask"
		}
		got := describe(t, td, opt)
		want := naively(t, inspect.Summary{Key: "x", DType: dtype}, numbersOf(t, x), there)
		if got[0].Count-got[0].NaN > 1024 { // approximate
			want.Quantiles, got[0].Quantiles = nil, nil
		}
		same(t, want, got[0])
	})
}

func FuzzDifferences(f *testing.F) {
	f.Add(uint64(1), uint8(60), uint8(1), uint8(20), uint8(12), uint8(16), 0.5, 0., false)
	f.Add(uint64(2), uint8(58), uint8(2), uint8(5), uint8(1), uint8(4), 0., 3., true)
	f.Fuzz(func(t *testing.T, seed uint64, kind, layout, a, b, c uint8, rtol, atol float64, nan bool) {
		if !(rtol >= 0) || !(atol >= 0) {
			return
		}
		r := rand.New(rand.NewPCG(seed, 0))
		dtype, name, shape := fuzzed(kind, layout, a, b, c)
		if slices.Contains([]tensor.DType{tensor.Int64, tensor.Uint64}, dtype) {
			rtol, atol = 0, 0 // which the loops would round
		}
		x := randomLike(t, r, dtype, name, shape...)
		opt := inspect.DifferencesOptions{Tolerance: tensor.Tolerance{Relative: rtol, Absolute: atol, EqualNaN: !nan}, Most: int(seed%7) - 1, Workers: 1 + int(seed%3)}
		compareNaively(t, x, scattered(t, r, x, []string{"contiguous", "transposed", "stepped"}[seed%3]), opt)
	})
}

// FuzzBins has any bytes as values of any dtype, and a mask made of the last bits of other bytes.
func FuzzBins(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\xf0\x7f\x00\x00\x00\x00\x00\x00\xf0\xff\x01\x00\x00\x00\x00\x00\x00\x00"), uint8(12), []byte{})
	f.Add([]byte("some bytes that are numbers, and some more of them, up to the end of this text"), uint8(4), []byte("a mask"))
	f.Add(bytes.Repeat([]byte("\x00\x3c\x01\x3c\x00\x04\xff\x7b"), 30), uint8(9), []byte{})
	f.Fuzz(func(t *testing.T, data []byte, kind uint8, hide []byte) {
		dtypes := tensor.DTypes()
		dtype := dtypes[int(kind)%len(dtypes)]
		n := min(len(data)/dtype.Size(), 1500)
		data = slices.Clone(data[:n*dtype.Size()])
		if dtype == tensor.Bool {
			for i := range data {
				data[i] &= 1
			}
		}
		x := tensor.Must(tensor.FromBytes(dtype, data, n))
		if len(hide) == 0 {
			checkBins(t, x, nil, nil, 1)
			return
		}
		there := make([]bool, n)
		for i := range there {
			there[i] = hide[i%len(hide)]&1 == 0
		}
		checkBins(t, x, tensor.Vector(there...), there, 2)
	})
}
