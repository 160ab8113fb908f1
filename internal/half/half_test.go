package half_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/half"
)

// each runs a test of both formats.
func each(t *testing.T, test func(t *testing.T, f format)) {
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) { test(t, f) })
	}
}

// all returns every pattern of 16 bits.
func all() []uint16 {
	bits := make([]uint16, 1<<16)
	for i := range bits {
		bits[i] = uint16(i)
	}
	return bits
}

func TestWiden(t *testing.T) {
	each(t, func(t *testing.T, f format) {
		wide := make([]float32, 1<<16)
		f.slice(wide, all())
		for i, x := range wide {
			bits := uint16(i)
			require.Equal(t, math.Float32bits(x), math.Float32bits(f.to(bits)), "the slice holds %#x", bits)
			if bits&0x7fff > f.infinite() {
				f.checkNaN(t, bits, x)
			} else if want := f.widen(bits); math.Float64bits(float64(x)) != math.Float64bits(want) {
				t.Fatalf("%#x: got %v, want %v", bits, x, want)
			}
		}
	})
}

// checkNaN checks that a NaN keeps its sign and its payload, and that it is quiet where it must be.
func (f format) checkNaN(t *testing.T, bits uint16, x float32) {
	t.Helper()
	fraction := uint32(bits&(1<<f.frac-1)) << (23 - f.frac)
	if f.quiets {
		fraction |= 1 << 22
	}
	want := uint32(bits&0x8000)<<16 | 0xff<<23 | fraction
	require.Equal(t, want, math.Float32bits(x), "%#x", bits)
}

// check compares what x and -x are narrowed to, by each function.
func (f format) check(t *testing.T, x float64) {
	t.Helper()
	for _, x := range []float64{x, -x} {
		if got, want := f.from(x), f.narrow(x); got != want {
			t.Fatalf("%v (%#x): got %#x, want %#x", x, math.Float64bits(x), got, want)
		}
		var out [1]uint16
		if f.from64(out[:], []float64{x}); out[0] != f.narrow(x) {
			t.Fatalf("%v in a slice: got %#x, want %#x", x, out[0], f.narrow(x))
		}
		y := float32(x)
		if f.from32(out[:], []float32{y}); out[0] != f.narrow(float64(y)) {
			t.Fatalf("float32 %v: got %#x, want %#x", y, out[0], f.narrow(float64(y)))
		}
	}
}

// TestNarrowBesideNumbers narrows each number, what is halfway to the next, infinity included, and
// what is just beside these.
func TestNarrowBesideNumbers(t *testing.T) {
	each(t, func(t *testing.T, f format) {
		for bits := range f.infinite() {
			require.Equal(t, bits, f.from(f.widen(bits)))
			for _, x := range []float64{f.widen(bits), f.middle(bits)} {
				f.check(t, x)
				f.check(t, math.Nextafter(x, 0))
				f.check(t, math.Nextafter(x, math.Inf(1)))
				f.check(t, float64(math.Nextafter32(float32(x), 0)))
				f.check(t, float64(math.Nextafter32(float32(x), math.MaxFloat32)))
			}
		}
	})
}

func TestNarrowAtRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	each(t, func(t *testing.T, f format) {
		for range 200_000 {
			f.check(t, math.Float64frombits(r.Uint64()))
			f.check(t, float64(math.Float32frombits(r.Uint32())))
			f.check(t, math.Ldexp(1+r.Float64(), r.IntN(320)-160))
			f.check(t, math.Ldexp(1+r.Float64(), r.IntN(48)-28))
		}
	})
}

