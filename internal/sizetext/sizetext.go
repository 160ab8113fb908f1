package sizetext

import (
	"fmt"
	"strings"
)

// Grouped returns a decimal number with a comma before every three digits of its whole part.
func Grouped(number string) string {
	sign, digits := "", number
	if rest, ok := strings.CutPrefix(number, "-"); ok {
		sign, digits = "-", rest
	}
	whole := len(digits)
	if at := strings.IndexAny(digits, ".e"); at >= 0 {
		whole = at
	}
	for at := whole - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return sign + digits
}

// Bytes returns a number of bytes with three digits: 999 B, 15.6 kB, 294 kB.
func Bytes(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	v, units := float64(n), []string{"B", "kB", "MB", "GB", "TB", "PB", "EB"}
	unit := 0
	for ; v >= 999.5; unit++ {
		v /= 1000
	}
	return strings.TrimSuffix(fmt.Sprintf("%#.3g", v), ".") + " " + units[unit]
}
