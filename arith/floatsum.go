package arith

import "math"

// sumBlock is how many elements a block of a sum has.
const sumBlock = 64

// A floatSum is a fold that adds numbers in the order that [Sum] states.
type floatSum[T floats] struct {
	finish func(sums []T, count int) error // or nil
	lined  int
	part   []T // the sums of the block that is being filled
	filled int // its rows
	blocks int // those before it
	tree   []T // at level*lined: the sums of 1<<level blocks, if that bit of blocks is set
}

func (s *floatSum[T]) begin(_, lines int) {
	s.lined, s.filled, s.blocks = lines, 0, 0
	if cap(s.part) < lines {
		s.part = make([]T, lines)
	}
	s.part = s.part[:lines]
	clear(s.part)
}

// push adds to the tree the sums of 1<<level blocks that are in part, and clears that.
func (s *floatSum[T]) push(level int) {
	at := level
	for b := s.blocks >> level; b&1 == 1; b >>= 1 {
		s.addTo(s.part, at)
		at++
	}
	if room := (at+1)*s.lined - len(s.tree); room > 0 {
		s.tree = append(s.tree, make([]T, room)...)
	}
	copy(s.tree[at*s.lined:], s.part)
	clear(s.part)
	s.blocks += 1 << level
	s.filled = 0
}

// addTo adds the sums of a level to those of fewer elements that follow them.
func (s *floatSum[T]) addTo(sums []T, level int) {
	before := s.tree[level*s.lined:][:len(sums)]
	for i, v := range before {
		sums[i] = v + sums[i]
	}
}

// total folds what is in the tree into part: the smallest first.
func (s *floatSum[T]) total() {
	for level := 0; s.blocks>>level > 0; level++ {
		if s.blocks>>level&1 == 0 {
			continue
		}
		if s.filled == 0 {
			copy(s.part, s.tree[level*s.lined:])
			s.filled = sumBlock
		} else {
			s.addTo(s.part, level)
		}
	}
}

func (s *floatSum[T]) end(dst []T) error {
	count := s.blocks*sumBlock + s.filled
	s.total()
	copy(dst, s.part)
	if s.finish == nil {
		return nil
	}
	return s.finish(dst, count)
}

func (s *floatSum[T]) line(_ int, x []T) {
	if s.filled > 0 {
		n := min(len(x), sumBlock-s.filled)
		s.part[0] = addAll(s.part[0], x[:n])
		if s.filled += n; s.filled == sumBlock {
			s.push(0)
		}
		x = x[n:]
	}
	for len(x) >= sumBlock {
		n, level := sumBlock, 0
		if s.blocks%8 == 0 && len(x) >= 8*sumBlock {
			s.part[0] = eightBlocks((*[8 * sumBlock]T)(x))
			n, level = 8*sumBlock, 3
		} else {
			s.part[0] = addAll(0, x[:sumBlock])
		}
		s.push(level)
		x = x[n:]
	}
	if len(x) > 0 {
		s.part[0] = addAll(s.part[0], x)
		s.filled += len(x)
	}
}

// addAll adds elements to a sum, one after the other.
func addAll[T floats](sum T, x []T) T {
	for _, v := range x {
		sum += v
	}
	return sum
}

// eightBlocks returns the sum of eight blocks, each of which is added up by itself, all of them in
// step.
func eightBlocks[T floats](x *[8 * sumBlock]T) T {
	var a, b, c, d, e, f, g, h T
	for i := range sumBlock {
		a += x[i]
		b += x[i+sumBlock]
		c += x[i+2*sumBlock]
		d += x[i+3*sumBlock]
		e += x[i+4*sumBlock]
		f += x[i+5*sumBlock]
		g += x[i+6*sumBlock]
		h += x[i+7*sumBlock]
	}
	return ((a + b) + (c + d)) + ((e + f) + (g + h))
}

func (s *floatSum[T]) rows(x []T, r rowList) {
	for len(r.offs) > 0 {
		part := r.first(min(len(r.offs), sumBlock-s.filled))
		sumRows(s.part, x, part.offs)
		if s.filled += len(part.offs); s.filled == sumBlock {
			s.push(0)
		}
	}
}

// sumRows adds rows to sums, one after the other.
func sumRows[T floats](sums, x []T, offs []int) {
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

// lines adds up eight lines at a time, in step.
func (s *floatSum[T]) lines(at int, dst []T, x []T, n int) error {
	for len(dst) >= 8 && n < 4096 && n > 1 {
		s.begin(at, 8)
		for from := 0; from < n; from += sumBlock {
			count := min(sumBlock, n-from)
			eightLines((*[8]T)(s.part), x[from:], n, count)
			if s.filled = count; count == sumBlock {
				s.push(0)
			}
		}
		if err := s.end(dst[:8]); err != nil {
			return err
		}
		at, dst, x = at+8, dst[8:], x[8*n:]
	}
	for i := range dst {
		s.begin(at+i, 1)
		s.line(0, x[i*n:(i+1)*n])
		if err := s.end(dst[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}

// eightLines sets sums to those of the first count elements of eight lines that are step apart.
func eightLines[T floats](sums *[8]T, x []T, step, count int) {
	for i := 0; i < 8; i += 4 {
		p, q := x[i*step:][:count], x[(i+1)*step:][:count]
		r, s := x[(i+2)*step:][:count], x[(i+3)*step:][:count]
		var a, b, c, d T
		for k := range p {
			a += p[k]
			b += q[k]
			c += r[k]
			d += s[k]
		}
		sums[i], sums[i+1], sums[i+2], sums[i+3] = a, b, c, d
	}
}

// groups adds up groups of at most a block without more ado.
func (s *floatSum[T]) groups(at int, dst []T, x []T, splits []int64) error {
	first, lo := splits[0], 0
	splits = splits[1:]
	dst = dst[:len(splits)]
	for i, end := range splits {
		group := x[lo : end-first]
		lo = int(end - first)
		if len(group) > sumBlock {
			s.begin(at+i, 1)
			s.line(0, group)
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

// join takes over the tree of what follows, whose levels are all below those that s has.
func (s *floatSum[T]) join(other fold[T, T]) {
	next := other.(*floatSum[T])
	for level := 62; level >= 0; level-- {
		if next.blocks>>level&1 == 1 {
			copy(s.part, next.tree[level*next.lined:][:next.lined])
			s.push(level)
		}
	}
	copy(s.part, next.part)
	s.filled = next.filled
}

// summing returns a recipe of sums that are finished by a function, or nil.
func summing[T floats](finish func(sums []T, count int) error) recipe[T, T] {
	return recipe[T, T]{fold: func([]T) fold[T, T] { return &floatSum[T]{finish: finish} }, joins: true}
}

// mean divides sums by how many elements count.
func mean[T float32 | float64](sums []T, count int) error {
	for i := range sums {
		sums[i] /= T(count)
	}
	return nil
}

func mean64(sums []complex64, count int) error {
	n := float32(count)
	for i, v := range sums {
		sums[i] = complex(real(v)/n, imag(v)/n)
	}
	return nil
}

func mean128(sums []complex128, count int) error {
	n := float64(count)
	for i, v := range sums {
		sums[i] = complex(real(v)/n, imag(v)/n)
	}
	return nil
}

// roots replaces sums by their square roots.
func roots(sums []float64, _ int) error {
	for i, v := range sums {
		sums[i] = math.Sqrt(v)
	}
	return nil
}
