package inspect

import (
	"cmp"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/splitmix"
	"github.com/go-tensordict/tensordict/tensor"
)

const (
	sketchSize = 1024    // numbers of the largest level of a sketch
	mostPicked = 1 << 20 // bound on the numbers of a leaf that are added to a sketch
)

// A sketch is the KLL sketch of Karnin, Lang and Liberty. A number in level i represents 1<<i of
// the numbers that were added. A full level is sorted, and every second number goes to the next
// level. A coin decides whether these are the odd or the even ones. The coins are a hash, so that
// the same numbers give the same sketch.
type sketch struct {
	levels [][]int64 // keys of numbers
	size   int       // numbers in all levels
	most   int       // bound on size
	seed   uint64
	coins  uint64  // number of coins thrown
	free   []int64 // buffer of sortKeys
}

func newSketch(seed uint64) *sketch {
	s := &sketch{seed: seed}
	s.grow()
	return s
}

// grow adds a level.
func (s *sketch) grow() {
	s.levels = append(s.levels, nil)
	s.most = 0
	for level := range s.levels {
		s.most += s.capacity(level)
	}
}

// capacity returns the number of numbers at which a level is full: 2/3 of the capacity of the next
// level.
func (s *sketch) capacity(level int) int {
	above := len(s.levels) - 1 - level
	return max(8, int(math.Ceil(sketchSize*math.Pow(2./3, float64(above)))))
}

// add adds a number that represents 1<<level numbers.
func (s *sketch) add(v float64, level int) {
	for len(s.levels) <= level {
		s.grow()
	}
	s.levels[level] = append(s.levels[level], keyOf(v))
	if s.size++; s.size > s.most {
		s.compact()
	}
}

// all adds the numbers of x.
func (s *sketch) all(x []float64) {
	for _, v := range x {
		s.add(v, 0)
	}
}

// join adds the numbers of next, a sketch of the following part.
func (s *sketch) join(next *sketch) {
	for len(s.levels) < len(next.levels) {
		s.grow()
	}
	for level, numbers := range next.levels {
		s.levels[level] = append(s.levels[level], numbers...)
	}
	s.size += next.size
	for s.size > s.most {
		s.compact()
	}
}

// compact compacts the lowest full level. There is one, since the sketch is full.
func (s *sketch) compact() {
	level := 0
	for len(s.levels[level]) < s.capacity(level) {
		level++
	}
	if level+1 == len(s.levels) {
		s.grow()
	}
	numbers := s.levels[level]
	s.free = slices.Grow(s.free[:0], len(numbers))[:len(numbers)]
	sortKeys(numbers, s.free)
	odd := len(numbers) & 1
	up := s.levels[level+1]
	for i := odd + s.coin(); i < len(numbers); i += 2 {
		up = append(up, numbers[i])
	}
	s.levels[level+1] = up
	s.levels[level] = numbers[:odd]
	s.size -= (len(numbers) - odd) / 2
}

// coin returns 0 or 1. Every second coin is the opposite of the coin before, so that errors cancel.
func (s *sketch) coin() int {
	at := s.coins
	s.coins++
	return int((splitmix.Mix(s.seed, at/2) ^ at) & 1)
}

// finite returns a sketch of the finite numbers: s itself if it has no other. If it has only other
// numbers, the result has low and high.
func (s *sketch) finite(low, high float64) *sketch {
	infinite := func(key int64) bool { return math.IsInf(ofKey(key), 0) }
	if !slices.ContainsFunc(s.levels, func(keys []int64) bool { return slices.ContainsFunc(keys, infinite) }) {
		return s
	}
	kept := &sketch{}
	for _, numbers := range s.levels {
		numbers = slices.DeleteFunc(slices.Clone(numbers), infinite)
		kept.levels = append(kept.levels, numbers)
		kept.size += len(numbers)
	}
	if kept.size == 0 {
		kept.levels = [][]int64{{keyOf(low), keyOf(high)}}
	}
	return kept
}

// A weighted is a number that represents weight equal numbers.
type weighted struct {
	v      float64
	weight int
}

// quantiles returns the quantiles qs of the numbers that were added. low and high are the least and
// the greatest number.
func (s *sketch) quantiles(qs []float64, low, high float64) ([]float64, error) {
	all, n := s.sorted()
	return quantilesOf(all, n, qs, low, high)
}

// quantilesOf returns the quantiles qs of n numbers in order, as arith.Quantile does: at position
// q*(n-1), with linear interpolation. low and high are the least and the greatest number.
func quantilesOf(all []weighted, n int, qs []float64, low, high float64) ([]float64, error) {
	out := make([]float64, len(qs))
	for i, q := range qs {
		whole, part := math.Modf(q * float64(n-1))
		ends := tensor.Vector(ranked(all, int(whole)), ranked(all, int(math.Ceil(q*float64(n-1)))))
		v, err := arith.Quantile(ends, arith.Whole, part)
		if err == nil {
			out[i], err = tensor.Item[float64](v)
		}
		if err != nil {
			return nil, err
		}
		switch q {
		case 0:
			out[i] = low
		case 1:
			out[i] = high
		}
	}
	return out, nil
}

// sorted returns all numbers in order, and the sum of their weights.
func (s *sketch) sorted() (all []weighted, n int) {
	for level, numbers := range s.levels {
		for _, v := range numbers {
			all = append(all, weighted{ofKey(v), 1 << level})
		}
		n += len(numbers) << level
	}
	slices.SortFunc(all, func(a, b weighted) int { return cmp.Compare(a.v, b.v) })
	return all, n
}

// ranked returns the number at a position.
func ranked(all []weighted, at int) float64 {
	for _, w := range all {
		if at -= w.weight; at < 0 {
			return w.v
		}
	}
	return all[len(all)-1].v
}

// A sampler picks one of each 1<<shift numbers of a leaf, by a hash of their positions.
type sampler struct{ shift int }

// newSampler returns a sampler for a leaf of n positions. It picks at most mostPicked numbers.
func newSampler(n int) *sampler {
	s := &sampler{}
	for n>>s.shift > mostPicked {
		s.shift++
	}
	return s
}

// pick adds the picked numbers of x to a sketch. The first number of x has the position at.
func (s *sampler) pick(to *sketch, at uint64, x []float64) {
	if s.shift == 0 {
		to.all(x)
		return
	}
	stop := at + uint64(len(x))
	for run := at >> s.shift; run<<s.shift < stop; run++ {
		i := run<<s.shift + splitmix.Mix(0, run)&(1<<s.shift-1)
		if i >= at && i < stop {
			to.add(x[i-at], s.shift)
		}
	}
}
