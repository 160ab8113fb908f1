package inspect

import (
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A joint has the categories of a column in two datasets, first the categories of a.
type joint struct {
	texts []string
	a, b  []int64 // the number in texts of each code
}

// jointCategories returns a joint for each of keys whose categories differ.
func jointCategories(a, b specs, keys []nestedkey.Key) map[nestedkey.Key]*joint {
	joints := map[nestedkey.Key]*joint{}
	for _, key := range keys {
		mine, other := a.of(key).Categories, b.of(key).Categories
		if mine != nil && other != nil && !slices.Equal(mine, other) {
			joints[key] = newJoint(mine, other)
		}
	}
	return joints
}

// newJoint returns the joint of the categories of a and b.
func newJoint(a, b []string) *joint {
	j := &joint{}
	known := map[string]int64{}
	number := func(text string) int64 {
		at, ok := known[text]
		if !ok {
			at = int64(len(j.texts))
			known[text], j.texts = at, append(j.texts, text)
		}
		return at
	}
	for _, text := range a {
		j.a = append(j.a, number(text))
	}
	for _, text := range b {
		j.b = append(j.b, number(text))
	}
	return j
}

// recode replaces the codes of an entry by int64 numbers of j.texts. A code without a text gets a
// number without one.
func (j *joint) recode(td *tdict.TensorDict, key nestedkey.Key, table []int64) error {
	v, err := tdict.Get[*tensor.Tensor](td, key)
	if err != nil {
		return err
	}
	if v, err = v.Cast(tensor.Int64); err != nil {
		return err
	}
	codes, err := tensor.Slice[int64](v)
	if err != nil {
		return err
	}
	codes = slices.Clone(codes)
	for i, code := range codes {
		switch {
		case code >= int64(len(table)):
			codes[i] = code + int64(len(j.texts))
		case code >= 0:
			codes[i] = table[code]
		}
	}
	if v, err = tensor.From(codes, v.Shape()...); err != nil {
		return err
	}
	return td.Set(key, v)
}