func TestNarrowKnownValues(t *testing.T) {
	tests := []struct {
		name      string
		x         float64
		f16, bf16 uint16
	}{
		{"one", 1, 0x3c00, 0x3f80},
		{"minus two", -2, 0xc000, 0xc000},
		{"a third", 1.0 / 3, 0x3555, 0x3eab},
		{"zero", 0, 0, 0},
		{"minus zero", math.Copysign(0, -1), 0x8000, 0x8000},
		{"the largest float16", 65504, 0x7bff, 0x4780},
		{"just below the middle to infinity", math.Nextafter(65520, 0), 0x7bff, 0x4780},
		{"the middle to infinity", 65520, half.F16Inf, 0x4780},
		{"the largest bfloat16", 0x1.fep127, half.F16Inf, 0x7f7f},
		{"just below its middle to infinity", math.Nextafter(0x1.ffp127, 0), half.F16Inf, 0x7f7f},
		{"its middle to infinity", 0x1.ffp127, half.F16Inf, half.BF16Inf},
		{"the largest float64", math.MaxFloat64, half.F16Inf, half.BF16Inf},
		{"the smallest normal float16", 0x1p-14, 0x0400, 0x3880},
		{"what rounds up to that", 0x1.ffep-15, 0x0400, 0x3880},
		{"the smallest float16", 0x1p-24, 0x0001, 0x3380},
		{"half of that", 0x1p-25, 0, 0x3300},
		{"a little more", math.Nextafter(0x1p-25, 1), 0x0001, 0x3300},
		{"the smallest bfloat16", 0x1p-133, 0, 0x0001},
		{"the smallest float64", 5e-324, 0, 0},
		{"a tie that float32 would have hidden", 1 + 0x1p-11 + 0x1p-40, 0x3c01, 0x3f80},
		{"infinity", math.Inf(1), 0x7c00, 0x7f80},
		{"minus infinity", math.Inf(-1), 0xfc00, 0xff80},
		{"not a number", math.NaN(), 0x7e00, 0x7fc0},
		{"with a sign", math.Float64frombits(0xfff8 << 48), 0xfe00, 0xffc0},
		{"with a payload", math.Float64frombits(0x7ff8<<48 | 0xabc), 0x7e00, 0x7fc0},
		{"that signals", math.Float64frombits(0xfff0<<48 | 1), 0xfe00, 0xffc0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.f16, half.F16From(tt.x))
			require.Equal(t, tt.bf16, half.BF16From(tt.x))
		})
	}
}

// TestNarrowNaNs narrows every NaN that a float32 has for some payloads, as a float32 and as the
// float64 that it widens to.
func TestNarrowNaNs(t *testing.T) {
	each(t, func(t *testing.T, f format) {
		for _, sign := range []uint32{0, 1 << 31} {
			for payload := uint32(1); payload < 1<<23; payload += 1 + payload/7 {
				x := math.Float32frombits(sign | 0xff<<23 | payload)
				want := uint16(sign>>16) | f.infinite() | 1<<(f.frac-1)
				var out [1]uint16
				f.from32(out[:], []float32{x})
				require.Equal(t, want, out[0], "%#x", payload)
				require.Equal(t, want, f.from(float64(x)), "%#x", payload)
			}
		}
	})
}

func TestNarrowIntegers(t *testing.T) {
	ints := []int64{0, 1, -1, 2047, 2048, 2049, 2051, 65519, 65520, -65520, 1<<53 + 1, math.MaxInt64, math.MinInt64}
	f16, bf16 := make([]uint16, len(ints)), make([]uint16, len(ints))
	half.NarrowF16(f16, ints)
	half.NarrowBF16(bf16, ints)
	for i, v := range ints {
		require.Equal(t, formats[0].narrow(float64(v)), f16[i], "%d", v)
		require.Equal(t, formats[1].narrow(float64(v)), bf16[i], "%d", v)
	}
}

// TestSlices: as many numbers are set as the destination holds, and the source may hold more.
func TestSlices(t *testing.T) {
	each(t, func(t *testing.T, f format) {
		for _, n := range []int{0, 1, 3, 8} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				wide, narrow := make([]float32, 9), make([]uint16, 9)
				f.slice(wide[:n], []uint16{1, 2, 3, 4, 5, 6, 7, 8})
				f.from32(narrow[:n], wide)
				for i := range narrow {
					want := uint16(i + 1)
					if i >= n {
						want = 0
					}
					require.Equal(t, want, narrow[i])
				}
			})
		}
		require.Panics(t, func() { f.slice(make([]float32, 2), make([]uint16, 1)) })
		require.Panics(t, func() { f.from32(make([]uint16, 2), make([]float32, 1)) })
		require.Panics(t, func() { f.from64(make([]uint16, 2), make([]float64, 1)) })
	})
}

// FuzzNarrow compares any float64, and the float32 in its upper half, with the reference.
func FuzzNarrow(f *testing.F) {
	for _, x := range []float64{0, -1, 65519.99, 65520, 0x1p-24, 0x1p-25, 0x1.ffp127, 1e300, math.Inf(-1), math.NaN()} {
		f.Add(math.Float64bits(x))
		f.Add(uint64(math.Float32bits(float32(x))) << 32)
	}
	f.Fuzz(func(t *testing.T, bits uint64) {
		for _, format := range formats {
			format.check(t, math.Float64frombits(bits))
			format.check(t, float64(math.Float32frombits(uint32(bits>>32))))
			if h := uint16(bits); h&0x7fff <= format.infinite() {
				require.Equal(t, h, format.from(float64(format.to(h))), "there and back")
			}
		}
	})
}
