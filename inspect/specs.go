package inspect

import (
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// specs are the entries of a schema by their keys, each as a schema of its one entry, in which
// methods need not search.
type specs map[nestedkey.Key]tdict.Schema

// specsOf returns the specs of a schema.
func specsOf(schema tdict.Schema) specs {
	all := make(specs, len(schema))
	for i, spec := range schema {
		all[spec.Key] = schema[i : i+1]
	}
	return all
}

// of returns the spec of a key, or the zero Spec.
func (s specs) of(key nestedkey.Key) tdict.Spec {
	if one := s[key]; one != nil {
		return one[0]
	}
	return tdict.Spec{}
}

// withMasks returns the keys and the masks of their entries.
func (s specs) withMasks(keys []nestedkey.Key) []nestedkey.Key {
	all := slices.Clone(keys)
	for _, key := range keys {
		if mask := s.of(key).Mask; mask != "" {
			all = append(all, mask)
		}
	}
	return all
}
