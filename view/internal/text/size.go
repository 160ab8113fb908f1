package text

import (
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/internal/sizetext"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// minus is U+2212, as wide as a digit.
const minus = "−"

// Count returns a number with a comma before every three digits: 1,945.
func Count(n int) string { return grouped(strconv.Itoa(n)) }

// grouped returns a decimal number with commas in its whole part, and with U+2212 as its minus.
func grouped(number string) string { return strings.ReplaceAll(sizetext.Grouped(number), "-", minus) }

// Bytes returns n bytes with three digits, as 'tdict show' prints them: 15.6 kB.
func Bytes(n int64) string { return sizetext.Bytes(n) }

// Percent returns the share of part in all with one decimal: 25.5 %. A share is 0.0 % or 100.0 %
// only if it is exactly that: one nearby is < 0.1 % or > 99.9 %. The share in 0 is 0 %.
func Percent(part, all int) string {
	if all == 0 {
		return "0 %"
	}
	text := strconv.FormatFloat(100*float64(part)/float64(all), 'f', 1, 64)
	switch {
	case part > 0 && text == "0.0":
		text = "< 0.1"
	case part < all && text == "100.0":
		text = "> 99.9"
	}
	return text + " %"
}

// Shape returns the sizes in brackets, with a star for tdict.Any: [1797 8 8], [312 *].
func Shape(s shapeops.Shape) string {
	texts := make([]string, len(s))
	for i, n := range s {
		if texts[i] = strconv.Itoa(n); n == tdict.Any {
			texts[i] = "*"
		}
	}
	return "[" + strings.Join(texts, " ") + "]"
}
