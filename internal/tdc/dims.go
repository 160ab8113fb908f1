package tdc

import (
	"maps"
	"slices"
	"strconv"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// Dims has the number of batch dims of a lazy stack, under the empty key, and of dictionaries in
// it, where it differs from the number that LazyStack of the members gives: members that Index
// picked may agree on more dims than all members did.
type Dims map[nestedkey.Key]int

// DimsOf returns the Dims of td, a lazy stack of members, or nil if there are none.
func DimsOf(td *tdict.TensorDict, dim int, members []*tdict.TensorDict) (Dims, error) {
	again, err := tdict.LazyStack(members, dim)
	if err != nil {
		return nil, err
	}
	var dims Dims
	note := func(key nestedkey.Key, is, alone *tdict.TensorDict) {
		if n := len(is.Shape()); n != len(alone.Shape()) {
			if dims == nil {
				dims = Dims{}
			}
			dims[key] = n
		}
	}
	note("", td, again)
	for key := range td.NestedKeys() {
		is, err := td.Dict(key)
		if err != nil {
			continue // a leaf
		}
		if alone, err := again.Dict(key); err == nil {
			note(key, is, alone)
		}
	}
	return dims, nil
}

// Cut returns td, a lazy stack, with these numbers of batch dims. It passes over a number that is
// not less than what td has, since a member may have been added meanwhile.
func (dims Dims) Cut(td *tdict.TensorDict) (*tdict.TensorDict, error) {
	for _, key := range slices.Sorted(maps.Keys(dims)) { // outer dictionaries first
		d := td
		if key != "" {
			inner, err := td.Dict(key)
			if err != nil {
				return nil, fileformat.Corrupt("the batch dims of %s: %w", quote(string(key)), err)
			}
			d = inner
		}
		n := dims[key]
		if n >= len(d.Shape()) {
			continue
		}
		if dim, ok := tdict.StackDim(d); n < 0 || ok && n <= dim {
			return nil, fileformat.Corrupt("the batch dims of %s: got %d, want the stack dim %d among them", quote(string(key)), n, dim)
		}
		d, err := d.WithBatch(d.Shape()[:n]...)
		if err == nil && key == "" {
			td = d
		} else if err == nil {
			err = td.Set(key, d)
		}
		if err != nil {
			return nil, fileformat.Corrupt("the batch dims of %s: %w", quote(string(key)), err)
		}
	}
	return td, nil
}

// AppendTo appends dims as a JSON object, sorted by key.
func (dims Dims) AppendTo(b []byte) []byte {
	b = append(b, '{')
	for i, key := range slices.Sorted(maps.Keys(dims)) {
		b = appendName(comma(b, i), string(key))
		b = strconv.AppendInt(b, int64(dims[key]), 10)
	}
	return append(b, '}')
}

// ReadDims reads what AppendTo appends.
func ReadDims(s *jsonscan.Scanner) (Dims, error) {
	dims := Dims{}
	err := s.Object(func(name []byte) error {
		key := nestedkey.Key(name)
		n, err := s.Int()
		dims[key] = int(min(max(n, -1), MaxDims))
		return err
	})
	return dims, err
}
