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
	for i, mask := range masks {
		key := at
		if len(masks) > 1 {
			key = nestedkey.Join(at, nestedkey.Of(strconv.Itoa(i+1)))
		}
		if out.Has(key) {
			return &tdict.KeyError{Op: "set", Key: key, Err: tdict.ErrExists}
		}
		if err := out.Set(key, mask); err != nil {
			return err
		}
	}
	return nil
}
