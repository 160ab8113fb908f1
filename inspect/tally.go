package inspect

import (
	"bytes"
	"math"
	"math/bits"
	"slices"

	"github.com/go-tensordict/tensordict/internal/vector"
)

const (
	sumBlock  = 64      // elements of a block of a sum, as in arith.Sum
	pieceSize = 1 << 10 // numbers of a piece, which fits in the cache
)

// A tally summarizes values. Tallies of parts are joined in the order of the parts.
type tally struct {
	count, missing, nan, inf, negInf, zeros int

	numbers   int // values that are not NaN
	min, max  float64
	least     float64 // of the finite numbers
	greatest  float64
	low, high int64 // exact min and max: of int64, and of uint64 mapped by ordered
	sum       float64
	mean, m2  float64 // mean of the numbers, and sum of their squared distances from it
	sketch    *sketch // nil if no quantiles are wanted
	few       *few    // nil if no profile is wanted
	bins      []int   // counts along a scale, without the rest; nil for other tallies
}

// ordered maps uint64 to int64 and preserves the order.
func ordered(v uint64) int64 { return int64(v ^ 1<<63) }

// A plan says which figures of the values are collected.
type plan struct {
	sampler  *sampler  // picks numbers for quantiles; nil if none are wanted
	numerals *numerals // of a histogram; nil if none is wanted
	scale    scale     // if not nil, the values are only counted along it
}

func newTally(p plan, seed int) *tally {
	t := &tally{low: math.MaxInt64, high: math.MinInt64}
	t.min, t.max, t.least, t.greatest = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	switch {
	case p.scale != nil:
		t.bins = make([]int, p.scale.size()+2)
	case p.numerals != nil:
		t.few = &few{numerals: *p.numerals, counts: map[uint64]int{}}
	}
	if p.sampler != nil {
		t.sketch = newSketch(uint64(seed))
	}
	return t
}

// join adds next, the tally of the following part, except its sum.
func (t *tally) join(next *tally) {
	t.count, t.missing, t.nan = t.count+next.count, t.missing+next.missing, t.nan+next.nan
	t.inf, t.negInf, t.zeros = t.inf+next.inf, t.negInf+next.negInf, t.zeros+next.zeros
	t.min, t.max = min(t.min, next.min), max(t.max, next.max)
	t.low, t.high = min(t.low, next.low), max(t.high, next.high)
	t.least, t.greatest = min(t.least, next.least), max(t.greatest, next.greatest)
	for i, n := range next.bins {
		t.bins[i] += n
	}
	if t.few != nil {
		t.few.join(next.few)
	}
	t.moments(next.numbers, next.mean, next.m2)
	if t.sketch != nil {
		t.sketch.join(next.sketch)
	}
}

// moments adds n further numbers, given their mean and m2, by the method of Chan, Golub and
// LeVeque.
func (t *tally) moments(n int, mean, m2 float64) {
	if n == 0 {
		return
	}
	before, all := float64(t.numbers), float64(t.numbers+n)
	apart := mean - t.mean
	if t.numbers == 0 {
		t.mean, t.m2 = mean, m2
	} else {
		t.mean += apart * (float64(n) / all)
		t.m2 += m2 + apart*apart*(before*float64(n)/all)
	}
	t.numbers += n
}

// total adds the sums of blocks in the order of arith.Sum: neighbours, then pairs, and so on. The
// last block may be shorter.
func total(sums []float64) float64 {
	switch len(sums) {
	case 0:
		return 0
	case 1:
		return sums[0]
	}
	half := 1 << (bits.Len(uint(len(sums)-1)) - 1)
	return total(sums[:half]) + total(sums[half:])
}

// A taker tallies the values of one part of a leaf.
type taker struct {
	*tally
	plan
	at     uint64    // first position of the part, plus the number of numbers added
	piece  []float64 // numbers to be added when there are pieceSize
	sums   []float64 // sums of pieces
	blocks []float64 // buffer for the sums of the blocks of a piece
	bits   []uint8   // buffer with a byte for each number of a piece
	free   []int64   // buffer of the sketch
}

// begin resets t for the part that begins at the position at.
func (t *taker) begin(p plan, at int) {
	if t.piece == nil {
		t.piece, t.blocks, t.bits = make([]float64, 0, pieceSize), make([]float64, pieceSize/sumBlock), make([]uint8, pieceSize)
	}
	t.tally, t.plan, t.at = newTally(p, at), p, uint64(at)
	t.piece, t.sums = t.piece[:0], t.sums[:0]
	if t.sketch != nil {
		t.sketch.free = t.free
	}
}

