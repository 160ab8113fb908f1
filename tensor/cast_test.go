package tensor_test

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/tensor"
)

func pick(first bool, a, b int) int {
	if first {
		return a
	}
	return b
}

// A number is any value of any dtype, exactly. re and im keep the sign of zero.
type number struct {
	re, im *big.Float // nil: not a number
}

func (n number) String() string { return fmt.Sprintf("%v%+vi", n.re, n.im) }

// same reports whether two parts of a number are equal, 0 and -0 not being so.
func same(a, b *big.Float) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Cmp(b) == 0 && a.Signbit() == b.Signbit()
}

func exact(x float64) *big.Float {
	if math.IsNaN(x) {
		return nil
	}
	return new(big.Float).SetFloat64(x)
}

// numberOf reads an element.
func numberOf(e any) number {
	switch h := e.(type) {
	case tensor.F16:
		e = h.Float64()
	case tensor.BF16:
		e = h.Float64()
	}
	switch v := reflect.ValueOf(e); {
	case v.Kind() == reflect.Bool:
		return number{exact(float64(pick(v.Bool(), 1, 0))), exact(0)}
	case v.CanInt():
		return number{new(big.Float).SetInt64(v.Int()), exact(0)}
	case v.CanUint():
		return number{new(big.Float).SetUint64(v.Uint()), exact(0)}
	case v.CanFloat():
		return number{exact(v.Float()), exact(0)}
	default:
		return number{exact(real(v.Complex())), exact(imag(v.Complex()))}
	}
}

// cast is the oracle: what the documentation of Tensor.Cast says a number becomes.
func (n number) cast(to tensor.DType) number {
	switch {
	case to == tensor.Bool:
		zero := n.re != nil && n.re.Sign() == 0 && n.im != nil && n.im.Sign() == 0
		return numberOf(!zero)
	case to.IsInteger():
		return number{saturated(n.re, to), exact(0)}
	case to == tensor.Complex64:
		return number{rounded(n.re, tensor.Float32), rounded(n.im, tensor.Float32)}
	case to == tensor.Complex128:
		return number{rounded(n.re, tensor.Float64), rounded(n.im, tensor.Float64)}
	}
	return number{rounded(n.re, to), exact(0)}
}

// saturated cuts x towards zero and brings it into the range of an integer dtype.
func saturated(x *big.Float, to tensor.DType) *big.Float {
	one, low, high := big.NewInt(1), new(big.Int), new(big.Int)
	bits := uint(8 * to.Size())
	if to >= tensor.Int8 {
		bits--
		low.Neg(new(big.Int).Lsh(one, bits))
	}
	high.Sub(new(big.Int).Lsh(one, bits), one)
	switch {
	case x == nil:
		return exact(0)
	case x.IsInf() && x.Sign() < 0:
		return new(big.Float).SetInt(low)
	case x.IsInf():
		return new(big.Float).SetInt(high)
	}
	i, _ := x.Int(nil)
	if i.Cmp(low) < 0 {
		i = low
	}
	if i.Cmp(high) > 0 {
		i = high
	}
	return new(big.Float).SetInt(i)
}

// rounded returns the nearest number of a floating-point dtype. The 16-bit ones are reached by way
// of float64.
func rounded(x *big.Float, to tensor.DType) *big.Float {
	if x == nil {
		return nil
	}
	if to == tensor.Float32 {
		f, _ := x.Float32()
		return exact(float64(f))
	}
	f, _ := x.Float64()
	switch to {
	case tensor.Float16:
		f = halves[0].back(halves[0].nearest(f))
	case tensor.BFloat16:
		f = halves[1].back(halves[1].nearest(f))
	}
	return exact(f)
}

