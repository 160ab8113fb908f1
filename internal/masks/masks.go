// Package masks puts the masks of a padded ragged tensor into a dictionary.
package masks

import (
	"strconv"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Add adds the masks of the levels of a leaf under a key: one mask at the key itself, several in a
// dictionary there, under the numbers of their levels. It returns [tdict.ErrExists] if the key is
// in use.
func Add(out *tdict.TensorDict, at nestedkey.Key, masks []*tensor.Tensor) error {
	switch {
	case len(masks) == 0:
		return nil
	case out.Has(at):
		return &tdict.KeyError{Op: "set", Key: at, Err: tdict.ErrExists}
	case len(masks) == 1:
		return out.Set(at, masks[0])
	}
	levels := tdict.New(out.Shape()...)
	for i, mask := range masks {
		if err := levels.Set(nestedkey.Key(strconv.Itoa(i+1)), mask); err != nil {
			return err
		}
	}
	return out.Set(at, levels)
}
