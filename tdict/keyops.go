package tdict

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
)

// Clear removes all entries. Nested dictionaries keep their own entries. Clear returns [ErrLocked].
func (td *TensorDict) Clear() error {
	if err := td.checkUnlocked(); err != nil {
		return failed("clear", err)
	}
	td.entries = store{}
	return nil
}

// IsEmpty reports whether td has no leaf, at any depth.
func (td *TensorDict) IsEmpty() bool { return td.isEmpty(map[*TensorDict]bool{}) }

// isEmpty is IsEmpty that skips the dictionaries in seen.
func (td *TensorDict) isEmpty(seen map[*TensorDict]bool) bool {
	for _, v := range td.entries.all() {
		d, ok := v.(*TensorDict)
		if !ok {
			return false
		}
		if seen[d] {
			continue
		}
		seen[d] = true
		if !d.isEmpty(seen) {
			return false
		}
	}
	return true
}

// FilterEmpty returns a dictionary without the nested dictionaries that have no leaf at any depth.
// Leaves are shared.
func (td *TensorDict) FilterEmpty() *TensorDict {
	out := td.emptied()
	for name, v := range td.entries.all() {
		if d, ok := v.(*TensorDict); ok {
			d = d.FilterEmpty()
			if d.NumEntries() == 0 {
				continue
			}
			v = d
		}
		out.entries.put(name, v)
	}
	return out
}

// SortKeys returns a dictionary with the entries of td in the order of nestedkey.Compare, at every
// depth. Leaves are shared.
func (td *TensorDict) SortKeys() *TensorDict {
	out := td.emptied()
	names := slices.SortedFunc(td.Keys(), nestedkey.Compare)
	values := make([]Value, len(names))
	for i, name := range names {
		v, _ := td.entries.get(name)
		if d, ok := v.(*TensorDict); ok {
			v = d.SortKeys()
		}
		values[i] = v
	}
	out.entries, _, _ = storeOf(names, values)
	return out
}

// SplitKeys returns one dictionary for each set of keys, with the entries of td under these keys,
// and a last one with the remaining entries. All are in td's order. td stays as it is. The keys of
// a set are read as by [TensorDict.Select].
//
// Each result has the dictionaries around its entries. The last result has no dictionary whose
// entries are all in the sets, but it has the dictionaries that are empty in td. Leaves are shared,
// dictionaries are new and not locked.
//
// SplitKeys returns [ErrMissing], [ErrNotDict] if a key leads through a leaf, and [ErrExists] if a
// key is in two sets or lies below a key of another set.
func SplitKeys(td *TensorDict, sets ...[]nestedkey.Key) ([]*TensorDict, error) {
	if td == nil {
		return nil, failed("split keys", errNil)
	}
	tree := &keyTree{}
	for set, keys := range sets {
		for _, key := range keys {
			if _, _, _, err := td.find(key); err != nil {
				return nil, failedKey("split keys", key, err)
			}
		}
		for _, key := range narrowed(keys) {
			if err := tree.add(key, set); err != nil {
				return nil, failedKey("split keys", key, err)
			}
		}
	}
	out := make([]*TensorDict, len(sets)+1)
	for i := range out {
		out[i] = td.emptied()
	}
	td.distribute(tree, len(sets), func(set int) *TensorDict { return out[set] })
	return out, nil
}

// distribute puts each entry of td into to(set), where set is the number of its key's set in tree,
// or rest if tree has no such key.
func (td *TensorDict) distribute(tree *keyTree, rest int, to func(set int) *TensorDict) {
	for name, v := range td.entries.all() {
		picked := tree.below[name]
		switch {
		case picked == nil:
			to(rest).entries.put(name, shallow(v))
		case picked.ends:
			to(picked.set).entries.put(name, shallow(v))
		default:
			d, _ := v.(*TensorDict) // a dictionary, since the keys were found
			d.distribute(picked, rest, func(set int) *TensorDict {
				inner := to(set).innerDict(name)
				if inner == nil {
					inner = d.emptied()
					to(set).entries.put(name, inner)
				}
				return inner
			})
		}
	}
}

// Separate moves the entries under the given keys from td to a new dictionary, which it returns,
// with the same keys in td's order. The dictionaries around them are created in the result, and
// stay in td even if they become empty. Leaves are shared; nested dictionaries are copied and not
// locked.
//
// Separate returns [ErrMissing] if td lacks a key, [ErrNotDict] if a key leads through a leaf,
// [ErrLocked] if a dictionary that would lose an entry is locked. On an error nothing has changed.
func (td *TensorDict) Separate(keys ...nestedkey.Key) (*TensorDict, error) {
	out, err := td.Select(keys...)
	if err != nil {
		return nil, failed("separate", err)
	}
	keys = narrowed(keys)
	for _, key := range keys {
		d, _, _, _ := td.find(key)
		if err := d.checkUnlocked(); err != nil {
			return nil, failedKey("separate", key, err)
		}
	}
	for _, key := range keys {
		d, name, _, err := td.find(key)
		if err == nil { // an error if d is in td twice, under another of the keys
			d.entries.drop(name)
		}
	}
	return out, nil
}

// A keyTree holds the keys of numbered sets by their parts. No key lies below another one.
type keyTree struct {
	key   nestedkey.Key // the first key that was added here or below
	set   int           // the set of key
	ends  bool          // key ends here
	below map[nestedkey.Key]*keyTree
}

// add adds a key of a set. It returns ErrExists, with the other key, if the tree has key, or a key
// above or below it.
func (t *keyTree) add(key nestedkey.Key, set int) error {
	rest, nested := key, true
	for nested {
		var first nestedkey.Key
		first, rest, nested = rest.Cut()
		next := t.below[first]
		switch {
		case next == nil:
			if t.below == nil {
				t.below = map[nestedkey.Key]*keyTree{}
			}
			next = &keyTree{key: key, set: set, ends: !nested}
			t.below[first] = next
		case next.ends || !nested:
			return fmt.Errorf("%w: the keys overlap with %q, given before", ErrExists, string(next.key))
		}
		t = next
	}
	return nil
}
