package transform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// OnKeys returns a transform that applies t to the entries under some keys, which may be nested,
// and puts the result in their place. Other entries do not change. Keys are read as by
// [tdict.TensorDict.Select].
//
// If t does not return a key, the key is removed from the result. If t returns a leaf under another
// key, it is added; if that key exists, Apply returns tdict.ErrExists. t must keep the batch shape;
// otherwise Apply returns shapeops.ErrShape. A missing key is tdict.ErrMissing.
//
// One t on several keys draws once for all of them: OnKeys(RandomCrop(6, 6), "image", "mask") cuts
// the same part out of both; two steps would not.
func OnKeys(t Transform, keys ...nestedkey.Key) Transform {
	return &onKeys{t, slices.Clone(keys)}
}

type onKeys struct {
	inner Transform
	keys  []nestedkey.Key
}

func (t *onKeys) String() string {
	texts := make([]string, len(t.keys))
	for i, key := range t.keys {
		texts[i] = string(key)
	}
	return "on " + strings.Join(texts, ", ") + ": " + textOf(t.inner)
}

func (t *onKeys) Apply(td *tdict.TensorDict, d Draw) (*tdict.TensorDict, error) {
	if td == nil || t.inner == nil {
		return nil, fmt.Errorf("on keys: %w: got a nil dictionary or transform", tdict.ErrKind)
	}
	parts, err := tdict.SplitKeys(td, t.keys) // checks the keys
	if err != nil {
		return nil, errtext.Named("on keys", err)
	}
	made, err := t.inner.Apply(parts[0], d)
	if err != nil {
		return nil, err
	}
	if made == nil {
		return nil, fmt.Errorf("on keys: %w: got a nil dictionary from the transform", tdict.ErrKind)
	}
	if err := made.Shape().CheckEqual(td.Shape()); err != nil {
		return nil, fmt.Errorf("on keys: result: %w", err)
	}
	out := td.Copy()
	if err := t.put(out, made); err != nil {
		return nil, errtext.Named("on keys", err)
	}
	return out, nil
}

// put sets in td the entries that the transform returned.
func (t *onKeys) put(td, made *tdict.TensorDict) error {
	for _, key := range t.keys {
		v, err := made.Get(key)
		if err == nil {
			err = td.Set(key, v)
		} else {
			err = td.Delete(key)
		}
		if err != nil {
			return err
		}
	}
	for key, v := range made.Leaves() {
		if slices.ContainsFunc(t.keys, key.HasPrefix) {
			continue
		}
		if td.Has(key) {
			return &tdict.KeyError{Key: key, Err: fmt.Errorf("%w: Delete it first", tdict.ErrExists)}
		}
		if err := td.Set(key, v); err != nil {
			return err
		}
	}
	return nil
}
