package tdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/nestedkey"
)

// Select returns a dictionary with only the entries under the given keys, in td's order, and the dictionaries around them.
// A key of a dictionary selects all of it, unless a longer key says which part. Leaves are shared. Select returns
// [ErrMissing], and [ErrNotDict] if a key leads through a leaf.
func (td *TensorDict) Select(keys ...nestedkey.Key) (*TensorDict, error) {
	for _, key := range keys {
		if _, _, err := td.find(key); err != nil {
			return nil, &KeyError{"select", key, err}
		}
	}
	return td.selected(keys), nil
}

// SelectPresent is [TensorDict.Select] that passes over keys that are missing.
func (td *TensorDict) SelectPresent(keys ...nestedkey.Key) *TensorDict { return td.selected(keys) }

func (td *TensorDict) selected(keys []nestedkey.Key) *TensorDict {
	out := New(td.batch...)
	for i, name := range td.table.list() {
		whole, inner := below(keys, name)
		d, isDict := asDict(td.values[i])
		switch {
		case isDict && len(inner) > 0:
			out.put(name, d.selected(inner))
		case whole:
			out.put(name, shallow(td.values[i]))
		}
	}
	return out
}

// below reports whether name, of one part, is among keys, and returns what is left of the keys that go on below it.
func below(keys []nestedkey.Key, name nestedkey.Key) (whole bool, inner []nestedkey.Key) {
	for _, key := range keys {
		first, rest, nested := key.Cut()
		switch {
		case first != name:
		case nested:
			inner = append(inner, rest)
		default:
			whole = true
		}
	}
	return whole, inner
}

// Exclude returns a dictionary without the entries under the given keys; keys that are missing are passed over. A dictionary
// that becomes empty stays. Leaves are shared.
func (td *TensorDict) Exclude(keys ...nestedkey.Key) *TensorDict {
	out := New(td.batch...)
	for i, name := range td.table.list() {
		whole, inner := below(keys, name)
		d, isDict := asDict(td.values[i])
		switch {
		case whole:
		case isDict:
			out.put(name, d.Exclude(inner...))
		default:
			out.put(name, td.values[i])
		}
	}
	return out
}

// FlattenKeys returns a dictionary with every leaf of td under a key of one part: the parts of its key with sep between them.
// Empty dictionaries vanish. Leaves are shared. FlattenKeys returns [ErrExists] if two keys become one, and
// nestedkey.ErrKey if sep is not UTF-8.
func (td *TensorDict) FlattenKeys(sep string) (*TensorDict, error) {
	if err := nestedkey.Of(sep).Check(); err != nil {
		return nil, failed("flatten keys", fmt.Errorf("separator: %w", err))
	}
	n := td.countLeaves()
	flat := table{names: make([]nestedkey.Key, 0, n)}
	out := &TensorDict{batch: td.batch, table: &flat, values: make([]Value, 0, n)}
	td.flattenInto(out, "", sep)
	flat.index()
	for i, name := range flat.names {
		if first := flat.find(name); first != i {
			return nil, td.collision(min(i, first), max(i, first))
		}
	}
	return out, nil
}

// collision is the error of two leaves, counted in order, that FlattenKeys gives one key.
func (td *TensorDict) collision(first, second int) error {
	keys := slices.Collect(td.Keys(KeyOptions{Nested: true, LeavesOnly: true}))
	return &KeyError{"flatten keys", keys[second], fmt.Errorf("%w: %q has the same flat key", ErrExists, string(keys[first]))}
}

func (td *TensorDict) countLeaves() int {
	n := 0
	for _, v := range td.values {
		if d, ok := asDict(v); ok {
			n += d.countLeaves()
			continue
		}
		n++
	}
	return n
}

// flattenInto appends the leaves of td, whether their names are new or not.
func (td *TensorDict) flattenInto(out *TensorDict, prefix, sep string) {
	for i, name := range td.table.list() {
		text := prefix + name.Name()
		if d, ok := asDict(td.values[i]); ok {
			d.flattenInto(out, text+sep, sep)
			continue
		}
		out.table.names = append(out.table.names, nestedkey.Of(text))
		out.values = append(out.values, td.values[i])
	}
}

// UnflattenKeys undoes [TensorDict.FlattenKeys], but for empty dictionaries and batch shapes longer than td's: the key of
// each entry of td, but not of those in nested dictionaries, is cut at every sep, and the pieces are the parts of its new
// key. What lands in an existing dictionary joins it. Leaves are shared. UnflattenKeys returns [ErrExists] if two entries
// land under one key, [ErrNotDict] if one lands below a leaf, shapeops.ErrShape if it does not fit the dictionary it lands
// in, and nestedkey.ErrKey if sep is empty.
func (td *TensorDict) UnflattenKeys(sep string) (*TensorDict, error) {
	if sep == "" {
		return nil, failed("unflatten keys", fmt.Errorf("%w: got no separator", nestedkey.ErrKey))
	}
	out := New(td.batch...)
	for i, name := range td.table.list() {
		parts := strings.Split(name.Name(), sep)
		key := nestedkey.Of(parts[0], parts[1:]...)
		if err := out.unflatten(key, td.values[i]); err != nil {
			return nil, &KeyError{"unflatten keys", name, err}
		}
	}
	return out, nil
}

// unflatten sets v under key, where nothing may be but a dictionary that v, a dictionary too, is to join.
func (td *TensorDict) unflatten(key nestedkey.Key, v Value) error {
	d, isDict := asDict(v)
	old, err := td.Get(key)
	if err != nil {
		p, err := td.place(key, shallow(v))
		if err == nil {
			p.set()
		}
		return err
	}
	into, alsoDict := asDict(old)
	if !isDict || !alsoDict {
		return fmt.Errorf("%w: %q is %s", ErrExists, string(key), describe(old))
	}
	for i, name := range d.table.list() {
		if err := into.unflatten(name, d.values[i]); err != nil {
			return err
		}
	}
	return nil
}
