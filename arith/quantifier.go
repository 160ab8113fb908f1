package arith

import (
	"bytes"

	"github.com/go-tensordict/tensordict/tensor"
)

// All reports, as bools, whether all elements that count are true; shapes are as for [Sum]. For no
// elements it is true. All returns tensor.ErrDType for dtypes other than bool. (Python: all.)
func All[T Reducible[T]](x T, over Over) (T, error) { return reduce(allOf, x, over) }

// Any reports, as bools, whether any element that counts is true; shapes are as for [Sum]. For no
// elements it is false. Any returns tensor.ErrDType for dtypes other than bool. (Python: any.)
func Any[T Reducible[T]](x T, over Over) (T, error) { return reduce(anyOf, x, over) }

var (
	allOf = quantifierReduction("all", 0)
	anyOf = quantifierReduction("any", 1)
)

// quantifierReduction returns the reduction of bools for which one element equal to decides
// determines the result.
func quantifierReduction(name string, decides byte) *reduction {
	makes := func(d tensor.DType) tensor.DType {
		if d == tensor.Bool {
			return d
		}
		return 0
	}
	r := recipe[uint8, uint8]{fold: func([]uint8) fold[uint8, uint8] { return &quantifier{decides: decides} }, joins: true}
	return &reduction{name: name, makes: makes, wants: "bool: call NotEqual(x, 0) first", of: func(tensor.DType) reducing { return r.reducing() }}
}

// A quantifier is a fold of bools that looks for an element equal to decides.
type quantifier struct {
	decides byte // the value that decides: 0 for all, 1 for any
	bits    []byte
	blend   blender[uint8]
}

func (q *quantifier) begin(_, lines int) { q.bits = repeated(zeros(q.bits, lines), 1-q.decides) }

func (q *quantifier) line(_ int, x []uint8, bits []byte) {
	if bytes.IndexByte(q.blend.line(x, bits, 1-q.decides), q.decides) >= 0 {
		q.bits[0] = q.decides
	}
}

func (q *quantifier) rows(x []uint8, r rowList) {
	x, r = q.blend.rows(x, r, len(q.bits), 1-q.decides)
	for _, off := range r.offs {
		row := x[off:][:len(q.bits)]
		if q.decides == 0 {
			for i, b := range row {
				q.bits[i] &= b
			}
		} else {
			for i, b := range row {
				q.bits[i] |= b
			}
		}
	}
}

func (q *quantifier) end(dst []uint8) error {
	copy(dst, q.bits)
	return nil
}

func (q *quantifier) join(other fold[uint8, uint8], _ int) {
	q.rows(other.(*quantifier).bits, rowList{offs: []int{0}})
}
