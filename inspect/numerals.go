package inspect

import (
	"math"

	"github.com/go-tensordict/tensordict/tensor"
)

// numerals are the numbers that a histogram counts.
type numerals struct {
	dtype   tensor.DType
	integer bool   // integers or bools
	lengths bool   // lengths of rows
	flip    uint64 // the bits of an integer in which its code, which has the same order, differs
}

func numeralsOf(dtype tensor.DType, lengths bool) numerals {
	n := numerals{dtype: dtype, integer: dtype.IsInteger() || dtype == tensor.Bool, lengths: lengths}
	if dtype != tensor.Uint64 {
		n.flip = 1 << 63
	}
	return n
}

// number returns the integer with a code, as int64 or, if the dtype is uint64, as uint64.
func (n numerals) number(code uint64) any {
	if n.dtype == tensor.Uint64 {
		return code
	}
	return int64(code ^ n.flip)
}

// code returns the code of an integer that number returned.
func (n numerals) code(v any) uint64 {
	if v, ok := v.(uint64); ok {
		return v
	}
	return uint64(v.(int64)) ^ n.flip
}

// width returns a width as the type of number.
func (n numerals) width(w uint64) any { return n.number(w ^ n.flip) }

// bounds returns the codes of the least and the greatest integer of the dtype.
func (n numerals) bounds() (low, high uint64) {
	size := 8 * n.dtype.Size()
	switch n.dtype {
	case tensor.Uint64:
		return 0, math.MaxUint64
	case tensor.Uint8, tensor.Uint16, tensor.Uint32:
		return n.flip, 1<<size - 1 + n.flip
	}
	half := uint64(1) << (size - 1)
	return n.flip - half, n.flip + (half - 1)
}

// floor returns the code of the greatest integer that is not above x, within the dtype.
func (n numerals) floor(x float64) uint64 {
	x = math.Floor(x)
	low, high := n.bounds()
	switch {
	case x <= toFloat(n.number(low)):
		return low
	case x >= toFloat(n.number(high)):
		return high
	case n.flip == 0:
		return uint64(x)
	}
	return uint64(int64(x)) ^ n.flip
}

// toFloat returns the float64 nearest to a number of a Summary.
func toFloat(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	}
	return v.(float64)
}
