package arith

import (
	"math"

	"github.com/go-tensordict/tensordict/internal/vector"
)

// sumBlock is the number of elements in a block of a sum.
const sumBlock = 64

// A floatSum is a fold that adds numbers in the order of sums, see the package documentation.
type floatSum[T floats] struct {
	finish func(sums []T, count int) error // or nil

	counter
	blend  blender[T]
	nlines int // the number of lines
	part   []T // for each line, the sum of the current block
	filled int // rows in the current block
	blocks int // complete blocks before it
	tree   []T // at level*nlines: the sums of 1<<level blocks, if that bit of blocks is set

	blockSums [64]T // scratch for eights
}

func (s *floatSum[T]) begin(_, lines int) {
	s.counter.begin()
	s.nlines, s.filled, s.blocks = lines, 0, 0
	if cap(s.part) < lines {
		s.part = make([]T, lines)
	}
	s.part = s.part[:lines]
	clear(s.part)
}

// push adds part, the sums of 1<<level blocks, to the tree, and clears part.
func (s *floatSum[T]) push(level int) {
	at := level
	for b := s.blocks >> level; b&1 == 1; b >>= 1 {
		s.addTo(s.part, at)
		at++
	}
	if room := (at+1)*s.nlines - len(s.tree); room > 0 {
		s.tree = append(s.tree, make([]T, room)...)
	}
	copy(s.tree[at*s.nlines:], s.part)
	clear(s.part)
	s.blocks += 1 << level
	s.filled = 0
}

// addTo adds the sums at a level of the tree to sums, which are of the fewer elements after them.
func (s *floatSum[T]) addTo(sums []T, level int) {
	before := s.tree[level*s.nlines:][:len(sums)]
	for i, v := range before {
		sums[i] = v + sums[i]
	}
}

// total adds the sums in the tree to part, the level of fewest blocks first.
func (s *floatSum[T]) total() {
	for level := 0; s.blocks>>level > 0; level++ {
		if s.blocks>>level&1 == 0 {
			continue
		}
		if s.filled == 0 {
			copy(s.part, s.tree[level*s.nlines:])
			s.filled = sumBlock
		} else {
			s.addTo(s.part, level)
		}
	}
}

func (s *floatSum[T]) end(dst []T) error {
	s.total()
	copy(dst, s.part)
	return s.finished(dst)
}

// finished applies finish to the sums of lines.
func (s *floatSum[T]) finished(dst []T) error {
	switch {
	case s.finish == nil:
		return nil
	case len(s.own) == 0:
		return s.finish(dst, s.all)
	}
	for i := range dst {
		if err := s.finish(dst[i:i+1], s.of(i)); err != nil {
			return err
		}
	}
	return nil
}

func (s *floatSum[T]) line(at int, x []T, bits []byte) {
	s.skip(at)
	if s.finish != nil {
		s.counter.line(len(x), bits)
	}
	s.add(s.blend.line(x, bits, 0))
}

// skip goes on to a position: what lies before it and does not count adds 0.
func (s *floatSum[T]) skip(at int) {
	for at >= (s.blocks+1)*sumBlock {
		s.push(0)
	}
	s.filled = max(s.filled, at-s.blocks*sumBlock)
}

// add adds elements to the only line.
func (s *floatSum[T]) add(x []T) {
	if s.filled > 0 {
		n := min(len(x), sumBlock-s.filled)
		s.part[0] = addAll(s.part[0], x[:n])
		if s.filled += n; s.filled == sumBlock {
			s.push(0)
		}
		x = x[n:]
	}
	for len(x) >= sumBlock {
		if s.blocks%8 == 0 && len(x) >= 8*sumBlock {
			x = x[s.eights(x):]
			continue
		}
		s.part[0] = addAll(0, x[:sumBlock])
		s.push(0)
		x = x[sumBlock:]
	}
	if len(x) > 0 {
		s.part[0] = addAll(s.part[0], x)
		s.filled += len(x)
	}
}

// addAll adds elements to sum, one after the other.
func addAll[T floats](sum T, x []T) T {
	for _, v := range x {
		sum += v
	}
	return sum
}

// eights adds the leading blocks of x, a multiple of eight of them. It returns the number of
// elements that it has added.
func (s *floatSum[T]) eights(x []T) (n int) {
	blocks := min(len(x)/sumBlock, len(s.blockSums)) &^ 7
	sumLines(s.blockSums[:blocks], x, sumBlock, sumBlock)
	for b := 0; b < blocks; b += 8 {
		p := s.blockSums[b:][:8]
		s.part[0] = ((p[0] + p[1]) + (p[2] + p[3])) + ((p[4] + p[5]) + (p[6] + p[7]))
		s.push(3)
	}
	return blocks * sumBlock
}

// sumLines sets sums[i] to the sum of x[i*step:][:n], added one after the other from 0 on.
func sumLines[T floats](sums, x []T, step, n int) {
	switch to := any(sums).(type) {
	case []float32:
		vector.Sums(to, any(x).([]float32), step, n)
	case []float64:
		vector.Sums(to, any(x).([]float64), step, n)
	default:
		for i := range sums {
			sums[i] = addAll(0, x[i*step:][:n])
		}
	}
}

