package tdict

import (
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/nestedkey"
)

// Select returns a dictionary with the entries under the given keys, in td's order, and the
// dictionaries around them. Leaves are shared. Select returns [ErrMissing], and [ErrNotDict] if a
// key leads through a leaf.
//
// The key of a dictionary means all of it, unless a longer key names a part of it: "a" and "a/b"
// are a/b. This is so wherever keys choose entries: in SelectPresent, SplitKeys, Separate,
// UpdateInPlace and ApplyOptions.Keys. (So it is in Python's select.)
func (td *TensorDict) Select(keys ...nestedkey.Key) (*TensorDict, error) {
	for _, key := range keys {
		if _, _, _, err := td.find(key); err != nil {
			return nil, failedKey("select", key, err)
		}
	}
	return td.selected(choose(keys)), nil
}

// SelectPresent is [TensorDict.Select] for keys that td may lack. A key that td lacks still names a
// part of the dictionary around it: of "a" and "a/x", without an x, the result is an empty a, as in
// Python.
func (td *TensorDict) SelectPresent(keys ...nestedkey.Key) *TensorDict {
	return td.selected(choose(keys))
}

func (td *TensorDict) selected(chosen choice) *TensorDict {
	out := td.emptied()
	for name, v := range td.entries.all() {
		whole, inner := chosen.of(name)
		d, isDict := v.(*TensorDict)
		switch {
		case isDict && len(inner) > 0:
			out.entries.put(name, d.selected(choose(inner)))
		case whole:
			out.entries.put(name, shallow(v))
		}
	}
	return out
}

// narrowed returns each of keys once, without the keys of dictionaries of which a longer key names
// a part.
func narrowed(keys []nestedkey.Key) (out []nestedkey.Key) {
	skip := make(map[nestedkey.Key]bool, len(keys))
	for _, key := range keys {
		for outer, ok := key.Parent(); ok && !skip[outer]; outer, ok = outer.Parent() {
			skip[outer] = true
		}
	}
	for _, key := range keys {
		if !skip[key] {
			skip[key] = true
			out = append(out, key)
		}
	}
	return out
}

// A choice groups keys by their first part. whole means that a key ends with that part; inner has
// the remaining parts of the longer keys.
type choice map[nestedkey.Key]*struct {
	whole bool
	inner []nestedkey.Key
}

func choose(keys []nestedkey.Key) choice {
	c := make(choice, len(keys))
	for _, key := range keys {
		first, rest, nested := key.Cut()
		if c[first] == nil {
			c[first] = &struct {
				whole bool
				inner []nestedkey.Key
			}{}
		}
		if nested {
			c[first].inner = append(c[first].inner, rest)
		} else {
			c[first].whole = true
		}
	}
	return c
}

// of reports whether name, which has one part, is one of the keys, and returns the remaining parts
// of the keys that continue below name.
func (c choice) of(name nestedkey.Key) (whole bool, inner []nestedkey.Key) {
	if found := c[name]; found != nil {
		return found.whole, found.inner
	}
	return false, nil
}

// Exclude returns a dictionary without the entries under the given keys: the key of a dictionary
// drops all of it, also beside a longer key. Keys that td lacks are ignored. A dictionary that
// becomes empty stays. Leaves are shared.
func (td *TensorDict) Exclude(keys ...nestedkey.Key) *TensorDict {
	out, chosen := td.emptied(), choose(keys)
	for name, v := range td.entries.all() {
		whole, inner := chosen.of(name)
		d, isDict := v.(*TensorDict)
		switch {
		case whole:
		case isDict:
			out.entries.put(name, d.Exclude(inner...))
		default:
			out.entries.put(name, v)
		}
	}
	return out
}

// FlattenKeys returns a dictionary with every leaf of td under a key of one part, which joins the
// parts of its key with sep. Empty dictionaries are left out. Leaves are shared. FlattenKeys
// returns [ErrExists] if two leaves get the same key, and nestedkey.ErrKey if sep is not UTF-8.
func (td *TensorDict) FlattenKeys(sep string) (*TensorDict, error) {
	if err := nestedkey.Of(sep).Check(); err != nil {
		return nil, failed("flatten keys", fmt.Errorf("separator: %w", err))
	}
	n := td.countLeaves()
	flat := flattened{make([]nestedkey.Key, 0, n), make([]Value, 0, n)}
	flat.add(td, "", sep)
	entries, first, second := storeOf(flat.names, flat.values)
	if first != second {
		var keys []nestedkey.Key
		for key := range td.Leaves() {
			keys = append(keys, key)
		}
		err := fmt.Errorf("%w: %q has the same flat key", ErrExists, string(keys[first]))
		return nil, failedKey("flatten keys", keys[second], err)
	}
	return &TensorDict{batch: td.batch, entries: entries, header: td.header}, nil
}

// flattened lists leaves with their flat names, which need not be distinct.
type flattened struct {
	names  []nestedkey.Key
	values []Value
}

// add appends the leaves of td. Their names begin with prefix.
func (f *flattened) add(td *TensorDict, prefix, sep string) {
	for name, v := range td.entries.all() {
		text := prefix + name.Name()
		if d, ok := v.(*TensorDict); ok {
			f.add(d, text+sep, sep)
			continue
		}
		f.names, f.values = append(f.names, nestedkey.Of(text)), append(f.values, v)
	}
}

// UnflattenKeys is the reverse of [TensorDict.FlattenKeys], except that empty dictionaries and
// batch shapes longer than td's are lost. It cuts the key of each entry of td at every sep, and the
// pieces become the parts of a new key. Entries of nested dictionaries keep their keys. If a
// dictionary gets the key of another one, their entries are merged. Leaves are shared.
//
// UnflattenKeys returns [ErrExists] if two entries get the same key, [ErrNotDict] if a key leads
// through a leaf, shapeops.ErrShape if a value does not begin with the batch shape of its new
// dictionary, and nestedkey.ErrKey if sep is empty.
func (td *TensorDict) UnflattenKeys(sep string) (*TensorDict, error) {
	if sep == "" {
		return nil, failed("unflatten keys", fmt.Errorf("%w: got no separator", nestedkey.ErrKey))
	}
	out := td.emptied()
	for name, v := range td.entries.all() {
		parts := strings.Split(name.Name(), sep)
		key := nestedkey.Of(parts[0], parts[1:]...)
		if err := out.unflatten(key, v); err != nil {
			return nil, failedKey("unflatten keys", name, err)
		}
	}
	return out, nil
}

// unflatten sets v under key. If there is a dictionary under key and v is one too, it merges them.
// Any other value under key is an error.
func (td *TensorDict) unflatten(key nestedkey.Key, v Value) error {
	d, isDict := v.(*TensorDict)
	if !td.Has(key) {
		p, err := td.place(key, shallow(v))
		if err == nil {
			p.set()
		}
		return err
	}
	old, err := td.Get(key)
	if err != nil {
		return err
	}
	into, alsoDict := old.(*TensorDict)
	if !isDict || !alsoDict {
		return fmt.Errorf("%w: %q is %s already, cannot merge %s with it", ErrExists, string(key), describe(old), describe(v))
	}
	for name, v := range d.entries.all() {
		if err := into.unflatten(name, v); err != nil {
			return fmt.Errorf("in %q: %w", string(key), err)
		}
	}
	return nil
}
