package tdict_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// BenchmarkSetBound sets an entry of a dictionary without a schema, and of one with: a tensor like
// the one there, at the top and in a dictionary, and one of another shape.
func BenchmarkSetBound(b *testing.B) {
	for _, entries := range []int{4, 40} {
		for _, key := range []nestedkey.Key{"k3", "in/k3"} {
			for _, what := range []string{"alike", "reshaped"} {
				for _, how := range []string{"unbound", "bound"} {
					b.Run(fmt.Sprintf("entries=%d/key=%s/value=%s/how=%s", entries, key, what, how), func(b *testing.B) {
						td, schema := boundEntries(b, entries)
						if how == "bound" {
							require.NoError(b, td.Enforce(schema))
						}
						values := []*tensor.Tensor{zerosOf(tensor.Int8, 2, 1), zerosOf(tensor.Int8, 2, 1)}
						if what == "reshaped" {
							values[1] = zerosOf(tensor.Int8, 2, 2)
						}
						i := 0
						for b.Loop() {
							_ = td.Set(key, values[i&1])
							i++
						}
					})
				}
			}
		}
	}
}

// boundEntries returns a dictionary with so many entries at the top and in a dictionary.
func boundEntries(b *testing.B, n int) (*tdict.TensorDict, tdict.Schema) {
	td, schema := tdict.New(2), tdict.Schema{}
	for i := range n {
		for _, key := range []nestedkey.Key{nestedkey.Key(fmt.Sprint("k", i)), nestedkey.Key(fmt.Sprint("in/k", i))} {
			require.NoError(b, td.Set(key, zerosOf(tensor.Int8, 2, 1)))
			schema = append(schema, tdict.Spec{Key: key, DType: tensor.Int8, Shape: []int{tdict.Any}})
		}
	}
	return td, schema
}
