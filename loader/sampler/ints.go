package sampler

import (
	"fmt"
	"math"
)

// Ints converts integers of a tensor or a file to ints, for functions that take row numbers:
// [Among], loader.Subset, ix.Take.
//
//	list, err := tdict.Slice[int64](td, "test")
//	rows, err := sampler.Ints(list)
//	test, err := loader.Subset(src, rows)
//
// It returns [ErrUnits] for a number that does not fit an int: a uint64 above 2^63 - 1. Labels and
// ids need no conversion: [Stratified] and [NewGroups] take tensors, and [Buckets] takes lengths as
// []int64.
func Ints[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](list []T) ([]int, error) {
	ints := make([]int, len(list))
	for i, x := range list {
		ints[i] = int(x)
		if x > 0 && ints[i] < 0 {
			return nil, fmt.Errorf("%w: got %d at position %d, want at most %d", ErrUnits, x, i, math.MaxInt)
		}
	}
	return ints, nil
}
