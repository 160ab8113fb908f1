package samplecache

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// check returns [ErrSchema] unless td is a sample of the cache.
func (c *Cache) check(td *tdict.TensorDict) error {
	switch {
	case c == nil:
		return errClosed
	case td == nil:
		return fmt.Errorf("%w: got a nil dictionary", ErrSchema)
	case len(td.Shape()) > 0:
		return fmt.Errorf("%w: got batch shape %v, want []", ErrSchema, td.Shape())
	}
	for key, leaf := range td.Leaves() {
		if !c.about.Schema.Has(key) {
			return fmt.Errorf("%w: got a leaf %q that it does not have: %s", ErrSchema, key, describe(leaf))
		}
	}
	for key, want := range c.about.Schema.Tensors() {
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

// maxName is how many bytes a name may have.
const maxName = 64

// checkName returns an error, which wraps is, for a name that is not 1 to 64 bytes of UTF-8.
func checkName(is error, name string) error {
	if name == "" || len(name) > maxName || !utf8.ValidString(name) {
		return fmt.Errorf("%w: got a name of %d bytes, want 1 to %d of UTF-8", is, len(name), maxName)
	}
	return nil
}
