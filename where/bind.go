package where

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Bind returns the filter of c for td and for dictionaries with the same leaves, such as chunks of
// its rows. It looks at shapes and dtypes, and reads no element.
//
// It returns a [*tdict.KeyError] with the key:
//
//   - tdict.ErrMissing for a key that td lacks,
//   - shapeops.ErrShape for a leaf with more than one column,
//   - tensor.ErrDType, with dtype and literal, for a leaf that is not compared with the literal.
//
// It returns shapeops.ErrShape if td has no batch dim, and tdict.ErrKind if td is nil.
func (c *Condition) Bind(td *tdict.TensorDict) (*Filter, error) {
	if err := checkRows(td); err != nil {
		return nil, err
	}
	f := &Filter{root: c.root, bound: map[*node]bound{}}
	for _, n := range c.root.tests(nil) {
		b, err := n.bind(td)
		if err != nil {
			return nil, wrong(n.key, err)
		}
		f.bound[n] = b
	}
	return f, nil
}

// checkRows returns an error unless td has rows.
func checkRows(td *tdict.TensorDict) error {
	if td == nil {
		return fmt.Errorf("where: %w: got a nil dictionary", tdict.ErrKind)
	}
	if len(td.Shape()) == 0 {
		return fmt.Errorf("where: %w: got batch shape [], want [N ...]", shapeops.ErrShape)
	}
	return nil
}

// A bound is a test of a leaf of known dtype: one of its terms holds.
type bound struct {
	key    nestedkey.Key
	terms  []term
	masked bool // values may be missing
}

// A term compares a leaf with an element of its dtype, or with a text.
type term struct {
	op      op
	element *tensor.Tensor
	text    []byte
}

// bind returns the bound of a test.
func (n *node) bind(td *tdict.TensorDict) (b bound, err error) {
	leaf, err := column(td, n.key)
	if err != nil {
		return b, err
	}
	b.key = n.key
	if mask, err := td.Tensor(maskOf(n.key)); err == nil && mask.DType() == tensor.Bool {
		if _, err = column(td, maskOf(n.key)); err != nil {
			return b, wrong(maskOf(n.key), err)
		}
		b.masked = true
	}
	if n.op == opMissing {
		return b.missing(), nil
	}
	for _, l := range n.literals {
		t, err := l.term(n.op, leaf)
		if err != nil {
			return b, err
		}
		b.terms = append(b.terms, t)
	}
	return b, nil
}

// missing returns the test of whether a value is missing.
func (b bound) missing() bound {
	if !b.masked {
		return bound{key: b.key, terms: []term{{op: opNever}}}
	}
	return bound{key: maskOf(b.key), terms: []term{{op: opEqual, element: tensor.Scalar(false)}}}
}

// column returns the leaf under a key, which must have one column.
func column(td *tdict.TensorDict, key nestedkey.Key) (tdict.Value, error) {
	v, err := td.Get(key)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(v.Shape()[1:], func(n int) bool { return n != 1 }) {
		return nil, fmt.Errorf("%w: got %v, want one column, [N] or [N 1]", shapeops.ErrShape, v.Shape())
	}
	return v, nil
}

// wrong returns an error with a key.
func wrong(key nestedkey.Key, err error) error {
	var inner *tdict.KeyError
	if errors.As(err, &inner) {
		key, err = inner.Key, inner.Err
	}
	return &tdict.KeyError{Op: "where", Key: key, Err: err}
}

// term returns the comparison of a leaf with l.
func (l literal) term(o op, leaf tdict.Value) (t term, err error) {
	want, text := kindOf(leaf)
	if l.kind != want {
		return t, fmt.Errorf("%w: got the literal %s for %s, want %s", tensor.ErrDType, l, text,
			[]string{"a number", "a text", "true or false", "a leaf with real numbers, bools or texts"}[want])
	}
	if t.op = o; o == opIn || o == opHolds {
		t.op = opEqual
	}
	switch {
	case o == opNaN:
		return t, nil
	case want == kindText:
		t.text = []byte(l.text)
		return t, nil
	case want == kindBool:
		t.element = tensor.Scalar(l.text == "true")
		return t, nil
	}
	element, order, err := l.nearest(leaf.(*tensor.Tensor).DType())
	return term{op: t.op.against(element, order), element: element}, err
}

// kindOf returns the kind of the literals that a leaf is compared with, and describes the leaf.
func kindOf(leaf tdict.Value) (kind, string) {
	switch x := leaf.(type) {
	case *tensor.Tensor:
		switch d := x.DType(); {
		case d == tensor.Bool:
			return kindBool, d.String()
		case d.IsInteger() || d.IsFloat():
			return kindNumber, d.String()
		default:
			return kindNone, d.String()
		}
	case *ragged.Tensor:
		if x.DType() == tensor.Uint8 && x.Depth() == 1 && len(x.Features()) == 0 {
			return kindText, "text"
		}
		return kindNone, x.Text()
	}
	return kindNone, fmt.Sprintf("%T", leaf)
}

// nearest returns an element of a dtype next to a number, and the order of the two: -1, 0 or 1 if
// the element is less than the number, equals it, or is greater. Integers may have no such element:
// then it is nil, and the order is that of all elements.
func (l literal) nearest(dtype tensor.DType) (element *tensor.Tensor, order int, err error) {
	if dtype.IsInteger() {
		element, order = l.floor(dtype)
		return element, order, nil
	}
	want, err := strconv.ParseFloat(l.text, 64)
	if err != nil {
		return nil, 0, err
	}
	if element, err = tensor.Scalar(want).Cast(dtype); err != nil {
		return nil, 0, err
	}
	wide, err := element.Cast(tensor.Float64)
	if err != nil {
		return nil, 0, err
	}
	got, err := tensor.Item[float64](wide)
	return element, cmp.Compare(got, want), err
}

// floor is nearest of integers.
func (l literal) floor(dtype tensor.DType) (element *tensor.Tensor, order int) {
	exact, _ := new(big.Rat).SetString(l.text)
	down := new(big.Int).Div(exact.Num(), exact.Denom())
	var err error
	switch {
	case down.IsInt64():
		element, err = tensor.ScalarOf(dtype, down.Int64())
	case down.IsUint64():
		element, err = tensor.ScalarOf(dtype, down.Uint64())
	}
	if element == nil || err != nil {
		return nil, -down.Sign()
	}
	return element, new(big.Rat).SetInt(down).Cmp(exact)
}

// holds says for less, equal and greater whether a comparison holds.
func (o op) holds() [3]bool {
	return [3]bool{
		o == opNotEqual || o == opLess || o == opLessEqual,
		o == opEqual || o == opLessEqual || o == opGreaterEqual,
		o == opNotEqual || o == opGreater || o == opGreaterEqual,
	}
}

// against returns the comparison with what nearest returns that means the comparison o with the
// number.
func (o op) against(element *tensor.Tensor, order int) op {
	holds := o.holds()
	switch {
	case element != nil && order == 0:
		return o
	case holds[0] && holds[2], element == nil && holds[1+order]:
		return opAlways
	case holds[0] == holds[2], element == nil:
		return opNever
	case holds[0] && order < 0:
		return opLessEqual
	case holds[0]:
		return opLess
	case order < 0:
		return opGreater
	}
	return opGreaterEqual
}
