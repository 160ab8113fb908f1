package arith

import (
	"sync"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/tensor"
)

// chunk is the number of elements that a slice function gets at once: few enough for broadcast
// operands to stay in the cache.
const chunk = 2048

// A slicer is a function on slices for several ops: it sets dst to the result of op o on up to
// three operands, which are as long as dst.
type slicer[T, D cast.Fixed] func(o op, dst []D, x [3][]T) error

// A scratch is memory for one chunk of each operand and of the result.
type scratch [4][chunk * 16]byte

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// byChunk runs a slicer on a block, chunk by chunk. It broadcasts an operand that has fewer
// elements than the result, unless it is a single number and the op takes that.
func byChunk[T, D cast.Fixed](b *tensor.Block, o op, fn slicer[T, D]) error {
	return inSteps(b, o, fn, chunk)
}

// atOnce is byChunk for a slicer that takes slices of any length: it runs on the whole block at
// once if no operand is broadcast.
func atOnce[T, D cast.Fixed](b *tensor.Block, o op, fn slicer[T, D]) error {
	if o.broadcasts(b) {
		return byChunk(b, o, fn)
	}
	return inSteps(b, o, fn, b.Rows*b.Width)
}

func inSteps[T, D cast.Fixed](b *tensor.Block, o op, fn slicer[T, D], step int) error {
	s := broadcaster[T]{block: b, number: o.takesNumbers(b)}
	defer s.done()
	dst, _ := cast.Slice[D](b.Dst)
	for at := 0; at < len(dst); at += step {
		n := min(step, len(dst)-at)
		if err := fn(o, dst[at:at+n], s.next(at, n)); err != nil {
			return err
		}
	}
	return nil
}

// takesNumbers reports whether all operands of a block after the first are single numbers, and op o
// takes those.
func (o op) takesNumbers(b *tensor.Block) bool {
	for _, l := range b.Src[1:] {
		if l.Per != tensor.PerBlock {
			return false
		}
	}
	f := ops[o].family
	return b.Src[0].DType.IsFloat() && (f == ofPairs || f == ofComparisons || o == opClamp)
}

// broadcasts reports whether an operand of a block must be broadcast.
func (o op) broadcasts(b *tensor.Block) bool {
	for i, l := range b.Src {
		if l.Per == tensor.PerRow && b.Width > 1 || l.Per == tensor.PerBlock && (i == 0 || !o.takesNumbers(b)) {
			return true
		}
	}
	return false
}

// A broadcaster broadcasts the operands of a block, chunk by chunk.
type broadcaster[T cast.Fixed] struct {
	block  *tensor.Block
	number bool // operands after the first are single numbers, and are not broadcast
	room   *scratch
	x      [3][]T
}

// done returns the scratch memory to the pool.
func (s *broadcaster[T]) done() {
	if s.room != nil {
		scratches.Put(s.room)
	}
}

// next returns n elements of each operand, from element at on.
func (s *broadcaster[T]) next(at, n int) [3][]T {
	for i, l := range s.block.Src {
		switch {
		case l.Per == tensor.PerElement:
			all, _ := cast.Slice[T](l.Bytes)
			s.x[i] = all[at : at+n]
		case l.Per == tensor.PerRow && s.block.Width == 1:
			all, _ := cast.Slice[T](l.Bytes)
			s.x[i] = all[at : at+n]
		case l.Per == tensor.PerRow:
			s.x[i] = s.rows(i, at, n)
		case s.number && i > 0:
			s.x[i], _ = cast.Slice[T](l.Bytes)
		case at == 0:
			s.x[i] = s.one(i, n)
		default:
			s.x[i] = s.x[i][:n]
		}
	}
	return s.x
}

// space returns memory for n elements of the i-th operand.
func (s *broadcaster[T]) space(i, n int) []T {
	if s.room == nil {
		s.room = scratches.Get().(*scratch)
	}
	all, _ := cast.Slice[T](s.room[i][:n*cast.Size[T]()])
	return all
}

// one broadcasts the only element of an operand.
func (s *broadcaster[T]) one(i, n int) []T {
	all, _ := cast.Slice[T](s.block.Src[i].Bytes)
	return repeated(s.space(i, n), all[0])
}

// rows broadcasts an operand that has one element for each row.
func (s *broadcaster[T]) rows(i, at, n int) []T {
	all, _ := cast.Slice[T](s.block.Src[i].Bytes)
	to, width := s.space(i, n), s.block.Width
	for done := 0; done < n; {
		row, x := (at+done)/width, (at+done)%width
		k := min(n-done, width-x)
		repeated(to[done:done+k], all[row])
		done += k
	}
	return to
}

// repeated sets all elements of s to v, and returns s.
func repeated[T any](s []T, v T) []T {
	for i := range s {
		s[i] = v
	}
	return s
}
