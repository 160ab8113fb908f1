package tensor_test

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/tensor"
)

// A half16 is one of the two 16-bit formats.
type half16 struct {
	name      string
	of        func(x float64) uint16
	back      func(bits uint16) float64
	infinity  uint16
	threshold float64 // twice the largest power of two: where the next number would be
}

var halves = []half16{
	{"float16", func(x float64) uint16 { return uint16(tensor.F16Of(x)) },
		func(b uint16) float64 { return tensor.F16(b).Float64() }, 0x7c00, 1 << 16},
	{"bfloat16", func(x float64) uint16 { return uint16(tensor.BF16Of(x)) },
		func(b uint16) float64 { return tensor.BF16(b).Float64() }, 0x7f80, 1 << 127 * 2},
}

// value returns the number of bits without a sign; infinity is where the next number would be.
func (h half16) value(bits uint16) float64 {
	if bits == h.infinity {
		return h.threshold
	}
	return h.back(bits)
}

// middle returns the number halfway between two neighbours. It is a float64, as is their sum, so
// that comparing with it is exact.
func (h half16) middle(bits uint16) float64 { return h.value(bits)/2 + h.value(bits+1)/2 }

// nearest is the oracle: it looks for the last number that is not above |x|, and compares with the
// middle.
func (h half16) nearest(x float64) uint16 {
	sign := uint16(pick(math.Signbit(x), 0x8000, 0))
	x = math.Abs(x)
	if x >= h.threshold {
		return sign | h.infinity
	}
	bits := uint16(sort.Search(int(h.infinity), func(i int) bool { return h.value(uint16(i+1)) > x }))
	if m := h.middle(bits); x > m || x == m && bits&1 == 1 {
		bits++
	}
	return sign | bits
}

// Each of the 65536 numbers is what it says, is below the next, and comes back.
func TestHalfRoundTrip(t *testing.T) {
	for _, h := range halves {
		t.Run(h.name, func(t *testing.T) {
			for i := range 1 << 16 {
				bits := uint16(i)
				x, plain := h.back(bits), bits&0x7fff
				if plain > h.infinity {
					require.True(t, math.IsNaN(x), "%#x", bits)
					require.True(t, math.IsNaN(h.back(h.of(x))), "%#x", bits)
					continue
				}
				if got := h.of(x); got != bits || math.Signbit(x) != (i >= 0x8000) {
					t.Fatalf("%#x is %v, which is %#x", bits, x, got)
				}
				if plain > 0 && math.Abs(x) <= h.back(plain-1) {
					t.Fatalf("%#x is %v, not beyond the number before", bits, x)
				}
			}
		})
	}
}

func TestHalfRounds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, h := range halves {
		t.Run(h.name, func(t *testing.T) {
			check := func(x float64) {
				for _, x := range []float64{x, -x} {
					if got, want := h.of(x), h.nearest(x); got != want {
						t.Fatalf("%v: got %#x, want %#x", x, got, want)
					}
				}
			}
			for bits := range h.infinity { // halfway to the next number, infinity included, and just beside that
				m := h.middle(bits)
				check(m)
				check(math.Nextafter(m, 0))
				check(math.Nextafter(m, math.Inf(1)))
			}
			for range 20000 {
				check(math.Ldexp(1+r.Float64(), r.IntN(320)-160))
			}
			check(math.SmallestNonzeroFloat64)
			check(math.MaxFloat64)
		})
	}
}

func TestHalfKnownValues(t *testing.T) {
	tests := []struct {
		name string
		x    float64
		half tensor.F16
		bf   tensor.BF16
	}{
		{"one", 1, 0x3c00, 0x3f80},
		{"minus two", -2, 0xc000, 0xc000},
		{"a third", 1.0 / 3, 0x3555, 0x3eab},
		{"zero", 0, 0, 0},
		{"minus zero", math.Copysign(0, -1), 0x8000, 0x8000},
		{"the largest float16", 65504, 0x7bff, 0x4780},
		{"just below the middle to infinity", 65519, 0x7bff, 0x4780},
		{"the middle to infinity", 65520, 0x7c00, 0x4780},
		{"the smallest float16", 0x1p-24, 0x0001, 0x3380},
		{"half of the smallest float16", 0x1p-25, 0, 0x3300},
		{"the smallest normal float16", 0x1p-14, 0x0400, 0x3880},
		{"the smallest bfloat16", 0x1p-133, 0, 0x0001},
		{"infinity", math.Inf(1), 0x7c00, 0x7f80},
		{"minus infinity", math.Inf(-1), 0xfc00, 0xff80},
		{"not a number", math.NaN(), 0x7e00, 0x7fc0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.half, tensor.F16Of(tt.x))
			require.Equal(t, tt.bf, tensor.BF16Of(tt.x))
		})
	}
}
