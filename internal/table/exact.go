package table

import (
	"bytes"
	"math"
	"strconv"
)

// IsWord reports whether a text is a float that has no digits, as [Column.Text] spells it.
func IsWord(text []byte) bool {
	switch string(text) {
	case "NaN", "+Inf", "-Inf":
		return true
	}
	return false
}

// Vanishes reports whether v, which was parsed from digits, is 0 though the digits say another
// number.
func Vanishes(v float64, digits []byte) bool {
	if v != 0 {
		return false
	}
	if i := bytes.IndexAny(digits, "eE"); i >= 0 {
		digits = digits[:i]
	}
	return bytes.ContainsAny(digits, "123456789")
}

// wholeFloats is the least integer after which float64 skips one.
const wholeFloats = 1 << 53

// Rounds reports whether v, which was parsed from digits without a sign, has another integer part
// than the digits. Digits with an exponent never round, since programs that write floats round
// them too. Zeros after the shortest digits of v are such a spelling as well.
func Rounds(v float64, digits []byte) bool {
	if v = math.Abs(v); v < wholeFloats || bytes.ContainsAny(digits, "eE") {
		return false
	}
	whole, fraction, _ := bytes.Cut(digits, []byte{'.'})
	if len(bytes.TrimRight(fraction, "0")) > 0 {
		return true // v is an integer
	}
	var b [400]byte
	whole = bytes.TrimLeft(whole, "0")
	return !bytes.Equal(strconv.AppendFloat(b[:0], v, 'f', 0, 64), whole) && !bytes.Equal(strconv.AppendFloat(b[:0], v, 'f', -1, 64), whole)
}