// take adds values. The piece must have room for them.
func take[N vector.Real](t *taker, x []N) {
	if t.scale != nil {
		place(t.scale, t.bins, x)
		return
	}
	if t.few != nil {
		note(t.few, x)
	}
	t.count += len(x)
	from := len(t.piece)
	switch {
	case !look(t, x):
		for _, v := range x {
			if v == v {
				t.piece = append(t.piece, float64(v))
			}
		}
		t.nan += from + len(x) - len(t.piece)
		look(t, t.piece[from:])
	case len(x) == pieceSize && t.sketch == nil:
		addUp(t, x)
	default:
		for _, v := range x {
			t.piece = append(t.piece, float64(v))
		}
	}
}

// look updates extremes, zeros and infinities. If there is a NaN, it changes nothing and returns
// false.
func look[N vector.Real](t *taker, x []N) bool {
	if len(x) == 0 {
		return true
	}
	low, high := vector.Least(x[0], x), vector.Greatest(x[0], x)
	if low != low {
		return false
	}
	t.min, t.max = min(t.min, float64(low)), max(t.max, float64(high))
	switch low := any(low).(type) {
	case int64:
		t.low, t.high = min(t.low, low), max(t.high, any(high).(int64))
	case uint64:
		t.low, t.high = min(t.low, ordered(low)), max(t.high, ordered(any(high).(uint64)))
	}
	if low <= 0 && high >= 0 {
		t.zeros += countZeros(t.bits[:len(x)], x)
	}
	if math.IsInf(float64(low), -1) || math.IsInf(float64(high), 1) {
		infinities(t, x)
		return true
	}
	t.least, t.greatest = min(t.least, float64(low)), max(t.greatest, float64(high))
	return true
}

// infinities counts infinities, and updates the extremes of the finite numbers.
func infinities[N vector.Real](t *taker, x []N) {
	for _, v := range x {
		switch v := float64(v); {
		case math.IsInf(v, -1):
			t.inf, t.negInf = t.inf+1, t.negInf+1
		case math.IsInf(v, 1):
			t.inf++
		default:
			t.least, t.greatest = min(t.least, v), max(t.greatest, v)
		}
	}
}

// countZeros returns the number of zeros in x. It overwrites bits, which has the length of x.
func countZeros[N vector.Real](bits []uint8, x []N) (n int) {
	switch x := any(x).(type) {
	case []float32:
		vector.MarkNumber(vector.Equal, bits, x, 0)
		return bytes.Count(bits, []byte{1})
	case []float64:
		vector.MarkNumber(vector.Equal, bits, x, 0)
		return bytes.Count(bits, []byte{1})
	}
	for _, v := range x {
		if v == 0 {
			n++
		}
	}
	return n
}

// flush adds the numbers of the piece, and empties it. If they are all numbers of the part, they
// are not sampled: then all few numbers among many hidden or NaN ones count.
func (t *taker) flush(all bool) {
	switch {
	case t.sketch == nil:
	case all && t.numbers == 0:
		t.sketch.all(t.piece)
	default:
		t.sampler.pick(t.sketch, t.at, t.piece)
	}
	addUp(t, t.piece)
	t.piece = t.piece[:0]
}

// addUp adds the sum and the moments of the numbers of a piece.
func addUp[N vector.Real](t *taker, x []N) {
	if len(x) == 0 {
		return
	}
	sum := total(blockSums(t.blocks[:0], x))
	mean := sum / float64(len(x))
	t.sums = append(t.sums, sum)
	t.moments(len(x), mean, squares(x, mean))
	t.at += uint64(len(x))
}

// blockSums appends the sums of the blocks of x, the last of which may be shorter. In each block it
// adds one number after the other; it adds four blocks at a time.
func blockSums[N vector.Real](to []float64, x []N) []float64 {
	for ; len(x) >= 4*sumBlock; x = x[4*sumBlock:] {
		p, q, r, s := x[:sumBlock], x[sumBlock:][:sumBlock], x[2*sumBlock:][:sumBlock], x[3*sumBlock:][:sumBlock]
		var a, b, c, d float64
		for i := range p {
			a += float64(p[i])
			b += float64(q[i])
			c += float64(r[i])
			d += float64(s[i])
		}
		to = append(to, a, b, c, d)
	}
	for block := range slices.Chunk(x, sumBlock) {
		sum := 0.
		for _, v := range block {
			sum += float64(v)
		}
		to = append(to, sum)
	}
	return to
}

// squares returns the sum of the squared distances from mean. It adds four parts of x at a time.
func squares[N vector.Real](x []N, mean float64) (sum float64) {
	n := len(x) / 4
	p, q, r, s := x[:n], x[n:][:n], x[2*n:][:n], x[3*n:][:n]
	var a, b, c, d float64
	for i := range p {
		a += square(float64(p[i]) - mean)
		b += square(float64(q[i]) - mean)
		c += square(float64(r[i]) - mean)
		d += square(float64(s[i]) - mean)
	}
	for _, v := range x[4*n:] {
		sum += square(float64(v) - mean)
	}
	return sum + (a + b) + (c + d)
}

// square returns v*v, rounded: the conversion keeps the compiler from fusing it with a sum.
func square(v float64) float64 { return float64(v * v) }
