package samplecache

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// check returns [ErrSchema] unless td is a sample of the cache, or samples if there is a batch shape.
func (c *Cache) check(td *tdict.TensorDict, batch ...int) error {
	switch {
	case c == nil:
		return errClosed
	case td == nil:
		return fmt.Errorf("%w: got a nil dictionary", ErrSchema)
	case !slices.Equal(td.Shape(), batch):
		return fmt.Errorf("%w: got batch shape %v, want %v", ErrSchema, td.Shape(), shapeops.Shape(batch))
	}
	for key := range td.NestedKeys() {
		if !c.about.Schema.Has(key) {
			return fmt.Errorf("%w: got a key %q that it does not have", ErrSchema, key)
		}
	}
	for _, want := range c.leaves {
		v, err := td.Get(want.key)
		if err != nil {
			return fmt.Errorf("%w: %q is missing", ErrSchema, want.key)
		}
		x, ok := v.(*tensor.Tensor)
		if !ok || x.DType() != want.dtype || !slices.Equal(x.Shape()[len(batch):], want.shape) {
			return fmt.Errorf("%w: %q: got %s, want %v %v", ErrSchema, want.key, describe(v), want.dtype, want.shape)
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

// maxName is how many bytes a name may have.
const maxName = 64

// checkName returns an error, which wraps is, for a name that is not 1 to 64 bytes of UTF-8.
func checkName(is error, name string) error {
	if name == "" || len(name) > maxName || !utf8.ValidString(name) {
		return fmt.Errorf("%w: got a name of %d bytes, want 1 to %d of UTF-8", is, len(name), maxName)
	}
	return nil
}
