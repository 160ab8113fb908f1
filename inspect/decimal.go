package inspect

import (
	"math"
	"math/big"
	"strconv"

	"github.com/go-tensordict/tensordict/tensor"
)

// A step is a width of bins: step 3*k is 10^k, 3*k+1 is 2*10^k, and 3*k+2 is 5*10^k.
type step int

// lastStep is the greatest integer step that a scale of 10 bins in 2^64 can have.
const lastStep step = 3*18 + 2

// parts returns the digit and the exponent.
func (s step) parts() (digit int64, exponent int) {
	k := int(s) / 3
	if s < 0 {
		k = (int(s) - 2) / 3
	}
	return []int64{1, 2, 5}[int(s)-3*k], k
}

// text returns i times the step, in decimal.
func (s step) text(i int64) string {
	digit, exponent := s.parts()
	return strconv.FormatInt(i*digit, 10) + "e" + strconv.Itoa(exponent)
}

// float returns the float64 nearest to the step.
func (s step) float() float64 {
	x, _ := strconv.ParseFloat(s.text(1), 64) // 0 or infinite beyond the range
	return x
}

// integer returns a step that is not negative.
func (s step) integer() uint64 {
	digit, exponent := s.parts()
	w := uint64(digit)
	for range exponent {
		w *= 10
	}
	return w
}

// times returns i times the step.
func (s step) times(i int64) *big.Rat {
	x, _ := new(big.Rat).SetString(s.text(i)) // valid
	return x
}

// floor returns the greatest i such that i times the step is not above x.
func (s step) floor(x float64) int64 {
	n := new(big.Rat).SetFloat64(x)
	n.Quo(n, s.times(1))
	return new(big.Int).Div(n.Num(), n.Denom()).Int64()
}

// stepAbove returns a step that is greater than x, which is positive, and at most a few steps more
// than the least such one.
func stepAbove(x float64) step { return 3 * step(math.Floor(math.Log10(x))+2) }

// A format is a format of floats: the bits of its fraction with the leading one, and its extremes.
type format struct {
	bits     int
	least    int // exponent of the least number
	greatest float64
}

var formats = map[tensor.DType]format{
	tensor.Float16:  {11, -24, 65504},
	tensor.BFloat16: {8, -133, 0x1.fep127},
	tensor.Float32:  {24, -149, math.MaxFloat32},
	tensor.Float64:  {53, -1074, math.MaxFloat64},
}

// formatOf returns the format of the numbers of a dtype. Absolute values are float64.
func formatOf(dtype tensor.DType) format {
	if f, ok := formats[dtype]; ok {
		return f
	}
	return formats[tensor.Float64]
}

// gap returns the distance of neighbouring numbers near x.
func (f format) gap(x float64) float64 {
	_, exponent := math.Frexp(x)
	return math.Ldexp(1, max(exponent-f.bits, f.least))
}

// nearest returns the number nearest to a decimal, which is infinite if it is beyond the range.
func nearest(dtype tensor.DType, decimal string) float64 {
	bits := 64
	if dtype == tensor.Float32 {
		bits = 32
	}
	x, _ := strconv.ParseFloat(decimal, bits) // infinite beyond the range
	switch dtype {
	case tensor.Float16:
		return tensor.F16Of(x).Float64()
	case tensor.BFloat16:
		return tensor.BF16Of(x).Float64()
	}
	return x
}
