package sampler

import (
	"fmt"
	"math"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/splitmix"
	"github.com/go-tensordict/tensordict/tensor"
)

// once is the sampler of Weighted that draws without replacement.
type once struct {
	units  []int     // units with a positive weight
	logs   []float64 // of their weights
	n      int       // number of all units
	draws  int
	digest string
}

func newOnce(weights []float64, positive, draws int) (Sampler, error) {
	if draws > positive {
		return nil, fmt.Errorf("%w: got %d above 0, want one for each of %d draws", ErrWeight, positive, draws)
	}
	if draws == 0 {
		draws = positive
	}
	s := &once{n: len(weights), draws: draws, digest: digestOf(weights)}
	for unit, w := range weights {
		if w > 0 {
			s.units, s.logs = append(s.units, unit), append(s.logs, logarithm(w))
		}
	}
	return s, nil
}

// Order implements [Sampler]. It sorts by the logarithm of an exponential random number divided by
// the weight: the logarithm does not overflow.
func (s *once) Order(e Epoch) (Order, error) {
	if err := e.checkUnits(s.n, "weights"); err != nil {
		return nil, err
	}
	key, times := e.key(), make([]float64, len(s.units))
	for i, unit := range s.units {
		times[i] = logarithm(-logarithm(fraction(splitmix.Mix(key, uint64(unit))))) - s.logs[i]
	}
	sorted, err := arith.ArgSort(tensor.Vector(times...), 0, arith.SortOptions{})
	if err != nil {
		return nil, err
	}
	order := make(listed, 0, s.draws)
	err = tensor.Read(sorted, func(firsts []int64) {
		for _, i := range firsts[:s.draws] {
			order = append(order, s.units[i])
		}
	})
	return order, err
}

// String implements [Sampler].
func (s *once) String() string {
	return fmt.Sprintf("weighted, %d of %d units once by weights (sum %s)", s.draws, s.n, s.digest)
}

// fraction maps 64 random bits to a number above 0 and below 1.
func fraction(x uint64) float64 { return (float64(x>>12) + 0.5) / (1 << 52) }

// logarithm returns the natural logarithm of x, which is positive and finite, to within a few units
// in the last place. Unlike [math.Log] it returns the same on every platform: the conversions
// prevent fused multiply-add.
func logarithm(x float64) float64 {
	f, exp := math.Frexp(x)
	if f < math.Sqrt2/2 {
		f, exp = 2*f, exp-1
	}
	s := (f - 1) / (f + 1) // log f = 2 atanh s, |s| < 0.172
	square, sum := float64(s*s), 0.0
	for _, c := range atanh {
		sum = float64(sum*square) + c
	}
	return float64(2*s*sum) + float64(float64(exp)*math.Ln2)
}

// atanh is the series of atanh(s) / s in powers of s*s, from the 10th power down.
var atanh = [...]float64{
	1. / 21, 1. / 19, 1. / 17, 1. / 15, 1. / 13, 1. / 11, 1. / 9, 1. / 7, 1. / 5, 1. / 3, 1,
}
