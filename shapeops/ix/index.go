package ix

import (
	"errors"
	"math"
	"slices"
)

// End, as the stop of a [Range], means up to and with the last position.
const End = math.MaxInt

// A Kind says what an [Index] does.
type Kind uint8

// The kinds of [Index].
const (
	KindAll   Kind = iota // keeps a dim whole
	KindRest              // as many [All] as are needed
	KindNew               // adds a dim of size 1
	KindAt                // picks one position and drops the dim
	KindRange             // picks every step-th position from start up to stop
	KindTake              // picks listed positions
	KindMask              // picks where a mask is true; covers as many dims as the mask has
	kindBad               // was built from arguments that contradict each other
)

// An Index selects along one dim; a mask along as many as it has. The zero Index is [All].
// Safe for concurrent use.
type Index struct {
	kind              Kind
	flaw              flaw
	start, stop, step int
	list              []int
	bits              []bool // of a mask
	count             int    // how many of bits are true
	shape             []int  // of list; of the mask
}

// The parts of an expression that need no number.
var (
	All  = Index{}               // ":": the whole dim
	Rest = Index{kind: KindRest} // "...": all dims that the other parts leave; at most once
	New  = Index{kind: KindNew}  // "new": a dim of size 1 that was not there
)

// At picks position i and drops the dim. -1 is the last position; one out of range is an error when
// the expression is used.
func At(i int) Index { return Index{kind: KindAt, start: i} }

// Range picks positions start, start+1, ... up to but not including stop, and keeps the dim.
// Negative numbers count from the end and both ends clamp, as in NumPy. The result shares memory.
func Range(start, stop int) Index { return Index{kind: KindRange, start: start, stop: stop, step: 1} }

// Step returns x picking only every n-th of its positions, n > 0. x must be a [Range] or [All].
func (x Index) Step(n int) Index {
	switch {
	case x.kind != KindRange && x.kind != KindAll:
		return bad(flawStepped)
	case n < 0:
		return bad(flawBackwards)
	case n == 0:
		return bad(flawStep)
	case x.kind == KindAll:
		x = Range(0, End)
	}
	x.step = n
	return x
}

// Take picks the listed positions, in that order, repeats included. The result is a copy.
// It keeps list.
func Take(list ...int) Index { return Index{kind: KindTake, list: list} }

// TakeND picks listed positions in an arrangement of their own: the dim that it indexes is replaced
// by the dims of shape, which is copied. list is row-major and is kept; with no shape, it holds one
// position, and is [At] of it: the dim is dropped, and nothing copied.
func TakeND(list []int, shape ...int) Index {
	if size(shape) != len(list) {
		return bad(flawTake)
	}
	if len(shape) == 0 {
		return At(list[0])
	}
	if len(shape) == 1 {
		return Take(list...)
	}
	return Index{kind: KindTake, list: list, shape: slices.Clone(shape)}
}

// Mask picks the positions where bits, row-major, is true: one result dim for the len(shape) dims
// that it covers. Without a shape it is a mask over one dim. The result is a copy. Mask keeps
// neither bits nor shape.
func Mask(bits []bool, shape ...int) Index {
	own := append([]bool{}, bits...)
	return MaskKeeping(own, count(own), shape...) // not of bits, which may lie in a mapped file
}

// MaskKeeping is [Mask] that keeps bits, which must not change for as long as the index, or a plan
// made of it, is used, and takes the caller's word for how many of them are true: what is made with
// another number is wrong, or panics.
func MaskKeeping(bits []bool, count int, shape ...int) Index {
	if len(shape) == 0 {
		shape = []int{len(bits)}
	}
	if size(shape) != len(bits) || count < 0 || count > len(bits) {
		return bad(flawMask)
	}
	return Index{kind: KindMask, bits: bits, count: count, shape: slices.Clone(shape)}
}

// Bool is a mask that covers no dim: true adds a dim of size 1, false one of size 0.
func Bool(b bool) Index {
	return Index{kind: KindMask, bits: []bool{b}, count: one(b), shape: []int{}}
}

// count returns how many bits are true.
func count(bits []bool) int {
	n := 0
	for _, b := range bits {
		n += one(b)
	}
	return n
}

// one returns 1 for true. It compiles to no branch.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// size returns the product of a shape, or -1 if a size is negative or the product no int.
func size(shape []int) int {
	n := 1
	for _, s := range shape {
		if s < 0 || s > 0 && n > math.MaxInt/s {
			return -1
		}
		n *= s
	}
	return n
}

// Kind says what x does.
func (x Index) Kind() Kind { return x.kind }

// Position returns the position that an [At] picks.
func (x Index) Position() int { return x.start }

// Bounds returns the numbers of a [Range], as they were given.
func (x Index) Bounds() (start, stop, step int) { return x.start, x.stop, x.step }

// List returns the positions of a take, which the caller must not change, or the row-major
// positions where a mask is true, in a list that is made for each call.
func (x Index) List() []int {
	if x.kind != KindMask {
		return x.list
	}
	list, n := make([]int, x.count+1), 0 // one more: each bit is noted, and overwritten unless it is true
	for i, b := range x.bits {
		list[n] = i
		n += one(b)
	}
	return list[:n:n]
}

// Bits returns what a mask was made of, and how many of it are true. The caller must not change it.
func (x Index) Bits() (bits []bool, count int) { return x.bits, x.count }

// Shape returns the arrangement of a take's positions, or the shape of a mask. The caller must not
// change it.
func (x Index) Shape() []int {
	if x.kind == KindTake && x.shape == nil {
		return []int{len(x.list)}
	}
	return x.shape
}

// Rank returns how many dims Shape has.
func (x Index) Rank() int {
	if x.kind == KindTake && x.shape == nil {
		return 1
	}
	return len(x.shape)
}

// Check returns an error if x was built from arguments that contradict each other.
func (x Index) Check() error {
	if x.kind == kindBad {
		return flaws[x.flaw]
	}
	return nil
}

// A flaw says what was wrong with the arguments of an Index.
type flaw uint8

const (
	flawStepped flaw = iota
	flawStep
	flawBackwards
	flawTake
	flawMask
)

var flaws = [...]error{
	flawStepped:   errors.New("only a range has a step"),
	flawStep:      errors.New("a step must be greater than zero"),
	flawBackwards: errors.New("a step must be greater than zero: use Flip or Take to go backwards"),
	flawTake:      errors.New("the positions of a take do not fill its shape"),
	flawMask:      errors.New("the bits of a mask do not fill its shape"),
}

func bad(f flaw) Index { return Index{kind: kindBad, flaw: f} }
