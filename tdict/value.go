package tdict

import (
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Value is what an entry holds: *tensor.Tensor or *[TensorDict], and nothing else. This file has all the code that
// tells one from the other.
type Value interface {
	// Shape returns the shape; of a dictionary, the batch shape.
	Shape() shapeops.Shape
}

// A Leaf is a Value that is no dictionary: *tensor.Tensor.
type Leaf interface {
	Value
	DType() tensor.DType
}

var (
	_ Leaf  = (*tensor.Tensor)(nil)
	_ Value = (*TensorDict)(nil)
)

// checkValue returns ErrKind unless v is a Value that a dictionary can hold.
func checkValue(v Value) error {
	switch v := v.(type) {
	case *tensor.Tensor:
		if v != nil && v.DType() != 0 {
			return nil
		}
	case *TensorDict:
		if v != nil {
			return nil
		}
	}
	return fmt.Errorf("%w: got %T, want a *tensor.Tensor or *tdict.TensorDict that is not nil", ErrKind, v)
}

// asDict returns v as a dictionary, or nil and false.
func asDict(v Value) (*TensorDict, bool) {
	d, ok := v.(*TensorDict)
	return d, ok
}

// asTensor returns v as a tensor, or nil and false.
func asTensor(v Value) (*tensor.Tensor, bool) {
	t, ok := v.(*tensor.Tensor)
	return t, ok
}

// asLeaf returns v as a leaf, or nil and false.
func asLeaf(v Value) (Leaf, bool) {
	l, ok := v.(Leaf)
	return l, ok
}

// describe says in an error what v is.
func describe(v Value) string {
	if l, ok := asLeaf(v); ok {
		return fmt.Sprintf("%v %v", l.DType(), l.Shape())
	}
	return fmt.Sprintf("dictionary %v", v.Shape())
}

// execute returns what a plan makes of v.
func execute(v Value, p shapeops.Plan) (Value, error) {
	if t, ok := asTensor(v); ok {
		return t.Execute(p)
	}
	return v.(*TensorDict).Execute(p)
}

// clone returns a copy of v in memory of its own.
func clone(v Value) (Value, error) {
	if t, ok := asTensor(v); ok {
		return t.Clone()
	}
	return v.(*TensorDict).Clone()
}

// shallow returns v with dictionaries of its own and the same leaves.
func shallow(v Value) Value {
	if d, ok := asDict(v); ok {
		return d.shallow()
	}
	return v
}

func (td *TensorDict) shallow() *TensorDict {
	out := td.like(td.batch)
	for i, v := range td.values {
		out.values[i] = shallow(v)
	}
	return out
}

// fit returns v as an entry of a dictionary with the given batch shape. A dictionary with a shorter batch shape is
// copied, without its leaves, to have that one.
func fit(v Value, batch shapeops.Shape) (Value, error) {
	d, ok := asDict(v)
	if !ok || d.batch.HasPrefix(batch) || !batch.HasPrefix(d.batch) {
		return v, v.Shape().CheckPrefix(batch)
	}
	out := d.like(batch)
	for i, entry := range d.values {
		fitted, err := fit(shallow(entry), batch)
		if err != nil {
			return nil, within("set", d.table.names[i], err)
		}
		out.values[i] = fitted
	}
	return out, nil
}

// equal reports whether two values are.
func equal(a, b Value) bool {
	if t, ok := asTensor(a); ok {
		u, ok := asTensor(b)
		return ok && t.Equal(u)
	}
	e, ok := asDict(b)
	return ok && a.(*TensorDict).Equal(e)
}

// Equal reports whether td and other have the same batch shape and equal values under the same keys, in any order. Tensors
// compare as tensor.Tensor.Equal does.
func (td *TensorDict) Equal(other *TensorDict) bool {
	if !td.batch.Equal(other.batch) || len(td.values) != len(other.values) {
		return false
	}
	for i, name := range td.table.list() {
		j := other.table.find(name)
		if j < 0 || !equal(td.values[i], other.values[j]) {
			return false
		}
	}
	return true
}

// Clone returns a copy of td with leaves in memory of their own and dictionaries that are not locked. An error means
// that memory of a leaf was lent and is gone.
func (td *TensorDict) Clone() (*TensorDict, error) {
	out := td.like(td.batch)
	for i, v := range td.values {
		var err error
		if out.values[i], err = clone(v); err != nil {
			return nil, within("clone", td.table.names[i], err)
		}
	}
	return out, nil
}

// notDict returns the error of a key that leads through the leaf v, called name.
func notDict(name nestedkey.Key, v Value) error {
	return fmt.Errorf("%w: %q is %s", ErrNotDict, string(name), describe(v))
}
