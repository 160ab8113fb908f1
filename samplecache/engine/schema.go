package engine

import (
	"fmt"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Schema returns the schema of samples like td: a dictionary of batch shape [] with the keys,
// shapes and dtypes of td's leaves, in their order, and without elements. Engines call it. It
// returns [ErrSchema] if td is nil, has a batch shape other than [], or has a leaf that is not a
// dense tensor or is larger than memory can be.
func Schema(td *tdict.TensorDict) (*tdict.TensorDict, error) {
	if td == nil {
		return nil, fmt.Errorf("%w: got a nil dictionary, want one of batch shape []", ErrSchema)
	}
	if len(td.Shape()) > 0 {
		return nil, fmt.Errorf("%w: got batch shape %v, want []", ErrSchema, td.Shape())
	}
	schema := tdict.New()
	for key, leaf := range td.Leaves() {
		x, ok := leaf.(*tensor.Tensor)
		if !ok {
			return nil, fmt.Errorf("%w: %q is %T, want a dense tensor", ErrSchema, key, leaf)
		}
		meta, err := tensor.NewMeta(x.DType(), x.Shape()...)
		if err == nil {
			err = schema.Set(key, meta)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %q: %w", ErrSchema, key, err)
		}
	}
	return schema, nil
}
