package forms

import (
	"context"
	"errors"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// SliceOptions say what of a dataset [Slice] saves: by default all of it.
type SliceOptions struct {
	Options
	Index []ix.Index // over the batch shape; not together with Keep
	// Keep returns a mask, bool [n], of the rows of a chunk [n] that are saved.
	Keep func(chunk *tdict.TensorDict) (*tensor.Tensor, error)
	Keys []nestedkey.Key // of entries that are saved; nil means all
	Drop []nestedkey.Key // of entries that are not saved
}

// Slice saves a part of a dataset.
func Slice(ctx context.Context, to, from string, opt SliceOptions) error {
	return errors.ErrUnsupported
}
