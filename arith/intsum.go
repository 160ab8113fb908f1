package arith

import (
	"fmt"
	"math/bits"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/tensor"
)

// An intSum is a fold that adds integers exactly. It adds up to flushAt elements in 64 bits, the
// lower and the upper halves of 64-bit integers separately, which cannot wrap around. Then it moves
// these sums to totals of 128 bits.
type intSum[T integers, D int64 | uint64] struct {
	blend  blender[T]
	nlines int     // the number of lines
	count  int     // elements of a line added to lower and upper
	lower  []int64 // for each line
	upper  []int64 // for each line; of 64-bit integers
	totals []total
}

// A total is a sum of 128 bits.
type total struct{ hi, lo uint64 }

// add adds v<<shift.
func (t *total) add(v int64, shift uint) {
	var carry uint64
	t.lo, carry = bits.Add64(t.lo, uint64(v)<<shift, 0)
	t.hi, _ = bits.Add64(t.hi, uint64(v>>(63-shift)>>1), carry)
}

// flushAt is the number of elements that are added before a flush: an int64 holds the sum of 1<<30
// halves.
const flushAt = 1 << 30

func newIntSum[T integers, D int64 | uint64]([]D) fold[T, D] { return new(intSum[T, D]) }

// wide reports whether elements have 64 bits.
func (*intSum[T, D]) wide() bool { return cast.Size[T]() == 8 }

func (s *intSum[T, D]) begin(_, lines int) {
	s.nlines, s.count = lines, 0
	s.lower, s.upper = zeros(s.lower, lines), zeros(s.upper, lines)
	s.totals = zeros(s.totals, lines)
}

// zeros returns n zeros. It reuses the memory of s if that is large enough.
func zeros[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// flush moves the sums in lower and upper to the totals.
func (s *intSum[T, D]) flush() {
	for i := range s.totals {
		s.totals[i].add(s.lower[i], 0)
		s.totals[i].add(s.upper[i], 32)
	}
	clear(s.lower)
	clear(s.upper)
	s.count = 0
}

func (s *intSum[T, D]) line(_ int, x []T, bits []byte) {
	x = s.blend.line(x, bits, 0)
	for len(x) > 0 {
		n := min(len(x), flushAt-s.count)
		if s.wide() {
			lower, upper := addHalves[T, D](x[:n])
			s.lower[0], s.upper[0] = s.lower[0]+lower, s.upper[0]+upper
		} else {
			s.lower[0] += addIntegral(x[:n])
		}
		if s.count += n; s.count == flushAt {
			s.flush()
		}
		x = x[n:]
	}
}

// addIntegral adds integers of at most 32 bits.
func addIntegral[T integers](x []T) int64 {
	var a, b, c, d int64
	for ; len(x) >= 4; x = x[4:] {
		a += int64(x[0])
		b += int64(x[1])
		c += int64(x[2])
		d += int64(x[3])
	}
	for _, v := range x {
		a += int64(v)
	}
	return a + b + c + d
}

// addHalves adds the lower halves and the upper halves of 64-bit integers.
func addHalves[T integers, D int64 | uint64](x []T) (lower, upper int64) {
	for _, v := range x {
		lower += int64(uint32(v))
		upper += int64(D(v) >> 32)
	}
	return lower, upper
}

func (s *intSum[T, D]) rows(x []T, r rowList) {
	x, r = s.blend.rows(x, r, s.nlines, 0)
	for len(r.offs) > 0 {
		part := r.first(min(len(r.offs), flushAt-s.count))
		if s.wide() {
			s.addHalves(x, part.offs)
		} else {
			s.addRows(x, part.offs)
		}
		if s.count += len(part.offs); s.count == flushAt {
			s.flush()
		}
	}
}

func (s *intSum[T, D]) addRows(x []T, offs []int) {
	n, sums := s.nlines, s.lower
	for ; len(offs) >= 4; offs = offs[4:] {
		a, b, c, d := x[offs[0]:][:n], x[offs[1]:][:n], x[offs[2]:][:n], x[offs[3]:][:n]
		for i, v := range sums {
			sums[i] = v + int64(a[i]) + int64(b[i]) + int64(c[i]) + int64(d[i])
		}
	}
	for _, off := range offs {
		for i, v := range x[off:][:n] {
			sums[i] += int64(v)
		}
	}
}

func (s *intSum[T, D]) addHalves(x []T, offs []int) {
	lower, upper := s.lower, s.upper[:len(s.lower)]
	for _, off := range offs {
		for i, v := range x[off:][:len(lower)] {
			lower[i] += int64(uint32(v))
			upper[i] += int64(D(v) >> 32)
		}
	}
}

func (s *intSum[T, D]) end(dst []D) error {
	s.flush()
	for i, t := range s.totals[:len(dst)] {
		dst[i] = D(t.lo)
		if sign := uint64(int64(t.lo) >> 63); t.hi != sign && D(0)-1 < 0 || t.hi != 0 && D(0)-1 > 0 {
			return fmt.Errorf("%w: a sum overflows %v", tensor.ErrDType, tensor.DTypeOf[D]())
		}
	}
	return nil
}

func (s *intSum[T, D]) join(other fold[T, D], _ int) {
	next := other.(*intSum[T, D])
	s.flush()
	next.flush()
	for i, t := range next.totals {
		var carry uint64
		s.totals[i].lo, carry = bits.Add64(s.totals[i].lo, t.lo, 0)
		s.totals[i].hi, _ = bits.Add64(s.totals[i].hi, t.hi, carry)
	}
}

// lines adds short lines directly if they cannot wrap around.
func (s *intSum[T, D]) lines(at int, dst []D, x []T, n int, bits []byte) error {
	x = s.blend.line(x, bits, 0)
	for i := range dst {
		if err := s.one(at+i, dst[i:i+1], x[i*n:(i+1)*n]); err != nil {
			return err
		}
	}
	return nil
}

func (s *intSum[T, D]) groups(at int, dst []D, x []T, splits []int64) error {
	for i := range dst {
		if err := s.one(at+i, dst[i:i+1], x[splits[i]-splits[0]:splits[i+1]-splits[0]]); err != nil {
			return err
		}
	}
	return nil
}

// one sets dst to the sum of a line.
func (s *intSum[T, D]) one(at int, dst []D, x []T) error {
	if !s.wide() && len(x) < flushAt {
		dst[0] = D(addIntegral(x))
		return nil
	}
	s.begin(at, 1)
	s.line(0, x, nil)
	return s.end(dst)
}
