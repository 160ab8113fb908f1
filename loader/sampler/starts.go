package sampler

// groupStarts returns the index at which each run of equal ids begins, followed by len(ids):
//
//	[5 5 8 8 8 1] -> [0 2 5 6]
//	[] -> [0]
//
// Run g has the positions from starts[g] up to, not including, starts[g+1].
func groupStarts[T comparable](ids []T) []int {
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
