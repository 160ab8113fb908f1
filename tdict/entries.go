package tdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tensor"
)

// Get returns the value under key. It returns [ErrMissing] if td has no such key, with the keys
// that it has and the one with the most similar spelling, and [ErrNotDict] if key leads through a
// leaf.
func (td *TensorDict) Get(key nestedkey.Key) (Value, error) {
	_, _, v, err := td.find(key)
	if err != nil {
		return nil, failedKey("get", key, err)
	}
	return v, nil
}

// find returns the value under key, the dictionary that holds it, and its name in that dictionary.
func (td *TensorDict) find(key nestedkey.Key) (d *TensorDict, name nestedkey.Key, v Value, err error) {
	d = td
	whole := key
	for {
		first, rest, nested := key.Cut()
		v, ok := d.entries.get(first)
		if !ok {
			return nil, "", nil, d.missingIn(whole, key)
		}
		if !nested {
			return d, first, v, nil
		}
		inner, ok := v.(*TensorDict)
		if !ok {
			err := notDict(string(first), v)
			if name := joinedName(key, d.entries.has); name != "" {
				outer := strings.TrimSuffix(string(whole), string(key))
				err = fmt.Errorf("%w; did you mean %s?", err, suggested(nestedkey.Key(outer)+name))
			}
			return nil, "", nil, err
		}
		d, key = inner, rest
	}
}

// Get returns the value under key of td, which must be a V:
//
//	x, err := tdict.Get[*tensor.Tensor](td, "obs/pixels")
//
// It returns the errors of [TensorDict.Get], and [ErrKind] if the value is not a V.
func Get[V Value](td Dictionary, key nestedkey.Key) (V, error) {
	var none V
	d := Of(td)
	if d == nil {
		return none, failedKey("get", key, errNil)
	}
	v, err := d.Get(key)
	if err != nil {
		return none, err
	}
	typed, ok := v.(V)
	_, leaf := any((*V)(nil)).(*Leaf)
	if _, isDict := v.(*TensorDict); !ok || leaf && isDict {
		want := strings.TrimPrefix(fmt.Sprintf("%T", (*V)(nil)), "*")
		return none, failedKey("get", key, fmt.Errorf("%w: got %s, want %s", ErrKind, describe(v), want))
	}
	return typed, nil
}

// Slice is tensor.Slice of the tensor under key: its elements, row-major, for reading. It returns
// the errors of [Get], and tensor.ErrDType if the element type of the tensor is not T.
func Slice[T tensor.Elem](td Dictionary, key nestedkey.Key) ([]T, error) {
	t, err := Get[*tensor.Tensor](td, key)
	if err != nil {
		return nil, failed("slice", err)
	}
	s, err := tensor.Slice[T](t)
	return s, failedKey("slice", key, err)
}

// Item returns one element of the tensor under key. The position has one number for each batch dim
// and each dim after it; negative numbers count from the end. Without a position, Item returns the
// only element. For values of [Data] use [Get] and [Data.At].
//
//	reward, err := tdict.Item[float32](td, "next/reward", -1)
//
// Item returns the errors of [Get], tensor.ErrDType if the element type of the tensor is not T,
// shapeops.ErrIndex if the position is out of range, and shapeops.ErrShape if no position is given
// and the tensor does not have exactly one element.
func Item[T tensor.Elem](td Dictionary, key nestedkey.Key, pos ...int) (T, error) {
	var none T
	t, err := Get[*tensor.Tensor](td, key)
	if err != nil {
		return none, failed("item", err)
	}
	v, err := tensor.Item[T](t, pos...)
	return v, failedKey("item", key, err)
}

// Tensor returns the tensor under key: it is [Get] of a *tensor.Tensor.
func (td *TensorDict) Tensor(key nestedkey.Key) (*tensor.Tensor, error) {
	return Get[*tensor.Tensor](td, key)
}

// Dict returns the dictionary under key itself, not a copy: setting an entry in it changes td. It
// returns the errors of [TensorDict.Get], and [ErrNotDict] if the value is a leaf.
func (td *TensorDict) Dict(key nestedkey.Key) (*TensorDict, error) {
	v, err := td.Get(key)
	if err != nil {
		return nil, err
	}
	d, ok := v.(*TensorDict)
	if !ok {
		return nil, failedKey("get", key, notDict(string(key), v))
	}
	return d, nil
}

// Has reports whether there is a value under key.
func (td *TensorDict) Has(key nestedkey.Key) bool {
	d := td
	for {
		first, rest, nested := key.Cut()
		v, ok := d.entries.get(first)
		if !ok || !nested {
			return ok
		}
		if d, ok = v.(*TensorDict); !ok {
			return false
		}
		key = rest
	}
}

// Set puts v under key and replaces any value there. It creates the dictionaries on the way that
// are missing, with the batch shape of the dictionary around them.
//
// A leaf is shared, not copied. A dictionary is shared too, unless its batch shape is shorter than
// the batch shape of the dictionary around it, or that dictionary has names of batch dims that v
// lacks: then Set sets a copy with the longer batch shape and these names, and the same leaves.
// Data and unbatched tensors with a shorter batch shape are repeated to the longer one.
//
// A "/" in key separates its parts: Set("km/h", v) sets h in a dictionary km. For a name that has a
// "/" itself, the key is nestedkey.Of("km/h").
//
// Set returns
//
//   - nestedkey.ErrKey if key is invalid,
//   - [ErrKind] if v is nil, zero or not of a type that [Value] lists,
//   - [ErrNotDict] if key leads through a leaf,
//   - [ErrLocked] if the dictionary that would get the entry is locked,
//   - shapeops.ErrShape if v does not begin with the batch shape,
//   - [ErrName] if a copy would have two dims of one name,
//   - [ErrCycle] if v contains the dictionary that would get the entry,
//   - [ErrDepth] if dictionaries would be nested more than 256 deep below td.
func (td *TensorDict) Set(key nestedkey.Key, v Value) error {
	p, err := td.place(key, v)
	if err != nil {
		return failedKey("set", key, err)
	}
	p.set()
	return nil
}

