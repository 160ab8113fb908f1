package tdict

import (
	"iter"
	"math"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// All returns an iterator over the entries, in order. A nested dictionary is one value; its entries
// are not visited. The dictionary must not be changed during the iteration.
func (td *TensorDict) All() iter.Seq2[nestedkey.Key, Value] { return td.entries.all() }

// Leaves returns an iterator over the leaves of every kind in td and the dictionaries below it,
// depth first, in order, each with its full key. The dictionary must not be changed during the
// iteration.
func (td *TensorDict) Leaves() iter.Seq2[nestedkey.Key, Leaf] {
	return func(yield func(nestedkey.Key, Leaf) bool) {
		td.walk(nil, func(key nestedkey.Key, v Value) bool {
			_, isDict := v.(*TensorDict)
			return isDict || yield(key, v)
		})
	}
}

// Tensors returns an iterator over the leaves that are dense tensors, in the order of
// [TensorDict.Leaves]. It skips ragged and unbatched tensors. The dictionary must not be changed
// during the iteration.
func (td *TensorDict) Tensors() iter.Seq2[nestedkey.Key, *tensor.Tensor] {
	return func(yield func(nestedkey.Key, *tensor.Tensor) bool) {
		td.walk(nil, func(key nestedkey.Key, v Value) bool {
			t, ok := v.(*tensor.Tensor)
			return !ok || yield(key, t)
		})
	}
}

// Keys returns an iterator over the keys of the entries, in order. It does not visit the entries of
// nested dictionaries. The dictionary must not be changed during the iteration.
func (td *TensorDict) Keys() iter.Seq[nestedkey.Key] {
	return func(yield func(nestedkey.Key) bool) {
		for name := range td.entries.all() {
			if !yield(name) {
				return
			}
		}
	}
}

// NestedKeys returns an iterator over the keys of all entries at every depth, in order. The key of
// a nested dictionary comes before the keys of its entries. The dictionary must not be changed
// during the iteration.
func (td *TensorDict) NestedKeys() iter.Seq[nestedkey.Key] {
	return func(yield func(nestedkey.Key) bool) {
		td.walk(nil, func(key nestedkey.Key, _ Value) bool { return yield(key) })
	}
}

// Rows returns an iterator over the rows of the first batch dim, in order:
//
//	[N B...] -> N times [B...]
//
// Each row is the result of [TensorDict.Index] at its position: a new dictionary whose tensors are
// views of td's. Rows yields (nil, shapeops.ErrDim) if the batch shape is [], and stops after an
// error. A second loop begins again with the first row. The dictionary must not be changed during
// the iteration.
func (td *TensorDict) Rows() iter.Seq2[*TensorDict, error] {
	return func(yield func(*TensorDict, error) bool) {
		if _, err := td.batch.Dim(0); err != nil {
			yield(nil, failed("rows", err))
			return
		}
		for i := range td.batch[0] {
			p, err := plan.Index(td.batch, ix.At(i))
			row, err := td.executed("rows", p, err)
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// walk calls fn with each entry of td and of the dictionaries below it, in order, until fn returns
// false. path is the key of td, followed by a slash unless it is empty.
func (td *TensorDict) walk(path []byte, fn func(nestedkey.Key, Value) bool) bool {
	for name, v := range td.entries.all() {
		key := name
		if len(path) > 0 {
			key = nestedkey.Key(append(path, name...))
		}
		if !fn(key, v) {
			return false
		}
		if d, ok := v.(*TensorDict); ok && !d.walk(append(append(path, name...), '/'), fn) {
			return false
		}
	}
	return true
}

// ByteSize returns the number of bytes of the elements of all tensors and ragged tensors, as their
// ByteSize methods count them, or math.MaxInt if that overflows. A value under several keys counts
// for each. Offsets, unbatched tensors and data do not count. (Python: bytes.)
func (td *TensorDict) ByteSize() int {
	return td.sum(map[*TensorDict]int{}, func(leaf Value) int {
		if e := elements(leaf); e != nil {
			return e.ByteSize()
		}
		return 0
	})
}

func (td *TensorDict) countLeaves() int {
	return td.sum(map[*TensorDict]int{}, func(Value) int { return 1 })
}

// sum returns the sum of size(leaf) over all leaves, or math.MaxInt if that overflows. known has
// the sums of dictionaries that were seen before.
func (td *TensorDict) sum(known map[*TensorDict]int, size func(leaf Value) int) int {
	total, ok := known[td]
	if ok {
		return total
	}
	for _, v := range td.entries.all() {
		n := 0
		if d, ok := v.(*TensorDict); ok {
			n = d.sum(known, size)
		} else {
			n = size(v)
		}
		total += min(n, math.MaxInt-total)
	}
	known[td] = total
	return total
}