// edges returns, for each dtype, a tensor of the values where casts go wrong.
func edges() []*tensor.Tensor {
	reals := []float64{0, math.Copysign(0, -1), 0.5, -0.5, 0.99, 1, -1, 1.5, 2.5, -1.5, 127, 127.5, 128, -128, -128.5, -129,
		255, 255.5, 256, 32767.5, 65535, 65519.99, 65520, 1<<24 + 1, 1<<31 - 1, 1 << 31, -1 << 31, -1<<31 - 1, 1<<32 - 1, 1 << 32,
		1<<53 + 2, 1<<63 - 1024, 1 << 63, -1 << 63, 1<<64 - 2048, 1 << 64, 1e30, -1e30, 3.5e38, 1e300, 0x1p-24, 0x1p-25, 1e-40, 5e-324,
		math.MaxFloat32, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	var h []tensor.F16
	var b []tensor.BF16
	var f []float32
	var c []complex64
	var z []complex128
	for i, x := range reals {
		h, b, f = append(h, tensor.F16Of(x)), append(b, tensor.BF16Of(x)), append(f, float32(x))
		other := reals[len(reals)-1-i]
		c, z = append(c, complex(float32(x), float32(other))), append(z, complex(x, other), complex(other, 0), complex(0, x))
	}
	return []*tensor.Tensor{
		tensor.Vector(false, true),
		tensor.Vector[uint8](0, 1, 127, 128, 255),
		tensor.Vector[uint16](0, 1, 255, 256, 32768, 65535),
		tensor.Vector[uint32](0, 65520, 1<<24+1, 1<<31, math.MaxUint32),
		tensor.Vector[uint64](0, 1<<53+1, 1<<62+1<<38+1, 1<<63-1, 1<<63, 1<<63+1, 1<<63+1<<39, 1<<63+1<<39+1, math.MaxUint64-1024, math.MaxUint64),
		tensor.Vector[int8](-128, -1, 0, 1, 127),
		tensor.Vector[int16](-32768, -129, -1, 0, 255, 256, 32767),
		tensor.Vector[int32](math.MinInt32, -1<<24-1, -1, 0, 65519, 65520, math.MaxInt32),
		tensor.Vector[int64](math.MinInt64, -1<<53-1, -1<<31-1, -1, 0, 1<<32, 1<<53+1, 1<<62+1<<38+1, math.MaxInt64),
		tensor.Vector(h...), tensor.Vector(b...), tensor.Vector(f...), tensor.Vector(reals...), tensor.Vector(c...), tensor.Vector(z...),
	}
}

// TestCastOracle casts every edge value of every dtype to every dtype.
func TestCastOracle(t *testing.T) {
	for i, from := range edges() {
		require.Equal(t, tensor.DTypes()[i], from.DType())
		values := numbers(t, from)
		for _, to := range tensor.DTypes() {
			t.Run(fmt.Sprintf("%v to %v", from.DType(), to), func(t *testing.T) {
				got := tensor.Must(from.Cast(to))
				require.Equal(t, to, got.DType())
				for i, n := range numbers(t, got) {
					want := values[i].cast(to)
					if !same(n.re, want.re) || !same(n.im, want.im) {
						t.Errorf("%v: got %v, want %v", values[i], n, want)
					}
				}
			})
		}
	}
}

// numbers reads the elements of a tensor.
func numbers(t *testing.T, x *tensor.Tensor) []number {
	return [...]func(*testing.T, *tensor.Tensor) []number{
		tensor.Bool: typed[bool], tensor.Uint8: typed[uint8], tensor.Uint16: typed[uint16], tensor.Uint32: typed[uint32],
		tensor.Uint64: typed[uint64], tensor.Int8: typed[int8], tensor.Int16: typed[int16], tensor.Int32: typed[int32],
		tensor.Int64: typed[int64], tensor.Float16: typed[tensor.F16], tensor.BFloat16: typed[tensor.BF16],
		tensor.Float32: typed[float32], tensor.Float64: typed[float64],
		tensor.Complex64: typed[complex64], tensor.Complex128: typed[complex128],
	}[x.DType()](t, x)
}

func typed[T tensor.Elem](t *testing.T, x *tensor.Tensor) (all []number) {
	elements := tensor.Must(tensor.Of[T](x))
	for _, v := range elements {
		all = append(all, numberOf(v))
	}
	return all
}

func TestDTypes(t *testing.T) {
	require.Len(t, tensor.DTypes(), 15)
	for _, d := range tensor.DTypes() {
		back := tensor.Must(tensor.ParseDType(d.String()))
		require.Equal(t, d, back)
		kinds := 0
		for _, is := range []bool{d.IsFloat(), d.IsInteger(), d.IsComplex(), d == tensor.Bool} {
			kinds += pick(is, 1, 0)
		}
		require.Equal(t, 1, kinds, "%v is of one kind", d)
	}
	require.Equal(t, "no dtype", tensor.DType(0).String())
	require.Equal(t, "no dtype", tensor.DType(99).String())
	require.Zero(t, tensor.DType(99).Size())
	_, err := tensor.ParseDType("float8")
	testkit.Fails(t, tensor.ErrDType, err)
}

func TestCompare(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	half := func(x float64) *tensor.Tensor { return tensor.Vector(tensor.F16Of(x)) }
	brain := func(x float64) *tensor.Tensor { return tensor.Vector(tensor.BF16Of(x)) }
	tests := []struct {
		name         string
		x, y         *tensor.Tensor
		equal, close bool // close within 0.1 of the value and 0.01
	}{
		{"the same numbers", tensor.Vector(1.0, 2), tensor.Vector(1.0, 2), true, true},
		{"zero and minus zero", tensor.Vector(0.0), tensor.Vector(math.Copysign(0, -1)), true, true},
		{"so in 16 bits", half(0), half(math.Copysign(0, -1)), true, true},
		{"not a number", tensor.Vector(nan), tensor.Vector(nan), false, false},
		{"so in 16 bits", brain(nan), brain(nan), false, false},
		{"infinities", tensor.Vector(inf), tensor.Vector(inf), true, true},
		{"infinities of either sign", tensor.Vector(inf), tensor.Vector(-inf), false, false},
		{"an infinity and a number", tensor.Vector(inf), tensor.Vector(1.0), false, false},
		{"a number and an infinity", tensor.Vector(1.0), tensor.Vector(inf), false, false},
		{"relative to the second", tensor.Vector(110.0), tensor.Vector(100.0), false, true},
		{"too far", tensor.Vector(112.0), tensor.Vector(100.0), false, false},
		{"absolute near zero", tensor.Vector(0.01), tensor.Vector(0.0), false, true},
		{"complex", tensor.Vector(1 + 2i), tensor.Vector(1 + 2i), true, true},
		{"integers", tensor.Vector[int8](100), tensor.Vector[int8](95), false, true},
		{"bools", tensor.Vector(true), tensor.Vector(false), false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.equal, tt.x.Equal(tt.y))
			got, err := tt.x.AllClose(tt.y, tensor.Tolerance{Relative: 0.1, Absolute: 0.01})
			require.NoError(t, err)
			require.Equal(t, tt.close, got)
		})
	}
	require.False(t, tensor.Vector(1.0).Equal(tensor.Scalar(1.0)), "another shape")
	require.False(t, tensor.Vector[int8](1).Equal(tensor.Vector[uint8](1)), "another dtype")
}

// A half16 is one of the two 16-bit formats.
type half16 struct {
	back      func(bits uint16) float64
	infinity  uint16
	threshold float64 // twice the largest power of two: where the next number would be
}

var halves = []half16{
	{func(b uint16) float64 { return tensor.F16(b).Float64() }, 0x7c00, 1 << 16},
	{func(b uint16) float64 { return tensor.BF16(b).Float64() }, 0x7f80, 1 << 127 * 2},
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
