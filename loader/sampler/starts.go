package sampler

import "fmt"

// GroupStarts returns where in ids each run of equal ones begins, and, last, how many ids there
// are:
//
//	[5 5 8 8 8 1] -> [0 2 5 6]
//	[] -> [0]
//
// So run g has the positions from starts[g] to starts[g+1]. NaN differs from itself. The result
// shares no memory with ids.
func GroupStarts[T comparable](ids []T) []int {
	if len(ids) == 0 {
		return []int{0}
	}
	runs := 1
	for i := 1; i < len(ids); i++ {
		if ids[i] != ids[i-1] {
			runs++
		}
	}
	starts := make([]int, 1, runs+1)
	for i := 1; i < len(ids); i++ {
		if ids[i] != ids[i-1] {
			starts = append(starts, i)
		}
	}
	return append(starts, len(ids))
}

// Endpoints returns where batches of so many groups begin and end, given where the groups begin and
// how many rows there are, as [GroupStarts] returns it:
//
//	starts [0 3 5 9], batch 2 -> [[0 5] [5 9]]
//
// The last batch has the groups that are left, or, with dropLast, is left out unless it has as many
// as the others. So there are ceil(n/batch) batches of n groups, or floor(n/batch). Groups may be
// empty.
//
// Endpoints returns [ErrSize] if batch is below 1, starts does not begin with 0, or it descends.
func Endpoints(starts []int, batch int, dropLast bool) ([][2]int, error) {
	if err := checkSize(batch); err != nil {
		return nil, err
	}
	if err := checkStarts(starts); err != nil {
		return nil, err
	}
	n := len(starts) - 1
	ends := make([][2]int, count(n, batch, dropLast))
	for k := range ends {
		first := k * batch
		ends[k] = [2]int{starts[first], starts[first+min(batch, n-first)]}
	}
	return ends, nil
}

// checkStarts returns ErrSize if starts are not what GroupStarts could return, or empty groups
// among that.
func checkStarts(starts []int) error {
	if len(starts) == 0 {
		return fmt.Errorf("%w: got no starts of groups, want [0] at least", ErrSize)
	}
	if starts[0] != 0 {
		return fmt.Errorf("%w: got starts of groups that begin with %d, want 0", ErrSize, starts[0])
	}
	for i := 1; i < len(starts); i++ {
		if starts[i] < starts[i-1] {
			return fmt.Errorf("%w: got start %d of group %d after %d, want starts that do not descend",
				ErrSize, starts[i], i, starts[i-1])
		}
	}
	return nil
}
