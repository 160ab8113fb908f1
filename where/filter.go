package where

import (
	"bytes"
	"fmt"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Filter makes masks of the rows of dictionaries: see [Condition.Bind]. It reuses the memory of
// masks. Not safe for concurrent use; a Condition can be bound any number of times.
type Filter struct {
	root  *node
	bound map[*node]bound
	masks []*tensor.Tensor  // memory for the masks of nested conditions
	td    *tdict.TensorDict // argument of Mask, while it runs
}

// Mask returns which rows of td satisfy the condition:
//
//	td [N ...] -> bool [N]
//
// td has the leaves of the dictionary that f was bound to, with any number of rows. The mask is
// valid until the next call. Mask allocates its memory only if td has more rows than before. If td
// is a part of another dictionary, Mask also copies the offsets of text.
//
// Mask returns a [*tdict.KeyError] if td lacks a leaf, if a leaf has another dtype or shape, and if
// its lender has closed the memory. It also returns the errors of Bind.
func (f *Filter) Mask(td tdict.Dictionary) (*tensor.Tensor, error) {
	d := tdict.Of(td)
	if err := checkRows(d); err != nil {
		return nil, err
	}
	f.td = d
	defer func() { f.td = nil }()
	return f.eval(f.root, false, 0)
}

// eval returns the mask of n, or of its negation, in f.masks[at]. It may use the masks after that
// one. It negates the tests in n instead of the result, so that missing values stay out.
func (f *Filter) eval(n *node, negated bool, at int) (*tensor.Tensor, error) {
	switch n.op {
	case "not":
		return f.eval(n.args[0], !negated, at)
	case "and", "or":
		return f.join(n.args, (n.op == "and") != negated, negated, at)
	}
	b := f.bound[n]
	mask, err := f.compare(b, at)
	if err == nil && negated {
		err = arith.NotInto(mask, mask)
	}
	if err == nil && b.mask != "" {
		var present *tensor.Tensor
		if present, err = f.column(b.mask); err == nil {
			err = arith.AndInto(mask, mask, any(present))
		}
	}
	if err != nil {
		return nil, wrong(b.key, err)
	}
	return mask, nil
}

// join returns the rows for which all args hold or, if all is false, any of them.
func (f *Filter) join(args []*node, all, negated bool, at int) (*tensor.Tensor, error) {
	into := arith.OrInto[*tensor.Tensor]
	if all {
		into = arith.AndInto
	}
	mask, err := f.eval(args[0], negated, at)
	for i := 1; i < len(args) && err == nil; i++ {
		var next *tensor.Tensor
		if next, err = f.eval(args[i], negated, at+1); err == nil {
			err = into(mask, mask, next)
		}
	}
	return mask, err
}

// compare returns the mask of a test, which does not exclude missing values.
func (f *Filter) compare(b bound, at int) (*tensor.Tensor, error) {
	mask, err := f.memory(at)
	switch {
	case err != nil:
		return nil, err
	case b.op == "never" || b.op == "always":
		return mask, arith.FillInPlace(mask, b.op == "always")
	case b.text != nil:
		return mask, f.compareText(b, mask)
	}
	if b.op == "none" {
		return mask, f.none(b.key, mask)
	}
	x, err := f.column(b.key)
	if err != nil {
		return nil, err
	}
	return mask, verbs[b.op](mask, x, b.element)
}

var verbs = map[string]func(dst, x *tensor.Tensor, y any) error{
	"==": arith.EqualInto[*tensor.Tensor], "!=": arith.NotEqualInto[*tensor.Tensor],
	"<": arith.LessInto[*tensor.Tensor], "<=": arith.LessEqualInto[*tensor.Tensor],
	">": arith.GreaterInto[*tensor.Tensor], ">=": arith.GreaterEqualInto[*tensor.Tensor],
	"nan": func(dst, x *tensor.Tensor, _ any) error { return arith.IsNaNInto(dst, x) },
}

// none sets mask to the rows of a bool leaf that have no true element.
func (f *Filter) none(key nestedkey.Key, mask *tensor.Tensor) error {
	x, err := f.td.Tensor(key)
	if err != nil {
		return err
	}
	some := x
	for err == nil && len(some.Shape()) > 1 {
		some, err = arith.Any(some, arith.Dims(1))
	}
	if err != nil {
		return err
	}
	return arith.NotInto(mask, some)
}

// memory returns f.masks[at], with one element for each row.
func (f *Filter) memory(at int) (_ *tensor.Tensor, err error) {
	n := f.td.Shape()[0]
	if at == len(f.masks) {
		f.masks = append(f.masks, tensor.Vector[bool]())
	}
	if f.masks[at].Size() < n {
		if f.masks[at], err = tensor.New(tensor.Bool, n); err != nil {
			return nil, err
		}
	}
	return f.masks[at].Narrow(0, 0, n)
}

// column returns a leaf as [N].
func (f *Filter) column(key nestedkey.Key) (*tensor.Tensor, error) {
	x, err := f.td.Tensor(key)
	if err != nil {
		return nil, err
	}
	return x.Reshape(f.td.Shape()[0])
}

// compareText sets mask to the result of a test of text.
func (f *Filter) compareText(b bound, mask *tensor.Tensor) error {
	x, err := tdict.Get[*ragged.Tensor](f.td, b.key)
	if err != nil {
		return err
	}
	if kind, text := kindOf(x); kind != aText || x.Shape().Size() != mask.Size() {
		return fmt.Errorf("%w: got %s, want text [%d *]", shapeops.ErrShape, text, mask.Size())
	}
	offsets, err := x.Layout().Offsets(1)
	if err != nil {
		return err
	}
	values, err := x.Values()
	if err != nil {
		return err
	}
	bits, err := tensor.Of[bool](mask)
	if err != nil {
		return err
	}
	holds := holds[b.op]
	return tensor.Read(values, func(v []uint8) {
		for i := range bits {
			bits[i] = holds[1+bytes.Compare(v[offsets[i]:offsets[i+1]], b.text)]
		}
	})
}
