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
// its rows. It checks shapes and dtypes, and reads no element.
//
// A leaf has the mask KEY_mask if there is a bool leaf of that key with one column. To say which
// leaves have masks, call [Condition.BindSchema].
//
// It returns a [*tdict.KeyError] with the key:
//
//   - tdict.ErrMissing for a key that td lacks
//   - shapeops.ErrShape for a leaf with more than one column
//   - tensor.ErrDType, with dtype and literal, for a leaf that cannot be compared with the
//     literal
//
// It returns shapeops.ErrShape if td has no batch dim, and tdict.ErrKind if td is nil.
func (c *Condition) Bind(td *tdict.TensorDict) (*Filter, error) {
	return c.bind(td, func(nestedkey.Key) bool { return true })
}

// BindSchema is [Condition.Bind], but only the entries that schema lists as Optional have masks.
func (c *Condition) BindSchema(td *tdict.TensorDict, schema tdict.Schema) (*Filter, error) {
	optional := map[nestedkey.Key]bool{}
	for _, s := range schema {
		optional[s.Key] = s.Optional
	}
	return c.bind(td, func(key nestedkey.Key) bool { return optional[key] })
}

// bind is Bind. missable reports whether a leaf may have a mask.
func (c *Condition) bind(td *tdict.TensorDict, missable func(nestedkey.Key) bool) (*Filter, error) {
	if err := checkRows(td); err != nil {
		return nil, err
	}
	f := &Filter{root: c.root, bound: map[*node]bound{}}
	for _, n := range c.root.tests(nil) {
		b, err := n.bind(td, missable(n.key))
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
	masked  bool // the leaf has a mask
	op      string
	element *tensor.Tensor
	text    []byte
}

// bind returns the bound of a test of a leaf that may have a mask.
func (n *node) bind(td *tdict.TensorDict, missable bool) (bound, error) {
	if n.op == "missing" && missable {
		if mask, err := td.Tensor(maskOf(n.key)); err == nil && mask.DType() == tensor.Bool && !oneColumn(mask) {
			if leaf, err := td.Get(n.key); err == nil && leaf.Shape().Equal(mask.Shape()) {
				return bound{key: maskOf(n.key), op: "none"}, nil
			}
		}
	}
	leaf, err := column(td, n.key)
	if err != nil {
		return bound{}, err
	}
	mask, missing := td.Tensor(maskOf(n.key))
	masked := missable && missing == nil && mask.DType() == tensor.Bool && oneColumn(mask)
	switch {
	case n.op == "missing" && masked:
		return bound{key: maskOf(n.key), op: "==", element: tensor.Scalar(false)}, nil
	case n.op == "missing":
		return bound{key: n.key, op: "never"}, nil
	}
	b := bound{key: n.key, masked: masked, op: n.op}
	return b, b.compare(n.literal, leaf)
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