// rows leaves out rows that do not count, which would add 0, but for their place in blocks.
func (s *floatSum[T]) rows(x []T, r rowList) {
	if s.finish != nil {
		s.counter.rows(r, s.nlines)
	}
	x, r = s.blend.rows(x, r, s.nlines, 0)
	for len(r.offs) > 0 {
		s.skip(r.at[0])
		n, end := min(len(r.offs), (s.blocks+1)*sumBlock-r.at[0]), (s.blocks+1)*sumBlock
		for r.at[n-1] >= end {
			n--
		}
		part := r.first(n)
		sumRows(s.part, x, part.offs)
		if s.filled = part.at[n-1] + 1 - s.blocks*sumBlock; s.filled == sumBlock {
			s.push(0)
		}
	}
}

// sumRows adds the rows of x that begin at offs to sums, one after the other.
func sumRows[T floats](sums, x []T, offs []int) {
	switch to := any(sums).(type) {
	case []float32:
		vector.AddRows(to, any(x).([]float32), offs)
		return
	case []float64:
		vector.AddRows(to, any(x).([]float64), offs)
		return
	}
	n := len(sums)
	for ; len(offs) >= 4; offs = offs[4:] {
		a, b, c, d := x[offs[0]:][:n], x[offs[1]:][:n], x[offs[2]:][:n], x[offs[3]:][:n]
		for i, v := range sums {
			sums[i] = v + a[i] + b[i] + c[i] + d[i]
		}
	}
	for _, off := range offs {
		for i, v := range x[off:][:n] {
			sums[i] += v
		}
	}
}

// someLines is the number of lines that are added in step. More lines share the cost of a block;
// fewer lines are closer together in memory.
const someLines = 32

// lines adds lines of at most one block directly, and longer ones someLines at a time.
func (s *floatSum[T]) lines(at int, dst []T, x []T, n int, bits []byte) error {
	x = s.blend.line(x, bits, 0)
	count := func(lines int) { // counts the elements of the next lines
		if s.all = n; bits != nil && s.finish != nil {
			s.all, s.own = 0, zeros(s.own, lines)
			for i := range s.own {
				s.own[i] = ones(bits[i*n : (i+1)*n])
			}
			bits = bits[lines*n:]
		}
	}
	if n <= sumBlock {
		sumLines(dst, x, n, n)
		s.counter.begin()
		count(len(dst))
		return s.finished(dst)
	}
	for len(dst) >= 8 && n < 4096 {
		lines := min(len(dst), someLines) &^ 7
		s.begin(at, lines)
		count(lines)
		for from := 0; from < n; from += sumBlock {
			count := min(sumBlock, n-from)
			sumLines(s.part, x[from:], n, count)
			if s.filled = count; count == sumBlock {
				s.push(0)
			}
		}
		if err := s.end(dst[:lines]); err != nil {
			return err
		}
		at, dst, x = at+lines, dst[lines:], x[lines*n:]
	}
	for i := range dst {
		s.begin(at+i, 1)
		count(1)
		s.add(x[i*n : (i+1)*n])
		if err := s.end(dst[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}

// groups adds groups of at most one block directly.
func (s *floatSum[T]) groups(at int, dst []T, x []T, splits []int64) error {
	first, lo := splits[0], 0
	splits = splits[1:]
	dst = dst[:len(splits)]
	for i, end := range splits {
		group := x[lo : end-first]
		lo = int(end - first)
		if len(group) > sumBlock {
			s.begin(at+i, 1)
			s.line(0, group, nil)
			if err := s.end(dst[i : i+1]); err != nil {
				return err
			}
			continue
		}
		var sum T
		for _, v := range group {
			sum += v
		}
		dst[i] = sum
		if s.finish != nil {
			if err := s.finish(dst[i:i+1], len(group)); err != nil {
				return err
			}
		}
	}
	return nil
}

// join adds the tree of the fold of the elements from position at on. All its levels are below the
// levels of s, which may end before at if the last rows do not count.
func (s *floatSum[T]) join(other fold[T, T], at int) {
	next := other.(*floatSum[T])
	s.skip(at)
	s.counter.join(&next.counter)
	for level := 62; level >= 0; level-- {
		if next.blocks>>level&1 == 1 {
			copy(s.part, next.tree[level*next.nlines:][:next.nlines])
			s.push(level)
		}
	}
	copy(s.part, next.part)
	s.filled = next.filled
}

// summing returns a recipe of sums. If finish is not nil, it is applied to the sums.
func summing[T floats](finish func(sums []T, count int) error) recipe[T, T] {
	return recipe[T, T]{fold: func([]T) fold[T, T] { return &floatSum[T]{finish: finish} }, joins: true}
}

// mean returns a function that divides sums by the number of elements that count. If checked is
// true, it returns errRange if a result is infinite.
func mean[T float32 | float64](checked bool) func(sums []T, count int) error {
	return func(sums []T, count int) error {
		large := false
		for i := range sums {
			sums[i] /= T(count)
			large = large || sums[i]-sums[i] != 0 && sums[i] == sums[i]
		}
		if large && checked {
			return errRange
		}
		return nil
	}
}

// meanComplex is mean of complex numbers, unchecked.
func meanComplex[T complex64 | complex128](sums []T, count int) error {
	n := float64(count)
	for i, v := range sums {
		wide := complex128(v)
		sums[i] = T(complex(real(wide)/n, imag(wide)/n))
	}
	return nil
}

// roots returns a function that replaces sums by their square roots. If checked is true, it returns
// errRange if a result is infinite or small.
func roots(checked bool) func(sums []float64, _ int) error {
	return func(sums []float64, _ int) error {
		odd := false
		for i, v := range sums {
			sums[i] = math.Sqrt(v)
			odd = odd || v > math.MaxFloat64 || v < smallest*smallest
		}
		if odd && checked {
			return errRange
		}
		return nil
	}
}