// place finds the dictionary that would get v, and checks that it can.
func (td *TensorDict) place(key nestedkey.Key, v Value) (placement, error) {
	if err := key.Check(); err != nil {
		return placement{}, err
	}
	if err := checkValue(v); err != nil {
		return placement{}, err
	}
	if _, isDict := v.(*TensorDict); isDict || len(key) > MaxDepth {
		if err := checkDepth(strings.Count(string(key), "/"), v); err != nil {
			return placement{}, err
		}
	}
	d, whole := td, key
	for {
		first, rest, nested := key.Cut()
		there, ok := d.entries.get(first)
		if !ok || !nested {
			return d.placeHere(key, v)
		}
		inner, ok := there.(*TensorDict)
		if !ok {
			name := nestedkey.Of(strings.Join(slices.Collect(key.Parts()), "/"))
			outer := nestedkey.Key(strings.TrimSuffix(string(whole), string(key)))
			return placement{}, fmt.Errorf(`%w: for a name that contains "/", use %s`, notDict(string(first), there), suggested(outer+name))
		}
		d, key = inner, rest
	}
}

// placeHere is place for an entry of td: td has no entry under the first part of key, unless that
// is all of key.
func (td *TensorDict) placeHere(key nestedkey.Key, v Value) (placement, error) {
	if err := td.checkUnlocked(); err != nil {
		return placement{}, err
	}
	if d, ok := v.(*TensorDict); ok && (d == td || d.holdsDict(td, map[*TensorDict]bool{})) {
		return placement{}, ErrCycle
	}
	v, err := opsOf(v).fitTo(v, td.batch)
	if err == nil {
		v, err = td.inheritNames(v)
	}
	if inner, ok := err.(*KeyError); ok {
		err = fmt.Errorf("its entry %q: %w", string(inner.Key), inner.Err)
	}
	return placement{td, key, v}, err
}

// checkDepth returns ErrDepth if v would be nested too deep with above dictionaries around it.
func checkDepth(above int, v Value) error {
	d, ok := v.(*TensorDict)
	if !ok {
		above--
	}
	if above >= MaxDepth {
		return errDepth
	}
	if !ok {
		return nil
	}
	return d.checkDepth(above+1, map[*TensorDict]int{})
}

// checkDepth looks below td, which is at the given depth. seen holds the depth plus one at which a
// dictionary was seen; it is not entered again at the same or a smaller depth.
func (td *TensorDict) checkDepth(depth int, seen map[*TensorDict]int) error {
	if depth > MaxDepth {
		return errDepth
	}
	for _, v := range td.entries.all() {
		d, ok := v.(*TensorDict)
		if !ok || seen[d] > depth {
			continue
		}
		seen[d] = depth + 1
		if err := d.checkDepth(depth+1, seen); err != nil {
			return err
		}
	}
	return nil
}

func (td *TensorDict) holdsDict(other *TensorDict, seen map[*TensorDict]bool) bool {
	for _, v := range td.entries.all() {
		d, ok := v.(*TensorDict)
		if !ok || seen[d] {
			continue
		}
		seen[d] = true
		if d == other || d.holdsDict(other, seen) {
			return true
		}
	}
	return false
}

// Delete removes the entry under key. A dictionary that becomes empty stays. Delete returns
// [ErrMissing] if td has no such key, [ErrNotDict] if key leads through a leaf, and
// [ErrLocked] if the dictionary that has the entry is locked.
func (td *TensorDict) Delete(key nestedkey.Key) error {
	_, err := td.remove("delete", key)
	return err
}

// Pop removes the entry under key and returns its value. It returns the errors of Delete.
func (td *TensorDict) Pop(key nestedkey.Key) (Value, error) { return td.remove("pop", key) }

func (td *TensorDict) remove(op string, key nestedkey.Key) (Value, error) {
	d, name, v, err := td.find(key)
	if err == nil {
		err = d.checkUnlocked()
	}
	if err != nil {
		return nil, failedKey(op, key, err)
	}
	d.entries.drop(name)
	return v, nil
}

// Rename moves a value from one key to another, and creates the dictionaries that the new key
// needs. An entry that stays in its dictionary keeps its place in the order.
//
// Rename returns [ErrMissing] if td lacks the key from, [ErrNotDict] if from leads through a leaf,
// [ErrExists] if td has the key to already, [ErrCycle] if to lies below from, and the errors of
// [TensorDict.Set].
func (td *TensorDict) Rename(from, to nestedkey.Key) error {
	d, name, v, err := td.find(from)
	if err != nil || from == to {
		return failedKey("rename", from, err)
	}
	p, err := td.place(to, v)
	switch {
	case to.HasPrefix(from):
		err = fmt.Errorf("%w: %q lies below it", ErrCycle, string(to))
	case d.Locked():
		err = d.checkUnlocked()
	case td.Has(to):
		err = fmt.Errorf("%w: %q: Delete it first", ErrExists, string(to))
	case err != nil:
		err = fmt.Errorf("to %q: %w", string(to), err)
	}
	if err != nil {
		return failedKey("rename", from, err)
	}
	if _, _, nested := p.key.Cut(); !nested && p.in == d {
		d.entries.rename(name, p.key)
		return nil
	}
	d.entries.drop(name)
	p.set()
	return nil
}
