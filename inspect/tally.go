package inspect

import (
	"encoding/binary"
	"math"

	"github.com/go-tensordict/tensordict/internal/vector"
)

const (
	sumBlock  = 64      // elements of a block of a sum, as arith.Sum has it
	pieceSize = 1 << 10 // numbers that are taken in at a time, while they are in the cache
)

// A tally is what is known of some values. Tallies of parts are joined in the order of the parts.
type tally struct {
	count, missing, nan, inf, zeros int

	numbers  int // values that are not NaN
	min, max float64
	ints     extremes
	sum      float64
	mean, m2 float64 // of the numbers, and the sum of the squares of the distances from it
	sketch   *sketch // nil if no quantiles are wanted
}

// extremes are the least and the greatest integer, which a float64 may not hold.
type extremes struct {
	low, high   int64
	least, most uint64
}

func newTally(sampler *sampler, seed int) *tally {
	t := &tally{min: math.Inf(1), max: math.Inf(-1)}
	t.ints = extremes{math.MaxInt64, math.MinInt64, math.MaxUint64, 0}
	if sampler != nil {
		t.sketch = newSketch(uint64(seed))
	}
	return t
}

// join adds what is known of the values that follow, all but their sum.
func (t *tally) join(next *tally) {
	t.count, t.missing, t.nan = t.count+next.count, t.missing+next.missing, t.nan+next.nan
	t.inf, t.zeros = t.inf+next.inf, t.zeros+next.zeros
	t.min, t.max = min(t.min, next.min), max(t.max, next.max)
	t.ints.low, t.ints.high = min(t.ints.low, next.ints.low), max(t.ints.high, next.ints.high)
	t.ints.least, t.ints.most = min(t.ints.least, next.ints.least), max(t.ints.most, next.ints.most)
	t.moments(next.numbers, next.mean, next.m2)
	if t.sketch != nil {
		t.sketch.join(next.sketch)
	}
}

// moments joins the mean and the squares of n further numbers, as Chan, Golub and LeVeque do.
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

// A pairwise adds up sums of blocks in the order of arith.Sum: neighbours, then pairs, and so on.
type pairwise struct {
	blocks int
	tree   [64]float64 // the sum of 1<<level blocks, if that bit of blocks is set
}

// push adds the sum of the next block.
func (p *pairwise) push(sum float64) {
	level := 0
	for b := p.blocks; b&1 == 1; b >>= 1 {
		sum = p.tree[level] + sum
		level++
	}
	p.tree[level] = sum
	p.blocks++
}

// total returns the sum of all blocks and, if it is not nil, of a shorter one after them: the
// smallest first.
func (p *pairwise) total(rest *float64) (sum float64) {
	has := rest != nil
	if has {
		sum = *rest
	}
	for level := 0; p.blocks>>level > 0; level++ {
		switch {
		case p.blocks>>level&1 == 0:
		case has:
			sum = p.tree[level] + sum
		default:
			sum, has = p.tree[level], true
		}
	}
	return sum
}

// A taker takes in the values of one part of a leaf.
type taker struct {
	*tally
	sums    pairwise // of the whole part
	line    pairwise // of a piece
	sampler *sampler
	at      uint64    // where in the leaf the part begins, and the numbers that were taken in since
	piece   []float64 // numbers that wait until they are pieceSize
	scratch []float64
	bits    []uint8
	lines   [pieceSize / sumBlock]float64
}

// begin makes t ready for the part that begins at a position of a leaf.
func (t *taker) begin(sampler *sampler, at int) {
	if t.piece == nil {
		t.piece, t.scratch, t.bits = make([]float64, 0, pieceSize), make([]float64, pieceSize), make([]uint8, pieceSize)
	}
	t.tally, t.sampler, t.at, t.piece = newTally(sampler, at), sampler, uint64(at), t.piece[:0]
	t.sums.blocks = 0
}

