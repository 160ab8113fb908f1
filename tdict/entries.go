package tdict

import (
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tensor"
)

// Get returns the value under key. It returns [ErrMissing] if there is none, and [ErrNotDict] if key leads through a
// leaf.
func (td *TensorDict) Get(key nestedkey.Key) (Value, error) {
	d, i, err := td.find(key)
	if err != nil {
		return nil, &KeyError{"get", key, err}
	}
	return d.values[i], nil
}

// find returns the dictionary that holds the entry named by key, and its position there.
func (td *TensorDict) find(key nestedkey.Key) (d *TensorDict, i int, err error) {
	d = td
	for {
		first, rest, nested := key.Cut()
		if i = d.table.find(first); i < 0 {
			return nil, 0, d.missing()
		}
		if !nested {
			return d, i, nil
		}
		inner, ok := asDict(d.values[i])
		if !ok {
			return nil, 0, notDict(first, d.values[i])
		}
		d, key = inner, rest
	}
}

// Tensor returns the tensor under key. Its errors are those of [TensorDict.Get], and [ErrKind] if the value is no
// tensor.
func (td *TensorDict) Tensor(key nestedkey.Key) (*tensor.Tensor, error) {
	v, err := td.Get(key)
	if err != nil {
		return nil, err
	}
	t, ok := asTensor(v)
	if !ok {
		return nil, &KeyError{"get", key, fmt.Errorf("%w: got %s, want a tensor", ErrKind, describe(v))}
	}
	return t, nil
}

// Dict returns the dictionary under key itself: what is set in it is set in td. Its errors are those of
// [TensorDict.Get], and [ErrNotDict] if the value is a leaf.
func (td *TensorDict) Dict(key nestedkey.Key) (*TensorDict, error) {
	v, err := td.Get(key)
	if err != nil {
		return nil, err
	}
	d, ok := asDict(v)
	if !ok {
		return nil, &KeyError{"get", key, notDict(key, v)}
	}
	return d, nil
}

// Has reports whether there is a value under key.
func (td *TensorDict) Has(key nestedkey.Key) bool {
	d := td
	for {
		first, rest, nested := key.Cut()
		i := d.table.find(first)
		if i < 0 || !nested {
			return i >= 0
		}
		var ok bool
		if d, ok = asDict(d.values[i]); !ok {
			return false
		}
		key = rest
	}
}

// Set puts v under key, in the place of what is there. Dictionaries that key needs and that are missing are created,
// with the batch shape of the one around them. A tensor is shared, not copied. So is a dictionary, unless its batch shape
// is shorter than the one it must begin with: then a copy with that batch shape and the same leaves is set.
//
// Set returns nestedkey.ErrKey, [ErrKind], [ErrNotDict] if key leads through a leaf, [ErrLocked], shapeops.ErrShape if
// v does not begin with the batch shape, and [ErrCycle] if v holds the dictionary that it would become an entry of.
func (td *TensorDict) Set(key nestedkey.Key, v Value) error {
	p, err := td.place(key, v)
	if err != nil {
		return &KeyError{"set", key, err}
	}
	p.set()
	return nil
}

// A placement is an entry that is known to fit and waits to be set.
type placement struct {
	in    *TensorDict
	key   nestedkey.Key // within in; its first part is missing if it has more
	value Value
}

// place works out where v goes, and checks that it may.
func (td *TensorDict) place(key nestedkey.Key, v Value) (placement, error) {
	if err := key.Check(); err != nil {
		return placement{}, err
	}
	if err := checkValue(v); err != nil {
		return placement{}, err
	}
	d := td
	for {
		first, rest, nested := key.Cut()
		i := d.table.find(first)
		if i < 0 || !nested {
			return d.placeHere(key, v)
		}
		inner, ok := asDict(d.values[i])
		if !ok {
			return placement{}, notDict(first, d.values[i])
		}
		d, key = inner, rest
	}
}

func (td *TensorDict) placeHere(key nestedkey.Key, v Value) (placement, error) {
	if td.Locked() {
		return placement{}, ErrLocked
	}
	if d, ok := asDict(v); ok && d.reaches(td) {
		return placement{}, ErrCycle
	}
	v, err := fit(v, td.batch)
	if inner, ok := err.(*KeyError); ok {
		err = fmt.Errorf("%q: %w", string(inner.Key), inner.Err)
	}
	return placement{td, key, v}, err
}

// reaches reports whether td is other or has it below it.
func (td *TensorDict) reaches(other *TensorDict) bool {
	if td == other {
		return true
	}
	for _, v := range td.values {
		if d, ok := asDict(v); ok && d.reaches(other) {
			return true
		}
	}
	return false
}

