package tdict

import (
	"iter"

	"github.com/go-tensordict/tensordict/nestedkey"
)

// All returns an iterator over the entries, in order; nested dictionaries are values, and not entered. The dictionary
// must not be changed meanwhile.
func (td *TensorDict) All() iter.Seq2[nestedkey.Key, Value] {
	return func(yield func(nestedkey.Key, Value) bool) {
		for i, name := range td.table.list() {
			if !yield(name, td.values[i]) {
				return
			}
		}
	}
}

// Leaves returns an iterator over the leaves of td and of the dictionaries in it, depth first, in order, each with its full
// key. The dictionary must not be changed meanwhile.
func (td *TensorDict) Leaves() iter.Seq2[nestedkey.Key, Leaf] {
	return func(yield func(nestedkey.Key, Leaf) bool) {
		td.walk(true, func(key nestedkey.Key, v Value) bool {
			l, ok := asLeaf(v)
			return !ok || yield(key, l)
		})
	}
}

// KeyOptions say which keys [TensorDict.Keys] yields.
type KeyOptions struct {
	Nested     bool // also the keys within nested dictionaries
	LeavesOnly bool // not the keys of dictionaries
}

// Keys returns an iterator over keys, in order; that of a nested dictionary comes before those within it. The dictionary
// must not be changed meanwhile.
func (td *TensorDict) Keys(opt KeyOptions) iter.Seq[nestedkey.Key] {
	return func(yield func(nestedkey.Key) bool) {
		td.walk(opt.Nested, func(key nestedkey.Key, v Value) bool {
			_, ok := asDict(v)
			return ok && opt.LeavesOnly || yield(key)
		})
	}
}

// walk calls fn with each entry, in order, and with those below it if nested is set, until fn returns false.
func (td *TensorDict) walk(nested bool, fn func(nestedkey.Key, Value) bool) bool {
	for i, key := range td.table.list() {
		if !fn(key, td.values[i]) {
			return false
		}
		if d, ok := asDict(td.values[i]); ok && nested {
			below := func(inner nestedkey.Key, v Value) bool { return fn(nestedkey.Join(key, inner), v) }
			if !d.walk(nested, below) {
				return false
			}
		}
	}
	return true
}