// room returns the free end of the piece, where the next numbers go.
func (t *taker) room() []float64 { return t.piece[len(t.piece):pieceSize] }

// took says that n values were put in the room. NaNs among them are counted, and dropped.
func (t *taker) took(n int) {
	from := len(t.piece)
	t.count += n
	added := t.piece[from : from+n]
	low, high := vector.Least(math.Inf(1), added), vector.Greatest(math.Inf(-1), added)
	if low != low {
		n = dropNaN(added)
		t.nan += len(added) - n
		added = added[:n]
		low, high = vector.Least(math.Inf(1), added), vector.Greatest(math.Inf(-1), added)
	}
	if n > 0 && (math.IsInf(low, -1) || math.IsInf(high, 1)) {
		t.inf += countInf(added)
	}
	if low <= 0 && high >= 0 {
		t.zeros += t.countZeros(added)
	}
	t.min, t.max = min(t.min, low), max(t.max, high)
	if t.piece = t.piece[:from+n]; len(t.piece) == pieceSize {
		t.flush()
	}
}

// dropNaN moves the numbers to the front, and returns how many there are.
func dropNaN(x []float64) (n int) {
	for _, v := range x {
		if v == v {
			x[n] = v
			n++
		}
	}
	return n
}

func countInf(x []float64) (n int) {
	for _, v := range x {
		if math.IsInf(v, 0) {
			n++
		}
	}
	return n
}

func (t *taker) countZeros(x []float64) (n int) {
	bits := t.bits[:len(x)]
	vector.EqualNumber(bits, x, 0)
	return countOnes(bits)
}

// countOnes returns the sum of bytes that are 0 or 1, eight at a time.
func countOnes(bits []uint8) (n int) {
	for len(bits) >= 8 {
		some := bits[:min(len(bits)&^7, 8*255)] // else a byte of the sums overflows
		bits = bits[len(some):]
		var eight uint64
		for ; len(some) >= 8; some = some[8:] {
			eight += binary.LittleEndian.Uint64(some)
		}
		for ; eight > 0; eight >>= 8 {
			n += int(eight & 0xff)
		}
	}
	for _, b := range bits {
		n += int(b)
	}
	return n
}

// flush takes in the numbers of the piece.
func (t *taker) flush() {
	x := t.piece
	if len(x) == 0 {
		return
	}
	if t.sketch != nil {
		t.sampler.pick(t.at, x, t.sketch.add)
	}
	sum, rest := t.addUp(x)
	for _, line := range t.lines[:len(x)/sumBlock] {
		t.sums.push(line)
	}
	t.sum = t.sums.total(rest) // only the last piece has a rest
	mean := sum / float64(len(x))
	squares := t.scratch[:len(x)]
	vector.SubNumber(squares, x, mean)
	vector.Mul(squares, squares, squares)
	t.moments(len(x), mean, halved(squares))
	t.at += uint64(len(x))
	t.piece = t.piece[:0]
}

// halved returns the sum of numbers, which it changes: it adds their second half to the first, until
// few are left.
func halved(x []float64) (sum float64) {
	for len(x) > 8 {
		half := len(x) / 2
		vector.Add(x[:half], x[:half], x[len(x)-half:])
		x = x[:len(x)-half]
	}
	for _, v := range x {
		sum += v
	}
	return sum
}

// addUp returns the sum of the numbers of a piece, and that of the shorter block at its end, nil if
// there is none. The sums of whole blocks stay in lines.
func (t *taker) addUp(x []float64) (sum float64, rest *float64) {
	whole := len(x) / sumBlock
	vector.Sums(t.lines[:whole], x, sumBlock, sumBlock)
	t.line.blocks = 0
	for _, line := range t.lines[:whole] {
		t.line.push(line)
	}
	if x = x[whole*sumBlock:]; len(x) > 0 {
		rest = new(float64)
		for _, v := range x {
			*rest += v
		}
	}
	return t.line.total(rest), rest
}
