package main

import (
	"fmt"

	"github.com/go-tensordict/tensordict/tensor"
)

// count returns a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// size returns a number of bytes with three digits.
func size(bytes int64) string {
	x, unit := float64(bytes), 0
	for x >= 999.5 {
		x, unit = x/1000, unit+1
	}
	return fmt.Sprintf("%.3g %sB", x, []string{"", "k", "M", "G", "T", "P", "E"}[unit])
}

// dtypeText returns the name of a dtype, or "" for none.
func dtypeText(d tensor.DType) string {
	if d == 0 {
		return ""
	}
	return d.String()
}
