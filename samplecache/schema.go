package samplecache

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// check returns [ErrSchema] unless td is a sample of the cache.
func (c *Cache) check(td *tdict.TensorDict) error {
	if td == nil || len(td.Shape()) > 0 {
		return fmt.Errorf("%w: got %s, want []", ErrSchema, shapeOf(td))
	}
	for key, leaf := range td.Leaves() {
		if !c.schema.Has(key) {
			return fmt.Errorf("%w: got a leaf %q that it does not have: %s", ErrSchema, key, describe(leaf))
		}
	}
	for key, want := range c.schema.Tensors() {
		v, err := td.Get(key)
		if err != nil {
			return fmt.Errorf("%w: %q is missing", ErrSchema, key)
		}
		x, ok := v.(*tensor.Tensor)
		if !ok || x.DType() != want.DType() || !slices.Equal(x.Shape(), want.Shape()) {
			return fmt.Errorf("%w: %q: got %s, want %s", ErrSchema, key, describe(v), describe(want))
		}
	}
	return nil
}

// describe says what a value is.
func describe(v tdict.Value) string {
	if x, ok := v.(*tensor.Tensor); ok {
		return fmt.Sprint(x.DType(), " ", x.Shape())
	}
	return fmt.Sprintf("%T", v)
}
