package where

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// compare sets the comparison of leaf with l in b.
func (b *bound) compare(l literal, leaf tdict.Value) (err error) {
	want, text := kindOf(leaf)
	switch {
	case l.text == "true" && l.kind == aBool && (want == aNumber || want == aText): // mostly a bare key
		return fmt.Errorf("%w: it is %s, want bool, or a comparison with %s: quote the whole condition", tensor.ErrDType, text, want)
	case l.kind != want:
		return fmt.Errorf("%w: got the literal %s for %s, want %s", tensor.ErrDType, l, text, want)
	case want == aText:
		b.text = []byte(l.text)
	case want == aBool:
		b.element = tensor.Scalar(l.text == "true")
	case b.op != "nan":
		var order int
		b.element, order, err = l.nearest(leaf.(*tensor.Tensor).DType())
		b.op = against(b.op, b.element, order)
	}
	return err
}

// nearest returns an element of a dtype next to the number l, and the order of the two: -1, 0 or 1
// if the element is less than the number, equal, or greater. An integer dtype may have no such
// element: then element is nil, and order is the order of all elements. A number in the range of a
// floating-point dtype equals the element that it rounds to.
func (l literal) nearest(dtype tensor.DType) (element *tensor.Tensor, order int, err error) {
	if dtype.IsInteger() {
		element, order = l.floor(dtype)
		return element, order, nil
	}
	want, _ := strconv.ParseFloat(l.text, 64)
	if element, err = tensor.Scalar(want).Cast(dtype); err != nil {
		return nil, 0, err
	}
	wide, err := element.Cast(tensor.Float64)
	if err != nil {
		return nil, 0, err
	}
	got, err := tensor.Item[float64](wide)
	if math.IsInf(got, 0) || got == 0 { // rounded out of the range, unless it is 0
		order = cmp.Compare(got, want)
	}
	return element, order, err
}

// floor is nearest for integers: the greatest element that is at most l.
func (l literal) floor(dtype tensor.DType) (element *tensor.Tensor, order int) {
	exact, _ := new(big.Rat).SetString(l.text)
	down := new(big.Int).Div(exact.Num(), exact.Denom())
	if down.IsInt64() {
		element, _ = tensor.ScalarOf(dtype, down.Int64())
	} else if down.IsUint64() {
		element, _ = tensor.ScalarOf(dtype, down.Uint64())
	}
	if element == nil {
		return nil, -down.Sign()
	}
	return element, new(big.Rat).SetInt(down).Cmp(exact)
}

// holds has, for each comparison, whether it holds for less, equal and greater.
var holds = map[string][3]bool{
	"==": {false, true, false}, "<": {true, false, false}, ">": {false, false, true},
	"!=": {true, false, true}, "<=": {true, true, false}, ">=": {false, true, true},
}

// against returns the comparison with element, a result of nearest, that is equivalent to the
// comparison op with the number.
func against(op string, element *tensor.Tensor, order int) string {
	h := holds[op]
	switch {
	case element != nil && order == 0:
		return op
	case element == nil && h[1+order], h[0] && h[2]:
		return "always"
	case element == nil, h[0] == h[2]:
		return "never"
	case order < 0 && h[0]:
		return "<="
	case order < 0:
		return ">"
	case h[0]:
		return "<"
	}
	return ">="
}
