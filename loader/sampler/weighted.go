package sampler

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/go-tensordict/tensordict/internal/splitmix"
)

// WeightedOptions say how Weighted draws. The zero value is the default.
type WeightedOptions struct {
	Draws              int  // draws in an epoch; 0 means one for each weight, or for each positive one if WithoutReplacement
	WithoutReplacement bool // draw each unit at most once in an epoch
}

// Weighted returns a sampler that draws units at random: unit u with a probability in proportion to
// weights[u]. The draw at position p is a repetition, u + p*N, of N units, so that random
// transforms differ. With WithoutReplacement, a unit is drawn at most once. The weights are copied.
// If Draws is NoEnd, the order is endless.
//
// With replacement, the order takes no memory, and the sampler takes 16 bytes per unit (the alias
// method; Vose 1991). Without replacement, the order is sorted at the beginning of the epoch
// (Efraimidis and Spirakis 2006).
//
// Weighted returns [ErrWeight] if a weight is negative or not finite, if no weight is positive, or
// if WithoutReplacement is set and there are fewer positive weights than draws; and [ErrSize] if
// Draws is negative. The sampler's Order returns [ErrUnits] unless there are as many units as
// weights.
func Weighted(weights []float64, opt WeightedOptions) (Sampler, error) {
	positive, err := checkWeights(weights)
	switch {
	case err != nil:
		return nil, err
	case opt.Draws < 0:
		return nil, fmt.Errorf("%w: got %d draws, want at least 0", ErrSize, opt.Draws)
	case opt.WithoutReplacement:
		return newOnce(weights, positive, opt.Draws)
	case opt.Draws == 0:
		opt.Draws = len(weights)
	}
	return &weighted{newAlias(weights), opt.Draws, digestOf(weights)}, nil
}

// checkWeights returns the number of positive weights, and an error if weights are invalid.
func checkWeights(weights []float64) (int, error) {
	positive := 0
	for i, w := range weights {
		if !(w >= 0 && w <= math.MaxFloat64) {
			return 0, fmt.Errorf("%w: got %v for unit %d, want a finite number, at least 0", ErrWeight, w, i)
		}
		if w > 0 {
			positive++
		}
	}
	if positive == 0 {
		return 0, fmt.Errorf("%w: got none above 0 among %d", ErrWeight, len(weights))
	}
	return positive, nil
}

// digestOf returns a checksum of weights.
func digestOf(weights []float64) string {
	all := make([]int64, len(weights))
	for i, w := range weights {
		all[i] = int64(math.Float64bits(w))
	}
	return digest(all)
}

type weighted struct {
	alias  alias
	draws  int
	digest string
}

// Order implements [Sampler].
func (s *weighted) Order(e Epoch) (Order, error) {
	if err := e.checkUnits(len(s.alias), "weights"); err != nil {
		return nil, err
	}
	return &drawn{s.alias, s.draws, e.key()}, nil
}

// String implements [Sampler].
func (s *weighted) String() string {
	draws := fmt.Sprint(s.draws)
	if s.draws == NoEnd {
		draws = "endless"
	}
	return fmt.Sprintf("weighted, %s draws by %d weights (sum %s)", draws, len(s.alias), s.digest)
}

// A drawn is the [Order] of weighted.
type drawn struct {
	alias alias
	draws int
	key   uint64
}

// Len implements [Order].
func (o *drawn) Len() int { return o.draws }

// AppendTo implements [Order].
func (o *drawn) AppendTo(dst []int, start, stop int) []int {
	for p := start; p < stop; p++ {
		dst = append(dst, again(o.alias.draw(splitmix.Mix(o.key, uint64(p))), p, len(o.alias)))
	}
	return dst
}

// An alias is a table to draw from. Each cell is equally likely, and is a choice between its own
// unit and another one.
type alias []cell

type cell struct {
	keep  uint64 // probability of the cell's own unit, times 2^64
	other int
}

// draw maps 64 random bits to a unit.
func (a alias) draw(x uint64) int {
	at, rest := bits.Mul64(x, uint64(len(a)))
	if rest < a[at].keep {
		return int(at)
	}
	return a[at].other
}

// newAlias returns the table for weights, at least one of which is positive. Cells left over
// because of rounding keep their own unit, or, if its weight is 0, the heaviest unit.
func newAlias(weights []float64) alias {
	shares, heaviest := sharesOf(weights), slices.Index(weights, slices.Max(weights))
	a := make(alias, len(shares))
	less, more := []int{}, []int{}
	for i, share := range shares {
		a[i] = cell{math.MaxUint64, i}
		switch {
		case share == 0:
			a[i], less = cell{0, heaviest}, append(less, i)
		case share < 1:
			less = append(less, i)
		default:
			more = append(more, i)
		}
	}
	for len(less) > 0 && len(more) > 0 {
		l, m := less[len(less)-1], more[len(more)-1]
		less = less[:len(less)-1]
		a[l] = cell{uint64(math.Ldexp(shares[l], 64)), m}
		if shares[m] -= 1 - shares[l]; shares[m] < 1 {
			more, less = more[:len(more)-1], append(less, m)
		}
	}
	return a
}

// sharesOf returns the weights scaled to a mean of 1. It divides by the largest weight first, so
// that neither the sum nor a quotient overflows.
func sharesOf(weights []float64) []float64 {
	largest, sum := slices.Max(weights), 0.0
	shares := make([]float64, len(weights))
	for i, w := range weights {
		shares[i] = w / largest
		sum += shares[i]
	}
	scale := float64(len(weights)) / sum
	for i := range shares {
		shares[i] = float64(shares[i] * scale)
	}
	return shares
}
