package arith

import "math"

// An adder turns elements into running sums: a whole line at a time, or row by row of lines that
// lie side by side. Both report whether a sum wraps around.
type adder[T element] interface {
	line(s []T) (wrapped bool)
	// begin begins some lines that lie side by side.
	begin(lines int)
	row(s []T) (wrapped bool)
}

// wideSums adds float32 in float64.
type wideSums struct{ sums []float64 }

func (a *wideSums) begin(lines int) { a.sums = zeros(a.sums, lines) }

func (a *wideSums) line(s []float32) (wrapped bool) {
	sum := 0.0
	for i, v := range s {
		sum += float64(v)
		s[i] = float32(sum)
	}
	return false
}

func (a *wideSums) row(s []float32) (wrapped bool) {
	sums := a.sums[:len(s)]
	for i, v := range s {
		sum := sums[i] + float64(v)
		sums[i], s[i] = sum, float32(sum)
	}
	return false
}

// wideComplexSums adds complex64 in complex128.
type wideComplexSums struct{ sums []complex128 }

func (a *wideComplexSums) begin(lines int) { a.sums = zeros(a.sums, lines) }

func (a *wideComplexSums) line(s []complex64) (wrapped bool) {
	var sum complex128
	for i, v := range s {
		sum += complex128(v)
		s[i] = complex64(sum)
	}
	return false
}

func (a *wideComplexSums) row(s []complex64) (wrapped bool) {
	sums := a.sums[:len(s)]
	for i, v := range s {
		sums[i] += complex128(v)
		s[i] = complex64(sums[i])
	}
	return false
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
type exactSums struct{ sums, lost []float64 }

func (a *exactSums) begin(lines int) { a.sums, a.lost = zeros(a.sums, lines), zeros(a.lost, lines) }

func (a *exactSums) line(s []float64) (wrapped bool) {
	sum, lost := 0.0, 0.0
	for i, v := range s {
		sum, lost = addExact(sum, lost, v)
		s[i] = both64(sum, lost)
	}
	return false
}

func (a *exactSums) row(s []float64) (wrapped bool) {
	sums, lost := a.sums[:len(s)], a.lost[:len(s)]
	for i, v := range s {
		sums[i], lost[i] = addExact(sums[i], lost[i], v)
		s[i] = both64(sums[i], lost[i])
	}
	return false
}

// exactComplexSums is exactSums for complex128.
type exactComplexSums struct{ sums, lost []complex128 }

func (a *exactComplexSums) begin(lines int) {
	a.sums, a.lost = zeros(a.sums, lines), zeros(a.lost, lines)
}

func (a *exactComplexSums) line(s []complex128) (wrapped bool) {
	a.begin(1)
	for i := range s {
		a.row(s[i : i+1])
	}
	return false
}

func (a *exactComplexSums) row(s []complex128) (wrapped bool) {
	sums, lost := a.sums[:len(s)], a.lost[:len(s)]
	for i, v := range s {
		re, lostRe := addExact(real(sums[i]), real(lost[i]), real(v))
		im, lostIm := addExact(imag(sums[i]), imag(lost[i]), imag(v))
		sums[i], lost[i] = complex(re, im), complex(lostRe, lostIm)
		s[i] = complex(both64(re, lostRe), both64(im, lostIm))
	}
	return false
}

// wholeSums adds integers.
type wholeSums[T int64 | uint64] struct {
	before []T // the row before the next one
}

func (a *wholeSums[T]) begin(lines int) { a.before = make([]T, lines) }

func (a *wholeSums[T]) line(s []T) (wrapped bool) {
	var sum T
	for i, v := range s {
		was := sum
		sum += v
		wrapped = wrapped || (sum < was) != (v < 0)
		s[i] = sum
	}
	return wrapped
}

func (a *wholeSums[T]) row(s []T) (wrapped bool) {
	for i, v := range a.before[:len(s)] {
		was := s[i]
		s[i] += v
		wrapped = wrapped || (s[i] < was) != (v < 0)
	}
	a.before = s
	return wrapped
}
