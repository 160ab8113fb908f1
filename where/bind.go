package where

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Bind returns a filter of c for td, and for dictionaries with the same leaves, such as chunks of
// its rows. It checks shapes and dtypes, and reads no element. Leaves of a *memmap.Dataset have the
// masks that its schema names. In another dictionary no leaf has a mask: see
// [Condition.BindSchema].
//
// It returns a [*tdict.KeyError] with the key:
//
//   - tdict.ErrMissing for a key that td lacks
//   - shapeops.ErrShape for a leaf with more than one column
//   - tensor.ErrDType, with dtype and literal, for a leaf that cannot be compared with the
//     literal
//
// It returns shapeops.ErrShape if td has no batch dim, and tdict.ErrKind if td is nil.
func (c *Condition) Bind(td tdict.Dictionary) (*Filter, error) {
	if ds, ok := td.(interface{ Schema() tdict.Schema }); ok {
		return c.BindSchema(td, ds.Schema())
	}
	return c.BindSchema(td, nil)
}

// BindSchema is [Condition.Bind] for a dictionary that schema describes. It has the masks that
// schema lists: see tdict.Schema.MaskOf, whose errors BindSchema also returns. It returns
// tdict.ErrKind for a ragged mask, which has a bool for each value and not for each row.
//
// Integers with Categories are also compared with texts, by == and !=, and integers with Time with
// texts of that layout or of ISO 8601: day >= "2026-01-31". Another text for a time is
// tensor.ErrDType.
func (c *Condition) BindSchema(td tdict.Dictionary, schema tdict.Schema) (*Filter, error) {
	d := tdict.Of(td)
	if err := checkRows(d); err != nil {
		return nil, err
	}
	specs := make(map[nestedkey.Key]tdict.Schema, len(schema))
	for i, spec := range schema {
		specs[spec.Key] = schema[i : i+1]
	}
	f := &Filter{root: c.root, bound: map[*node]bound{}}
	for _, n := range c.root.tests(nil) {
		b, err := n.bind(d, specs[n.key])
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

// A bound is a test of a leaf of known dtype. It compares the leaf with an element of that dtype,
// or with a text. Its op is a comparison, "nan", "never", "always", or "none": no element of a mask
// is true.
type bound struct {
	key     nestedkey.Key
	mask    nestedkey.Key // of the leaf; "" if it has none
	op      string
	element *tensor.Tensor
	text    []byte
}

// bind returns the bound of a test of a leaf of td. schema lists that leaf alone, or nothing.
func (n *node) bind(td *tdict.TensorDict, schema tdict.Schema) (bound, error) {
	mask, err := schema.MaskOf(td, n.key)
	if err != nil {
		return bound{}, err
	}
	b := bound{key: n.key, op: n.op}
	if mask != nil {
		b.mask = schema[0].Mask
		if _, rows := mask.(*tensor.Tensor); !rows {
			return bound{}, wrong(b.mask, fmt.Errorf("mask: %w: got a bool for each value of %q, want one for each row", tdict.ErrKind, string(n.key)))
		}
	}
	if n.op == "missing" && mask != nil {
		return bound{key: b.mask, op: "none"}, nil
	}
	leaf, err := column(td, n.key)
	switch {
	case err != nil:
		return bound{}, err
	case n.op == "missing":
		return bound{key: n.key, op: "never"}, nil
	}
	l := n.literal
	if len(schema) > 0 && l.kind == aText {
		if l, err = l.number(schema[0], n.op); err != nil {
			return bound{}, err
		}
	}
	return b, b.compare(l, leaf)
}

// column returns the leaf under a key. It must have one column.
func column(td *tdict.TensorDict, key nestedkey.Key) (tdict.Value, error) {
	v, err := td.Get(key)
	if err == nil && !oneColumn(v) {
		err = wrong(key, fmt.Errorf("%w: got %v, want one column, [N] or [N 1]", shapeops.ErrShape, v.Shape()))
	}
	return v, err
}

// oneColumn reports whether v has one value for each row.
func oneColumn(v tdict.Value) bool {
	return !slices.ContainsFunc(v.Shape()[1:], func(n int) bool { return n != 1 })
}

// wrong returns err with the key that it has, or with the given key.
func wrong(key nestedkey.Key, err error) error {
	var inner *tdict.KeyError
	if errors.As(err, &inner) {
		key, err = inner.Key, inner.Err
	}
	return &tdict.KeyError{Op: "where", Key: key, Err: err}
}

// kindOf returns the kind of literal that a leaf is compared with, and a description of the leaf.
func kindOf(leaf tdict.Value) (kind, text string) {
	switch x := leaf.(type) {
	case *tensor.Tensor:
		switch d := x.DType(); {
		case d == tensor.Bool:
			return aBool, d.String()
		case !d.IsComplex():
			return aNumber, d.String()
		}
		text = x.DType().String()
	case *ragged.Tensor:
		if text = x.Text(); x.DType() == tensor.Uint8 && x.Depth() == 1 && len(x.Features()) == 0 {
			return aText, text
		}
	case *tdict.TensorDict:
		text = "a dictionary"
	default:
		text = fmt.Sprintf("%T", leaf)
	}
	return "a leaf with real numbers, bools or text", text
}