func (p placement) set() {
	d := p.in
	for {
		first, rest, nested := p.key.Cut()
		if !nested {
			d.put(first, p.value)
			return
		}
		inner := New(d.batch...)
		d.put(first, inner)
		d, p.key = inner, rest
	}
}

// Delete removes the entry under key. A dictionary that becomes empty stays. Delete returns [ErrMissing], [ErrNotDict]
// or [ErrLocked].
func (td *TensorDict) Delete(key nestedkey.Key) error {
	_, err := td.remove("delete", key)
	return err
}

// Pop removes the entry under key and returns its value. It returns [ErrMissing], [ErrNotDict] or [ErrLocked].
func (td *TensorDict) Pop(key nestedkey.Key) (Value, error) { return td.remove("pop", key) }

func (td *TensorDict) remove(op string, key nestedkey.Key) (Value, error) {
	d, i, err := td.find(key)
	if err == nil && d.Locked() {
		err = ErrLocked
	}
	if err != nil {
		return nil, &KeyError{op, key, err}
	}
	v := d.values[i]
	d.drop(i)
	return v, nil
}

// SetDefault returns the value under key, after setting it to v if there is none. Its errors are those of
// [TensorDict.Set].
func (td *TensorDict) SetDefault(key nestedkey.Key, v Value) (Value, error) {
	if old, err := td.Get(key); err == nil {
		return old, nil
	}
	if err := td.Set(key, v); err != nil {
		return nil, failed("set default", err)
	}
	return td.Get(key)
}

// Rename moves the value under one key to another, which must not exist, and creates the dictionaries that it needs. It
// returns [ErrExists], [ErrMissing], [ErrCycle] if to lies below from, and the errors of [TensorDict.Set]. Within one
// dictionary the entry keeps its place in the order.
func (td *TensorDict) Rename(from, to nestedkey.Key) error { return td.rename(from, to, false) }

// RenameOver is [TensorDict.Rename] that replaces what is under the second key, and takes its place in the order.
func (td *TensorDict) RenameOver(from, to nestedkey.Key) error { return td.rename(from, to, true) }

func (td *TensorDict) rename(from, to nestedkey.Key, over bool) error {
	d, i, err := td.find(from)
	if err != nil || from == to {
		return failedKey("rename", from, err)
	}
	p, err := td.place(to, d.values[i])
	switch {
	case to.HasPrefix(from):
		err = fmt.Errorf("%w: %q lies below it", ErrCycle, string(to))
	case d.Locked():
		err = ErrLocked
	case !over && td.Has(to):
		err = fmt.Errorf("%w: %q", ErrExists, string(to))
	case err != nil:
		err = fmt.Errorf("to %q: %w", string(to), err)
	}
	if err != nil {
		return &KeyError{"rename", from, err}
	}
	if _, _, nested := p.key.Cut(); !nested && p.in == d && !td.Has(to) {
		d.table = d.table.own()
		d.table.rename(i, p.key)
		return nil
	}
	d.drop(i)
	p.set()
	return nil
}

// failedKey makes a KeyError of an error, unless it is nil.
func failedKey(op string, key nestedkey.Key, err error) error {
	if err == nil {
		return nil
	}
	return &KeyError{op, key, err}
}

// Update sets every entry of other in td. Where both have a dictionary under a key, that of td is updated in turn; tensors
// are shared, not copied, and dictionaries that td lacks are new. It returns shapeops.ErrShape if the batch shapes
// differ, and the errors of [TensorDict.Set].
func (td *TensorDict) Update(other *TensorDict) error {
	if err := other.batch.CheckEqual(td.batch); err != nil {
		return failed("update", err)
	}
	placements, err := td.merge(other, nil)
	if err != nil {
		return failed("update", err)
	}
	for _, p := range placements {
		p.set()
	}
	return nil
}

// merge appends what it takes to set the entries of other in td.
func (td *TensorDict) merge(other *TensorDict, out []placement) (_ []placement, err error) {
	for i, name := range other.table.list() {
		mine := td.innerDict(name)
		theirs, ok := asDict(other.values[i])
		if mine != nil && ok {
			out, err = mine.merge(theirs, out)
		} else {
			var p placement
			p, err = td.placeHere(name, shallow(other.values[i]))
			out = append(out, p)
		}
		if err != nil {
			return nil, within("update", name, err)
		}
	}
	return out, nil
}

// innerDict returns the dictionary under a name of one part, or nil.
func (td *TensorDict) innerDict(name nestedkey.Key) *TensorDict {
	i := td.table.find(name)
	if i < 0 {
		return nil
	}
	d, _ := asDict(td.values[i])
	return d
}
