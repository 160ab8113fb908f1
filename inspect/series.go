package inspect

import (
	"cmp"
	"context"
	"math"
	"math/cmplx"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/tensor"
)

const (
	partSize   = 1 << 17 // positions of a whole leaf that one goroutine takes in at a time
	columnPart = 1 << 12 // positions of each column
	columnTile = 64      // columns whose parts follow one another
)

// A series is the values that one Summary describes.
type series struct {
	n    int              // positions
	from []*tensor.Tensor // the values and, if there is one, the mask, of one shape
}

func newSeries(x, mask *tensor.Tensor) (s series, err error) {
	s.n = x.Size()
	if mask == nil {
		s.from, err = flattened(x)
		return s, err
	}
	if mask, err = expanded(mask, x.Shape()); err == nil {
		s.from, err = flattened(x, mask)
	}
	return s, err
}

// part returns the tally of the positions from and up to stop.
func (s *series) part(t *taker, sampler *sampler, from, stop int) (*tally, error) {
	t.begin(sampler, from)
	take := takers[s.from[0].DType()]
	err := eachBox(s.from, from, stop, func(parts []*tensor.Tensor) error {
		if len(parts) == 1 {
			return take(t, parts[0], nil)
		}
		var inner error
		err := tensor.Read(parts[1], func(mask []bool) { inner = take(t, parts[0], mask) })
		return cmp.Or(err, inner)
	})
	t.flush()
	return t.tally, err
}

// tallies returns the tally of each series, all of n positions, read in parts of a size.
func (d *describer) tallies(tile []series, n, size int) ([]*tally, error) {
	var s *sampler
	if len(d.opt.Quantiles) > 0 {
		s = newSampler(n)
	}
	all, sums := make([]*tally, len(tile)), make([]pairwise, len(tile))
	for i := range all {
		all[i] = newTally(s, -1)
	}
	parts := (n + size - 1) / size
	ahead := workers.Count(d.opt.Workers, parts)
	made := workers.Stream(d.ctx, parts, d.opt.Workers, ahead, func(_ context.Context, part int) ([]*tally, error) {
		each, t := make([]*tally, len(tile)), d.takers.Get().(*taker)
		defer d.takers.Put(t)
		for i := range tile {
			var err error
			if each[i], err = tile[i].part(t, s, part*size, min(part*size+size, n)); err != nil {
				return nil, err
			}
		}
		return each, nil
	})
	part := 0
	for each, err := range made {
		if err != nil {
			return nil, err
		}
		part++
		for i, next := range each {
			all[i].join(next)
			if part*size <= n {
				sums[i].push(next.sum)
				all[i].sum = sums[i].total(nil)
			} else {
				all[i].sum = sums[i].total(&next.sum)
			}
		}
	}
	return all, nil
}

// takers has a function for each dtype that takes in what mask, if it is not nil, does not hide.
var takers = map[tensor.DType]func(t *taker, x *tensor.Tensor, mask []bool) error{
	tensor.Bool:       taking(ofBools),
	tensor.Uint8:      taking(ofNumbers[uint8]),
	tensor.Uint16:     taking(ofNumbers[uint16]),
	tensor.Uint32:     taking(ofNumbers[uint32]),
	tensor.Uint64:     taking(ofUint64),
	tensor.Int8:       taking(ofNumbers[int8]),
	tensor.Int16:      taking(ofNumbers[int16]),
	tensor.Int32:      taking(ofNumbers[int32]),
	tensor.Int64:      taking(ofInt64),
	tensor.Float16:    taking(ofHalf[tensor.F16]),
	tensor.BFloat16:   taking(ofHalf[tensor.BF16]),
	tensor.Float32:    taking(ofNumbers[float32]),
	tensor.Float64:    taking(func(_ *tally, dst, x []float64) { copy(dst, x) }),
	tensor.Complex64:  taking(func(_ *tally, dst []float64, x []complex64) { ofComplex(dst, x) }),
	tensor.Complex128: taking(func(_ *tally, dst []float64, x []complex128) { ofComplex(dst, x) }),
}

// taking returns a function that takes in elements that are T. convert sets dst to them.
func taking[T tensor.Elem](convert func(t *tally, dst []float64, x []T)) func(t *taker, x *tensor.Tensor, mask []bool) error {
	return func(t *taker, x *tensor.Tensor, mask []bool) error {
		return tensor.Read(x, func(x []T) {
			var kept []T
			if mask != nil {
				kept = make([]T, 0, min(len(x), pieceSize))
			}
			for len(x) > 0 {
				n := min(len(x), len(t.room()))
				some := x[:n]
				if mask != nil {
					some = keep(kept[:0], some, mask)
					t.missing += n - len(some)
					mask = mask[n:]
				}
				convert(t.tally, t.room(), some)
				t.took(len(some))
				x = x[n:]
			}
		})
	}
}

// keep appends the elements that a mask does not hide.
func keep[T any](to, x []T, mask []bool) []T {
	for i, v := range x {
		if mask[i] {
			to = append(to, v)
		}
	}
	return to
}

func ofNumbers[T uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 | float32](_ *tally, dst []float64, x []T) {
	dst = dst[:len(x)]
	for len(x) >= 4 && len(dst) >= 4 { // the compiler does not unroll it
		dst[0], dst[1], dst[2], dst[3] = float64(x[0]), float64(x[1]), float64(x[2]), float64(x[3])
		x, dst = x[4:], dst[4:]
	}
	for i, v := range x {
		dst[i] = float64(v)
	}
}

func ofInt64(t *tally, dst []float64, x []int64) {
	if len(x) > 0 {
		t.ints.low, t.ints.high = min(t.ints.low, slices.Min(x)), max(t.ints.high, slices.Max(x))
	}
	ofNumbers(t, dst, x)
}

func ofUint64(t *tally, dst []float64, x []uint64) {
	if len(x) > 0 {
		t.ints.least, t.ints.most = min(t.ints.least, slices.Min(x)), max(t.ints.most, slices.Max(x))
	}
	ofNumbers(t, dst, x)
}

func ofBools(t *tally, dst []float64, x []bool) { ofNumbers(t, dst, cast.Bytes(x)) }

func ofHalf[T interface{ Float64() float64 }](_ *tally, dst []float64, x []T) {
	for i, v := range x {
		dst[i] = v.Float64()
	}
}

func ofComplex[T complex64 | complex128](dst []float64, x []T) {
	for i, v := range x {
		z := complex128(v)
		if dst[i] = cmplx.Abs(z); isNaN(z) {
			dst[i] = math.NaN()
		}
	}
}
