package arith

import (
	"sync"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/tensor"
)

// chunk is how many elements a slice function is given at once: few enough that what is spelled
// out for it stays in the cache.
const chunk = 2048

// A family is a slice function of several ops, for elements of type T: it sets dst to what the op
// makes of as many elements of up to three operands.
type family[T, D cast.Fixed] func(o op, dst []D, x [3][]T) error

// A scratch is room for chunks: of each operand, and of the result.
type scratch [4][chunk * 16]byte

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// spelled runs a family on a block, chunk by chunk. An operand with fewer elements than the result
// is spelled out, unless it is one number for all and the op takes those.
func spelled[T, D cast.Fixed](b *tensor.Block, o op, fn family[T, D]) error {
	return inSteps(b, o, fn, chunk)
}

// straight is spelled for a family that takes any number of elements: it runs on the whole block at
// once if nothing is spelled out.
func straight[T, D cast.Fixed](b *tensor.Block, o op, fn family[T, D]) error {
	if o.spells(b) {
		return spelled(b, o, fn)
	}
	return inSteps(b, o, fn, b.Rows*b.Width)
}

func inSteps[T, D cast.Fixed](b *tensor.Block, o op, fn family[T, D], step int) error {
	s := speller[T]{block: b, number: o.takesNumbers(b)}
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

// takesNumbers reports whether all operands of a block after the first are one number for all, and
// an op takes those.
func (o op) takesNumbers(b *tensor.Block) bool {
	for _, l := range b.Src[1:] {
		if l.Per != tensor.PerBlock {
			return false
		}
	}
	switch d := b.Src[0].DType; {
	case o <= opDiv:
		return !d.IsInteger()
	case o == opMinimum, o == opMaximum, o == opClamp, opEqual <= o && o <= opGreaterEqual:
		return d.IsFloat()
	}
	return false
}

// spells reports whether an operand of a block is spelled out.
func (o op) spells(b *tensor.Block) bool {
	for i, l := range b.Src {
		if l.Per == tensor.PerRow && b.Width > 1 || l.Per == tensor.PerBlock && (i == 0 || !o.takesNumbers(b)) {
			return true
		}
	}
	return false
}

// A speller spells the operands of a block out, chunk by chunk.
type speller[T cast.Fixed] struct {
	block  *tensor.Block
	number bool // operands after the first are one number for all, and not spelled out
	room   *scratch
	x      [3][]T
}

// done gives the room back.
func (s *speller[T]) done() {
	if s.room != nil {
		scratches.Put(s.room)
	}
}

// next returns n elements of each operand, from the at-th on.
func (s *speller[T]) next(at, n int) [3][]T {
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

// space returns room for n elements of the i-th operand.
func (s *speller[T]) space(i, n int) []T {
	if s.room == nil {
		s.room = scratches.Get().(*scratch)
	}
	all, _ := cast.Slice[T](s.room[i][:n*cast.Size[T]()])
	return all
}

// one spells out the only element of an operand.
func (s *speller[T]) one(i, n int) []T {
	all, _ := cast.Slice[T](s.block.Src[i].Bytes)
	return repeated(s.space(i, n), all[0])
}

// rows spells out an operand that has one element for each row.
func (s *speller[T]) rows(i, at, n int) []T {
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

// repeated sets all of s to v, and returns it.
func repeated[T any](s []T, v T) []T {
	for i := range s {
		s[i] = v
	}
	return s
}
