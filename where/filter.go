package where

import (
	"bytes"
	"fmt"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Filter makes masks of the rows of dictionaries: see [Condition.Bind]. It keeps memory for masks
// and uses it again. Not safe for concurrent use; a Condition can be bound any number of times.
type Filter struct {
	root  *node
	bound map[*node]bound
	rooms [][]bool
	td    *tdict.TensorDict // while Mask runs
}

// Mask returns where the rows of td satisfy the condition:
//
//	td [N ...] -> bool [N]
//
// td has the leaves of the dictionary that f was bound to, with any number of rows. The mask is
// valid until the next call. Its memory is new only if td has more rows than any before; besides,
// Mask copies the offsets of text if td is a part of another dictionary.
//
// Mask returns a [*tdict.KeyError] if td lacks a leaf, if a leaf has another dtype or shape, and if
// memory of it was lent and is gone. Its other errors are those of Bind.
func (f *Filter) Mask(td *tdict.TensorDict) (*tensor.Tensor, error) {
	if err := checkRows(td); err != nil {
		return nil, err
	}
	f.td = td
	defer func() { f.td = nil }()
	return f.eval(f.root, false, 0)
}

// eval returns the mask of n, or of its negation, in a room. It may use the rooms that follow.
// Negations become those of tests, so that they leave out missing values.
func (f *Filter) eval(n *node, negated bool, room int) (*tensor.Tensor, error) {
	switch n.op {
	case opNot:
		return f.eval(n.args[0], !negated, room)
	case opAnd, opOr:
		join := arith.OrInto[*tensor.Tensor]
		if (n.op == opAnd) != negated {
			join = arith.AndInto
		}
		return fold(n.args, join, room, func(arg *node, room int) (*tensor.Tensor, error) {
			return f.eval(arg, negated, room)
		})
	}
	b := f.bound[n]
	mask, err := f.test(b, negated, room)
	if err != nil {
		return nil, wrong(b.key, err)
	}
	return mask, nil
}

// fold joins the masks of a list in a room.
func fold[T any](list []T, join func(dst, x *tensor.Tensor, y any) error, room int,
	mask func(x T, room int) (*tensor.Tensor, error)) (*tensor.Tensor, error) {
	all, err := mask(list[0], room)
	for _, x := range list[1:] {
		if err != nil {
			break
		}
		var next *tensor.Tensor
		if next, err = mask(x, room+1); err == nil {
			err = join(all, all, next)
		}
	}
	return all, err
}

// test returns the mask of a test, or of its negation.
func (f *Filter) test(b bound, negated bool, room int) (*tensor.Tensor, error) {
	mask, err := fold(b.terms, arith.OrInto, room, func(t term, room int) (*tensor.Tensor, error) {
		return f.compare(b, t, room)
	})
	if err == nil && negated {
		err = arith.NotInto(mask, mask)
	}
	if err == nil && b.masked {
		var present *tensor.Tensor
		if present, err = f.column(bound{key: maskOf(b.key)}); err == nil {
			err = arith.AndInto(mask, mask, any(present))
		}
	}
	return mask, err
}

// compare returns the mask of a term.
func (f *Filter) compare(b bound, t term, room int) (*tensor.Tensor, error) {
	bits, mask, err := f.room(room)
	switch {
	case err != nil:
		return nil, err
	case t.op == opNever || t.op == opAlways:
		return mask, arith.FillInPlace(mask, t.op == opAlways)
	case t.element == nil && t.op != opNaN:
		return mask, f.compareText(b, t, bits)
	}
	x, err := f.column(b)
	if err != nil {
		return nil, err
	}
	if t.op == opNaN {
		return mask, arith.IsNaNInto(mask, x)
	}
	return mask, verbs[t.op](mask, x, t.element)
}

var verbs = map[op]func(dst, x *tensor.Tensor, y any) error{
	opEqual:        arith.EqualInto[*tensor.Tensor],
	opNotEqual:     arith.NotEqualInto[*tensor.Tensor],
	opLess:         arith.LessInto[*tensor.Tensor],
	opLessEqual:    arith.LessEqualInto[*tensor.Tensor],
	opGreater:      arith.GreaterInto[*tensor.Tensor],
	opGreaterEqual: arith.GreaterEqualInto[*tensor.Tensor],
}

// room returns memory for a mask, as a slice and as a tensor.
func (f *Filter) room(number int) ([]bool, *tensor.Tensor, error) {
	if number == len(f.rooms) {
		f.rooms = append(f.rooms, nil)
	}
	n := f.td.Shape()[0]
	if cap(f.rooms[number]) < n {
		f.rooms[number] = make([]bool, n)
	}
	bits := f.rooms[number][:n]
	mask, err := tensor.From(bits, n)
	return bits, mask, err
}

// column returns the leaf of a test as [N].
func (f *Filter) column(b bound) (*tensor.Tensor, error) {
	x, err := f.td.Tensor(b.key)
	if err != nil {
		return nil, err
	}
	return x.Reshape(f.td.Shape()[0])
}

// compareText sets bits to the mask of a term on text.
func (f *Filter) compareText(b bound, t term, bits []bool) error {
	x, err := tdict.Get[*ragged.Tensor](f.td, b.key)
	if err != nil {
		return err
	}
	if k, text := kindOf(x); k != kindText || x.Shape().Size() != len(bits) {
		return fmt.Errorf("%w: got %s %v, want text [%d *]", shapeops.ErrShape, text, x.Shape(), len(bits))
	}
	offsets, err := x.Layout().Offsets(1)
	if err != nil {
		return err
	}
	values, err := x.Values()
	if err != nil {
		return err
	}
	holds := t.op.holds()
	return tensor.Read(values, func(v []uint8) {
		for i := range bits {
			bits[i] = holds[1+bytes.Compare(v[offsets[i]:offsets[i+1]], t.text)]
		}
	})
}
