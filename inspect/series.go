package inspect

import (
	"cmp"
	"context"
	"math"
	"math/cmplx"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/vector"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/tensor"
)

const (
	partSize   = 1 << 17 // positions of a leaf in a part, which one goroutine reads
	columnPart = 1 << 12 // positions of each column in a part
	columnTile = 64      // columns that are described at a time
)

// A series is the values of one Summary and, if there is one, their mask, of one shape.
type series []*tensor.Tensor

func newSeries(x, mask *tensor.Tensor) (series, error) {
	if mask == nil {
		return series{x}, nil
	}
	mask, err := expanded(mask, x.Shape())
	return series{x, mask}, err
}

// part returns the tally of the positions from <= i < stop. at is the number of the first among all
// positions that are read.
func (s series) part(t *taker, p plan, at, from, stop int) (*tally, error) {
	t.begin(p, at)
	take := takers[s[0].DType()]
	err := eachBox(s, from, stop, func(parts []*tensor.Tensor) error {
		if len(parts) == 1 {
			return take(t, parts[0], nil)
		}
		var inner error
		err := tensor.Read(parts[1], func(mask []bool) { inner = take(t, parts[0], mask) })
		return cmp.Or(err, inner)
	})
	t.flush(true)
	t.sum = total(t.sums)
	if t.sketch != nil {
		t.free, t.sketch.free = t.sketch.free, nil // for the next part
	}
	return t.tally, err
}

// tallies returns the tally of each source, by the rules of read. If n is not nil, the tallies are
// for histograms.
func (d *describer) tallies(tile []source, size int, n *numerals) ([]*tally, error) {
	p := plan{numerals: n}
	if len(d.opt.Quantiles) > 0 {
		p.sampler = newSampler(tile[0].size())
	}
	return d.read(tile, size, slices.Repeat([]plan{p}, len(tile)))
}

// read returns the tally of each source, by its plan. All sources have the same positions, and are
// read in parts of size positions.
func (d *describer) read(tile []source, size int, plans []plan) ([]*tally, error) {
	all, sums := make([]*tally, len(tile)), make([][]float64, len(tile))
	for i := range all {
		all[i] = newTally(plans[i], -1)
		var err error
		if tile[i], err = tile[i].flattened(); err != nil {
			return nil, err
		}
	}
	parts := tile[0].parts(size)
	ahead := max(1, 4/len(tile)) * workers.Count(d.opt.Workers, len(parts))
	made := workers.Stream(d.ctx, len(parts), d.opt.Workers, ahead, func(_ context.Context, i int) ([]*tally, error) {
		each, t, part := make([]*tally, len(tile)), d.takers.Get().(*taker), parts[i]
		defer d.takers.Put(t)
		for i := range tile {
			var err error
			if each[i], err = tile[i][part.run].part(t, plans[i], part.at, part.from, part.stop); err != nil {
				return nil, err
			}
		}
		return each, nil
	})
	for each, err := range made {
		if err != nil {
			return nil, err
		}
		for i, next := range each {
			all[i].join(next)
			sums[i] = append(sums[i], next.sum)
		}
	}
	for i, parts := range sums {
		all[i].sum = total(parts)
	}
	return all, nil
}

// takers has a function for each dtype that adds the elements of x to a taker. A mask that is not
// nil hides the elements where it is false.
var takers = map[tensor.DType]func(t *taker, x *tensor.Tensor, mask []bool) error{
	tensor.Bool:       taking(func(_ []uint8, x []bool) []uint8 { return cast.Bytes(x) }),
	tensor.Uint8:      taking(numbers[uint8]),
	tensor.Uint16:     taking(numbers[uint16]),
	tensor.Uint32:     taking(numbers[uint32]),
	tensor.Uint64:     taking(numbers[uint64]),
	tensor.Int8:       taking(numbers[int8]),
	tensor.Int16:      taking(numbers[int16]),
	tensor.Int32:      taking(numbers[int32]),
	tensor.Int64:      taking(numbers[int64]),
	tensor.Float16:    taking(widened[tensor.F16]),
	tensor.BFloat16:   taking(widened[tensor.BF16]),
	tensor.Float32:    taking(numbers[float32]),
	tensor.Float64:    taking(numbers[float64]),
	tensor.Complex64:  taking(absolute[complex64]),
	tensor.Complex128: taking(absolute[complex128]),
}

// taking returns a function that adds elements of type T to a taker. convert returns the numbers of
// x, either x itself or dst.
func taking[T tensor.Elem, N vector.Real](convert func(dst []N, x []T) []N) func(t *taker, x *tensor.Tensor, mask []bool) error {
	return func(t *taker, x *tensor.Tensor, mask []bool) error {
		return tensor.Read(x, func(x []T) {
			var kept []T
			if mask != nil {
				kept = make([]T, 0, min(len(x), pieceSize))
			}
			dst := make([]N, min(len(x), pieceSize))
			for len(x) > 0 {
				if len(t.piece) == pieceSize {
					t.flush(false)
				}
				n := min(len(x), pieceSize-len(t.piece))
				some := x[:n]
				if mask != nil {
					some = keep(kept[:0], some, mask)
					t.missing += n - len(some)
					mask = mask[n:]
				}
				take(t, convert(dst[:len(some)], some))
				x = x[n:]
			}
		})
	}
}

// keep appends the elements of x that the mask does not hide.
func keep[T any](to, x []T, mask []bool) []T {
	for i, v := range x {
		if mask[i] {
			to = append(to, v)
		}
	}
	return to
}

func numbers[T vector.Real](_, x []T) []T { return x }

func widened[T interface{ Float32() float32 }](dst []float32, x []T) []float32 {
	for i, v := range x {
		dst[i] = v.Float32()
	}
	return dst
}

func absolute[T complex64 | complex128](dst []float64, x []T) []float64 {
	for i, v := range x {
		z := complex128(v)
		if dst[i] = cmplx.Abs(z); isNaN(z) {
			dst[i] = math.NaN()
		}
	}
	return dst
}

// isNaN reports whether either part of a complex number is NaN.
func isNaN(z complex128) bool { return math.IsNaN(real(z)) || math.IsNaN(imag(z)) }
