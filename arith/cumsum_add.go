package arith

import "math"

// wideSums adds float32 in float64.
func wideSums() func(x []float32, step, width int) bool {
	var sums []float64
	return func(x []float32, step, width int) bool {
		if step == 1 {
			sum := 0.0
			for i, v := range x {
				sum += float64(v)
				x[i] = float32(sum)
			}
			return false
		}
		if step == 2 && width == 2 { // complex numbers of a line
			re, im := 0.0, 0.0
			for ; len(x) > 1; x = x[2:] {
				re, im = re+float64(x[0]), im+float64(x[1])
				x[0], x[1] = float32(re), float32(im)
			}
			return false
		}
		sums = zeros(sums, width)
		for ; len(x) > 0; x = x[min(step, len(x)):] {
			row := x[:len(sums)]
			for i, v := range row {
				sum := sums[i] + float64(v)
				sums[i], row[i] = sum, float32(sum)
			}
		}
		return false
	}
}

// addExact returns sum + v, and lost plus the rounding error of that addition, which TwoSum of
// Moller and Knuth computes exactly.
func addExact(sum, lost, v float64) (next, nextLost float64) {
	next = sum + v
	part := next - sum
	return next, lost + ((sum - (next - part)) + (v - part))
}

// both64 returns sum + lost. After an overflow lost is NaN; then both64 returns sum.
func both64(sum, lost float64) float64 {
	if whole := sum + lost; !math.IsNaN(whole) {
		return whole
	}
	return sum
}

// exactSums adds float64, and the rounding errors separately.
func exactSums() func(x []float64, step, width int) bool {
	var sums, lost []float64
	return func(x []float64, step, width int) bool {
		if step == 1 {
			sum, lost := 0.0, 0.0
			for i, v := range x {
				sum, lost = addExact(sum, lost, v)
				x[i] = both64(sum, lost)
			}
			return false
		}
		sums, lost = zeros(sums, width), zeros(lost, width)
		for ; len(x) > 0; x = x[min(step, len(x)):] {
			row, lost := x[:len(sums)], lost[:len(sums)]
			for i, v := range row {
				sums[i], lost[i] = addExact(sums[i], lost[i], v)
				row[i] = both64(sums[i], lost[i])
			}
		}
		return false
	}
}

// wholeSums adds integers.
func wholeSums[T int64 | uint64]() func(x []T, step, width int) bool {
	return func(x []T, step, width int) (wrapped bool) {
		if step == 1 {
			var sum T
			for i, v := range x {
				was := sum
				sum += v
				wrapped = wrapped || (sum < was) != (v < 0)
				x[i] = sum
			}
			return wrapped
		}
		for ; len(x) > step; x = x[step:] {
			row := x[step:][:width]
			for i, v := range x[:width] {
				was := row[i]
				row[i] += v
				wrapped = wrapped || (row[i] < was) != (v < 0)
			}
		}
		return wrapped
	}
}
