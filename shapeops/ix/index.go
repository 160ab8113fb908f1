package ix

import (
	"errors"
	"math"
	"slices"
)

// End, as the stop of a [Range], means up to and including the last position.
const End = math.MaxInt

// A Kind says what an [Index] does.
type Kind uint8

// The kinds of an [Index].
const (
	KindAll   Kind = iota // keeps a dim whole
	KindRest              // keeps all dims that other parts do not index
	KindNew               // adds a dim of size 1
	KindAt                // picks one position and drops the dim
	KindRange             // picks every step-th position from start up to stop
	KindTake              // picks listed positions
	KindMask              // picks where a mask is true; covers as many dims as the mask has
	kindBad               // was made from arguments that contradict each other
)

// An Index selects along one dim; a mask selects along all its dims. The zero Index is [All]. Safe
// for concurrent use.
type Index struct {
	kind              Kind
	flaw              flaw
	start, stop, step int
	list              []int
	bits              []bool // of a mask
	count             int    // number of true bits
	shape             []int  // shape of list, or of the mask
}

// Parts of an expression that have no arguments.
var (
	All  = Index{}               // ":": the whole dim
	Rest = Index{kind: KindRest} // "...": all dims that other parts do not index; at most once
	New  = Index{kind: KindNew}  // "new": inserts a dim of size 1
)

// At picks position i and drops the dim. A negative i counts from the end. A position out of range
// is an error when the expression is used.
func At(i int) Index { return Index{kind: KindAt, start: i} }

// Range picks positions start, start+1, ... up to, not including, stop, and keeps the dim. As in
// NumPy, negative numbers count from the end and both ends are clamped. The result shares memory.
func Range(start, stop int) Index { return Index{kind: KindRange, start: start, stop: stop, step: 1} }

// Step returns x with only every n-th of its positions, n > 0. x must be a [Range] or [All].
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

// TakeND picks listed positions in a shape: the dim that it indexes is replaced by the dims of
// shape. list is row-major; TakeND keeps it, and copies shape. Without a shape, list has one
// position, and TakeND is [At] of it, which drops the dim and copies nothing.
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

// Mask picks the positions where bits, row-major, is true. It covers len(shape) dims, which become
// one dim of the result. Without a shape it covers one dim. The result is a copy. Mask copies bits
// and shape.
func Mask(bits []bool, shape ...int) Index {
	own := append([]bool{}, bits...)
	return MaskKeeping(own, count(own), shape...) // not count(bits): another process may change them
}

// MaskKeeping is [Mask] without a copy of bits, which must not change while the index, or a plan
// made from it, is in use. count must be the number of true bits: with another number results are
// wrong, or use panics.
func MaskKeeping(bits []bool, count int, shape ...int) Index {
	if len(shape) == 0 {
		shape = []int{len(bits)}
	}
	if size(shape) != len(bits) || count < 0 || count > len(bits) {
		return bad(flawMask)
	}
	return Index{kind: KindMask, bits: bits, count: count, shape: slices.Clone(shape)}
}

// Bool is a mask that covers no dims: true adds a dim of size 1, false a dim of size 0.
func Bool(b bool) Index {
	return Index{kind: KindMask, bits: []bool{b}, count: one(b), shape: []int{}}
}

// count returns the number of true bits.
func count(bits []bool) int {
	n := 0
	for _, b := range bits {
		n += one(b)
	}
	return n
}

// one returns 1 for true. It compiles to code without a branch.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// size returns the product of a shape, or -1 if a size is negative or the product overflows.
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

// Kind returns the kind of x.
func (x Index) Kind() Kind { return x.kind }

// Position returns the position that an [At] picks.
func (x Index) Position() int { return x.start }

// Bounds returns the arguments of a [Range].
func (x Index) Bounds() (start, stop, step int) { return x.start, x.stop, x.step }

// List returns the positions of a take; the caller must not change the slice. For a mask it returns
// a new slice of the row-major positions where the mask is true.
func (x Index) List() []int {
	if x.kind != KindMask {
		return x.list
	}
	list, n := make([]int, x.count+1), 0 // one more: each position is written, and kept if its bit is true
	for i, b := range x.bits {
		list[n] = i
		n += one(b)
	}
	return list[:n:n]
}

// Bits returns the bits of a mask, and the number of true bits. The caller must not change the
// slice.
func (x Index) Bits() (bits []bool, count int) { return x.bits, x.count }

// Shape returns the shape of the positions of a take, or of a mask. The caller must not change it.
func (x Index) Shape() []int {
	if x.kind == KindTake && x.shape == nil {
		return []int{len(x.list)}
	}
	return x.shape
}

// Rank returns the number of dims of Shape.
func (x Index) Rank() int {
	if x.kind == KindTake && x.shape == nil {
		return 1
	}
	return len(x.shape)
}

// Check returns an error if x was made from arguments that contradict each other.
func (x Index) Check() error {
	if x.kind == kindBad {
		return flaws[x.flaw]
	}
	return nil
}

// A flaw is a reason for which the arguments of an Index are invalid.
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
