package tdict

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
)

// Clear removes all entries. Dictionaries among them keep theirs. It returns [ErrLocked].
func (td *TensorDict) Clear() error {
	if td.Locked() {
		return failed("clear", td.errLocked())
	}
	for name := range td.entries.all() {
		if err := td.checkDrop(name); err != nil {
			return &KeyError{"clear", name, err}
		}
	}
	td.replaceAll(store{})
	return nil
}

// IsEmpty reports whether td has no leaf, at any depth.
func (td *TensorDict) IsEmpty() bool { return td.isEmpty(map[*TensorDict]bool{}) }

// isEmpty is IsEmpty that passes over the dictionaries in seen.
func (td *TensorDict) isEmpty(seen map[*TensorDict]bool) bool {
	for _, v := range td.entries.all() {
		d, ok := asDict(v)
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

// FilterEmpty returns a dictionary without the dictionaries that have no leaf, at any depth. Leaves
// are shared.
func (td *TensorDict) FilterEmpty() *TensorDict {
	out := td.emptied()
	for name, v := range td.entries.all() {
		if d, ok := asDict(v); ok {
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

// SortKeys returns a dictionary with the entries of td, at every depth, in the order of
// nestedkey.Compare. Leaves are shared.
func (td *TensorDict) SortKeys() *TensorDict {
	out := td.emptied()
	names := slices.SortedFunc(td.Keys(), nestedkey.Compare)
	values := make([]Value, len(names))
	for i, name := range names {
		v, _ := td.entries.get(name)
		if d, ok := asDict(v); ok {
			v = d.SortKeys()
		}
		values[i] = v
	}
	out.entries, _, _ = storeOf(names, values)
	return out
}

// SplitKeys returns a dictionary for each set of keys, with what td has under them, and one more
// with the rest, all in td's order; td stays as it is. A key of a dictionary stands for all of it.
// Dictionaries around the keys are in each that needs them: a dictionary all of whose entries are
// in the sets is not in the rest, but one that has no entries in td is. Leaves are shared, the
// structure is new and not locked.
//
// SplitKeys returns [ErrMissing], [ErrNotDict] if a key leads through a leaf, and [ErrExists] if a
// key is given twice, or one below another.
func SplitKeys(td *TensorDict, sets ...[]nestedkey.Key) ([]*TensorDict, error) {
	if td == nil {
		return nil, failed("split keys", errNil)
	}
	tree, err := td.treeOf("split keys", sets...)
	if err != nil {
		return nil, err
	}
	out := make([]*TensorDict, len(sets)+1)
	for i := range out {
		out[i] = td.emptied()
	}
	td.distribute(tree, len(sets), func(set int) *TensorDict { return out[set] })
	return out, nil
}

// deal puts each entry of td where to says: by the set that the keys in tree have it in, or else by
// the number rest.
func (td *TensorDict) distribute(tree *keyTree, rest int, to func(set int) *TensorDict) {
	for name, v := range td.entries.all() {
		picked := tree.below[name]
		switch {
		case picked == nil:
			to(rest).entries.put(name, shallow(v))
		case picked.ends:
			to(picked.set).entries.put(name, shallow(v))
		default:
			d, _ := asDict(v) // or a key would lead through a leaf
			d.distribute(picked, rest, func(set int) *TensorDict { return to(set).innerDictLike(name, d) })
		}
	}
}

// innerLike returns the dictionary under a name of one part, after setting it to one without
// entries in the place of d if there is none.
func (td *TensorDict) innerDictLike(name nestedkey.Key, d *TensorDict) *TensorDict {
	inner := td.innerDict(name)
	if inner == nil {
		inner = d.emptied()
		td.entries.put(name, inner)
	}
	return inner
}

// Separate takes the entries under the given keys out of td, and returns them in a new dictionary
// under the same keys, in td's order. Dictionaries around them are created there, and stay in td
// even if they become empty. Leaves are those of td; dictionaries that are taken out are copied,
// and not locked.
//
// Separate returns [ErrMissing], [ErrNotDict] if a key leads through a leaf, [ErrLocked], and
// [ErrExists] if a key is given twice, or one below another.
func (td *TensorDict) Separate(keys ...nestedkey.Key) (*TensorDict, error) {
	if _, err := td.treeOf("separate", keys); err != nil {
		return nil, err
	}
	for _, key := range keys {
		d, name, _, _ := td.find(key)
		if err := d.checkRemovable(name); err != nil {
			return nil, &KeyError{"separate", key, err}
		}
	}
	out := td.part(keys).Copy()
	for _, key := range keys {
		d, name, _, err := td.find(key)
		if err == nil { // else d is in td twice, and this was its other key
			d.drop(name)
		}
	}
	return out, nil
}

// pick returns the tree of keys in several sets. It returns a KeyError if td lacks one, and
// ErrExists if a key is given twice, or one below another.
func (td *TensorDict) treeOf(op string, sets ...[]nestedkey.Key) (*keyTree, error) {
	tree := &keyTree{}
	for set, keys := range sets {
		for _, key := range keys {
			_, _, _, err := td.find(key)
			if err == nil {
				err = tree.add(key, set)
			}
			if err != nil {
				return nil, &KeyError{op, key, err}
			}
		}
	}
	return tree, nil
}

// A pickTree holds keys of numbered sets by their parts, none of them below another.
type keyTree struct {
	key   nestedkey.Key // the first in full that led here
	set   int           // that of key
	ends  bool          // key ends here
	below map[nestedkey.Key]*keyTree
}

// add adds a key of a set. It returns ErrExists, with the other key, if it is there, or one above
// or below it.
func (t *keyTree) add(key nestedkey.Key, set int) error {
	rest, nested := key, true
	for nested {
		var first nestedkey.Key
		first, rest, nested = rest.Cut()
		next := t.below[first]
		switch {
		case next == nil:
			next = t.addChild(first, &keyTree{key: key, set: set, ends: !nested})
		case next.ends || !nested:
			return fmt.Errorf("%w: %q is chosen already", ErrExists, string(next.key))
		}
		t = next
	}
	return nil
}

// grow puts a tree below t, and returns it.
func (t *keyTree) addChild(name nestedkey.Key, next *keyTree) *keyTree {
	if t.below == nil {
		t.below = map[nestedkey.Key]*keyTree{}
	}
	t.below[name] = next
	return next
}
