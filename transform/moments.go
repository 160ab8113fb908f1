package transform

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// moments are the number, the mean and the sum of squared differences from the mean of what counts
// in each column. Those of equal numbers are exact, which those of arith.Mean and arith.Std are
// not: a column that is constant must have deviation 0.
type moments struct{ count, mean, squares []float64 }

func newMoments(columns int) *moments {
	return &moments{make([]float64, columns), make([]float64, columns), make([]float64, columns)}
}

// partElements is about how many elements of a leaf are dealt with at a time.
const partElements = 1 << 17

// addLeaf adds what a leaf has where mask is true, or everywhere if that is nil.
func (m *moments) addLeaf(x, mask *tensor.Tensor) error {
	n, row := x.Shape()[0], x.Shape()[1:]
	rows := min(n, max(1, partElements/max(1, row.Size())))
	room, err := tensor.New(tensor.Float64, append(shapeops.Shape{rows}, row...)...)
	if err != nil {
		return err
	}
	part := newMoments(len(m.mean))
	for start := 0; start < n; start += rows {
		values, err := present(room, x, mask, start, min(start+rows, n))
		if err != nil {
			return err
		}
		part.of(values)
		m.join(part)
	}
	return nil
}

// present returns some rows of x, with NaN where mask is false, until the next call with the same
// room.
func present(room, x, mask *tensor.Tensor, start, stop int) ([]float64, error) {
	part, err := x.Index(ix.Range(start, stop))
	if err != nil {
		return nil, err
	}
	if room, err = room.Index(ix.Range(0, stop-start)); err != nil {
		return nil, err
	}
	if err := part.CastInto(room); err != nil {
		return nil, err
	}
	if mask != nil {
		if mask, err = mask.Index(ix.Range(start, stop)); err != nil {
			return nil, err
		}
		if err := arith.WhereInPlace(mask, room, math.NaN()); err != nil {
			return nil, err
		}
	}
	return tensor.Of[float64](room)
}

// of sets m to the moments of rows of values; NaN does not count.
func (m *moments) of(values []float64) {
	for c := range m.mean {
		count, mean := average(values, c, len(m.mean))
		squares := 0.
		for i := c; i < len(values); i += len(m.mean) {
			if d := values[i] - mean; d == d {
				squares += float64(d * d) // not fused: every machine has the same
			}
		}
		m.count[c], m.mean[c], m.squares[c] = count, mean, squares
	}
}

// average returns the number of values in a column, and their mean, by way of the differences from
// the first.
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

// join adds the moments of further rows (Chan, Golub and LeVeque 1979).
func (m *moments) join(part *moments) {
	for c, count := range part.count {
		if count == 0 {
			continue
		}
		n, step := m.count[c]+count, part.mean[c]-m.mean[c]
		m.squares[c] += part.squares[c] + float64(step*(m.count[c]*count/n)*step)
		m.mean[c] += float64(step * (count / n))
		m.count[c] = n
	}
}

// statistics returns the means, followed by the deviations.
func (m *moments) statistics() ([]float64, error) {
	all := slices.Grow(slices.Clone(m.mean), len(m.mean))
	for c, squares := range m.squares {
		std := math.Sqrt(squares / max(1, m.count[c]))
		if std == 0 {
			std = 1
		}
		if err := checkStatistics(m.mean[c], std); err != nil {
			return nil, fmt.Errorf("column %d: %w", c, err)
		}
		all = append(all, std)
	}
	return all, nil
}

// checkStatistics returns an error unless they can be those of a column.
func checkStatistics(mean, std float64) error {
	if !(math.Abs(mean) <= math.MaxFloat64 && std > 0 && std <= math.MaxFloat64) {
		return fmt.Errorf("%w: got mean %v and deviation %v, want finite ones and a positive deviation", ErrNumber, mean, std)
	}
	return nil
}
