package text

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/internal/elemtext"
	"github.com/go-tensordict/tensordict/tensor"
)

// mostDigits is the number of digits before the point beyond which a float has an exponent.
const mostDigits = 15

// Number returns the text of an element: a bool, or a number of any type that a tensor holds, as
// follows:
//
//   - Integers have all digits.
//   - Floats are rounded to digits significant digits, but never before the point: 1,234,567.8
//     becomes 1,234,568, whatever digits is. Zeros at the end are left out.
//   - Floats that are whole have all digits.
//   - Floats of 1e15 and more, and below 1e-6, have an exponent: 1.2e+15.
//   - Other floats are NaN, +Inf and −Inf.
//   - Complex numbers are 3+4i.
//
// Numbers are grouped with commas and have U+2212 as their minus. Any other value is shown as
// [Show] shows what package fmt prints.
func Number(v any, digits int) string { return number(v, max(digits, 1)) }

// Exact returns the text of an element as [Number] does, but not rounded: with the fewest digits
// that read back as the same number of its type.
func Exact(v any) string { return number(v, math.MaxInt) }

func number(v any, digits int) string {
	switch v := v.(type) {
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return grouped(fmt.Sprint(v))
	case float32:
		return float(float64(v), strconv.FormatFloat(float64(v), 'e', -1, 32), digits)
	case float64:
		return float(v, fewest(v), digits)
	case tensor.F16:
		return float(v.Float64(), fewestHalf("float16", uint16(v)), digits)
	case tensor.BF16:
		return float(v.Float64(), fewestHalf("bfloat16", uint16(v)), digits)
	case complex64:
		return complexes(number(real(v), digits), number(imag(v), digits))
	case complex128:
		return complexes(number(real(v), digits), number(imag(v), digits))
	}
	return Show(fmt.Sprint(v), 200).String()
}

// complexes returns the text of a complex number.
func complexes(re, im string) string {
	if !strings.HasPrefix(im, minus) && !strings.HasPrefix(im, "+") {
		im = "+" + im
	}
	return re + im + "i"
}

// fewest returns v with an exponent and the fewest digits that read back as v.
func fewest(v float64) string { return strconv.FormatFloat(v, 'e', -1, 64) }

// fewestHalf is as fewest, for the bits of a number of 16 bits.
func fewestHalf(dtype string, bits uint16) string {
	data := binary.NativeEndian.AppendUint16(nil, bits)
	v, _ := strconv.ParseFloat(string(elemtext.Of(dtype).AppendFewest(nil, data)), 64) // it is a number
	return fewest(v)
}

// float returns the text of v with at most digits significant digits, and all before the point.
// text is v with an exponent and the fewest digits that read back as the same number of its type.
func float(v float64, text string, digits int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return strings.Replace(text, "-", minus, 1)
	}
	power := exponent(text)
	if v == math.Trunc(v) && power < mostDigits {
		return grouped(strconv.FormatFloat(v, 'f', 0, 64))
	}
	if 0 <= power && power < mostDigits {
		digits = max(digits, power+1)
	}
	if mantissa, _, _ := strings.Cut(strings.TrimPrefix(text, "-"), "e"); len(mantissa)-1 > digits { // it has a point
		text = strconv.FormatFloat(v, 'e', digits-1, 64)
	}
	if power = exponent(text); power < -6 || power >= mostDigits {
		return grouped(withoutZeros(text))
	}
	rounded, _ := strconv.ParseFloat(text, 64) // the text is a number
	return grouped(strconv.FormatFloat(rounded, 'f', -1, 64))
}

// withoutZeros returns a number with an exponent without zeros at the end of the mantissa.
func withoutZeros(text string) string {
	mantissa, power, _ := strings.Cut(text, "e")
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimSuffix(strings.TrimRight(mantissa, "0"), ".")
	}
	return mantissa + "e" + power
}

// exponent returns the exponent of a number that has one.
func exponent(text string) int {
	_, power, _ := strings.Cut(text, "e")
	n, _ := strconv.Atoi(power) // strconv has written it
	return n
}
