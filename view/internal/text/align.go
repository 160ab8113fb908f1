package text

import "strings"

// Align returns the padding that follows each cell of a column which is aligned at the right, so
// that the points of its numbers are below each other:
//
//	5.375    and    00
//	5               .000
//	missing
//
// The page hides the padding, and excludes it from copies. Digits must have one width. Cells that
// are not numbers without an exponent get no padding.
func Align(cells []string) []string {
	most := 0
	for _, cell := range cells {
		most = max(most, decimals(cell))
	}
	padding := make([]string, len(cells))
	for i, cell := range cells {
		switch n := decimals(cell); {
		case n == 0 && most > 0:
			padding[i] = "." + strings.Repeat("0", most)
		case n > 0:
			padding[i] = strings.Repeat("0", most-n)
		}
	}
	return padding
}

// decimals returns the number of digits after the point of a number, or -1 for any other cell.
func decimals(cell string) int {
	if cell == "" || strings.Trim(cell, minus+"0123456789,.") != "" {
		return -1
	}
	_, digits, _ := strings.Cut(cell, ".")
	return len(digits)
}
