package loadertest

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// different returns an error unless got and want are equal. NaN is equal to itself.
func different(got, want *tdict.TensorDict) error {
	for d := range got.DiffsWithin(want, tensor.Tolerance{EqualNaN: true}) {
		return cmp.Or(d.Err, fmt.Errorf("got (and other, want) %s", d))
	}
	return nil
}

// A filler is a set of values with which memory is overwritten.
type filler struct {
	number, float any
	bit           bool
}

// fillers differ in every value, so that at least one of them changes any memory.
var fillers = []filler{{85, math.NaN(), true}, {0, 0, false}}

// write overwrites all of td, except unbatched tensors.
func (r filler) write(td *tdict.TensorDict) error {
	for key, leaf := range td.Leaves() {
		if err := r.writeLeaf(leaf); err != nil {
			return fmt.Errorf("%q cannot be written to: %w", string(key), err)
		}
	}
	return nil
}

// writeLeaf overwrites a leaf.
func (r filler) writeLeaf(leaf tdict.Leaf) error {
	switch x := leaf.(type) {
	case *tensor.Tensor:
		return r.fill(x)
	case *ragged.Tensor:
		values, err := x.Values()
		if err != nil {
			return err
		}
		return r.fill(values)
	case *tdict.Data:
		return r.blank(x)
	case *tdict.Stacked:
		for i := range x.Len() {
			if m, err := x.Member(i); err == nil {
				if err := r.writeLeaf(m); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// fill overwrites the elements of x.
func (r filler) fill(x *tensor.Tensor) error {
	switch {
	case x.DType() == tensor.Bool:
		return arith.FillInPlace(x, r.bit)
	case x.DType().IsFloat():
		return arith.FillInPlace(x, r.float)
	}
	return arith.FillInPlace(x, r.number)
}

// blank overwrites d.
func (r filler) blank(d *tdict.Data) error {
	td, blank := tdict.New(d.Shape()...), tdict.New(d.Shape()...)
	v, err := tdict.NewData(r.number, d.Shape()...)
	if err != nil {
		return err
	}
	if err := td.Set("d", d); err != nil {
		return err
	}
	if err := blank.Set("d", v); err != nil {
		return err
	}
	return td.SetIndex(blank, ix.All)
}

// empty deletes all entries, at every depth.
func empty(td *tdict.TensorDict) error {
	for _, v := range td.All() {
		if d, ok := v.(*tdict.TensorDict); ok {
			if err := empty(d); err != nil {
				return err
			}
		}
	}
	for _, key := range slices.Collect(td.Keys()) {
		if err := td.Delete(key); err != nil {
			return err
		}
	}
	return nil
}
