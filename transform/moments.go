package transform

import (
	"fmt"
	"math"
)

// moments are, for each column, the number of values that count, their mean, and the sum of their
// squared differences from the mean. They are exact if all values are equal, unlike arith.Mean and
// arith.Std: a constant column must have deviation 0.
type moments struct {
	count, mean, squares []float64
	differ               []bool // not all values are equal
}

func newMoments(columns int) *moments {
	return &moments{make([]float64, columns), make([]float64, columns), make([]float64, columns), make([]bool, columns)}
}

// of sets m to the moments of rows of values. NaN does not count.
func (m *moments) of(values []float64) {
	for c := range m.mean {
		count, mean := average(values, c, len(m.mean))
		squares, differ := 0., false
		for i := c; i < len(values); i += len(m.mean) {
			if d := values[i] - mean; d == d {
				squares += float64(d * d) // not fused, so that all machines agree
				differ = differ || d != 0
			}
		}
		m.count[c], m.mean[c], m.squares[c], m.differ[c] = count, mean, squares, differ
	}
}

// average returns the number of values in a column, and their mean, computed from the differences
// from the first value.
func average(values []float64, column, columns int) (count, mean float64) {
	first, sum := math.NaN(), 0.
	for i := column; i < len(values); i += columns {
		v := values[i]
		if v != v {
			continue
		}
		if count == 0 {
			first = v
		}
		count++
		sum += v - first
	}
	return count, first + sum/count
}

// join adds the moments of other rows (Chan, Golub and LeVeque 1979).
func (m *moments) join(part *moments) {
	for c, count := range part.count {
		if count == 0 {
			continue
		}
		n, step := m.count[c]+count, part.mean[c]-m.mean[c]
		m.differ[c] = m.differ[c] || part.differ[c] || m.count[c] > 0 && step != 0
		m.squares[c] += part.squares[c] + float64(step*(m.count[c]*count/n)*step)
		m.mean[c] += float64(step * (count / n))
		m.count[c] = n
	}
}

// std returns the standard deviation of a column, 0 if it is constant.
func (m *moments) std(c int) float64 { return math.Sqrt(m.squares[c] / max(1, m.count[c])) }

// The factors for columns whose squares are out of the range of float64.
const (
	scaleDown = 0x1p-600
	scaleUp   = 0x1p+600
	smallest  = 0x1p-450 // a deviation below it is made of squares that have lost bits
)

// factor returns a factor for the values of a column with which their squares are in range.
func (m *moments) factor(c int) float64 {
	switch std := m.std(c); {
	case !(math.Abs(m.mean[c]) <= math.MaxFloat64 && std <= math.MaxFloat64):
		return scaleDown
	case m.differ[c] && std < smallest:
		return scaleUp
	}
	return 1
}

// deviations returns the standard deviations. For columns that need a factor, again returns the
// moments of all columns times that factor.
func (m *moments) deviations(again func(factor float64) (*moments, error)) (_ []float64, err error) {
	stds := make([]float64, len(m.squares))
	scaled := map[float64]*moments{1: m}
	for c := range stds {
		factor := m.factor(c)
		if scaled[factor] == nil {
			if scaled[factor], err = again(factor); err != nil {
				return nil, err
			}
		}
		m.mean[c], stds[c] = scaled[factor].mean[c]/factor, scaled[factor].std(c)/factor
		if stds[c] == 0 {
			stds[c] = 1
		}
		if err := checkStatistics(m.mean[c], stds[c]); err != nil {
			return nil, fmt.Errorf("column %d: %w", c, err)
		}
	}
	return stds, nil
}

// checkStatistics returns an error unless mean and std are valid.
func checkStatistics(mean, std float64) error {
	if !(math.Abs(mean) <= math.MaxFloat64 && std > 0 && std <= math.MaxFloat64) {
		return fmt.Errorf("%w: got mean %v and deviation %v, want finite ones and a positive deviation", ErrNumber, mean, std)
	}
	return nil
}
