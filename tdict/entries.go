package tdict

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tensor"
)

// Get returns the value under key. It returns [ErrMissing], with the keys that there are instead
// and one that is spelled alike, if there is none, and [ErrNotDict] if key leads through a leaf.
func (td *TensorDict) Get(key nestedkey.Key) (Value, error) {
	_, _, v, err := td.find(key)
	if err != nil {
		return nil, &KeyError{"get", key, err}
	}
	return v, nil
}

// find returns the value under key, and the dictionary that holds it, with its name there.
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
		inner, ok := asDict(v)
		if !ok {
			return nil, "", nil, d.throughLeaf(whole, key, notDict(string(first), v))
		}
		d, key = inner, rest
	}
}

// Get returns the value under key of td, which must be a V:
//
//	x, err := tdict.Get[*tensor.Tensor](td, "obs/pixels")
//
// Its errors are those of [TensorDict.Get], and [ErrKind] if the value is of another kind.
func Get[V Value](td *TensorDict, key nestedkey.Key) (V, error) {
	var none V
	if td == nil {
		return none, &KeyError{"get", key, errNil}
	}
	v, err := td.Get(key)
	if err != nil {
		return none, err
	}
	typed, ok := v.(V)
	_, leaf := any((*V)(nil)).(*Leaf)
	if _, isDict := asDict(v); !ok || leaf && isDict {
		want := strings.TrimPrefix(fmt.Sprintf("%T", (*V)(nil)), "*")
		return none, &KeyError{"get", key, fmt.Errorf("%w: got %s, want %s", ErrKind, describe(v), want)}
	}
	return typed, nil
}

// Slice returns the elements of the tensor under key, row-major, for reading. They are the tensor's
// own if those lie so in Go memory, and a copy if they do not, or are mapped from a file; to change
// elements, use tensor.Write. Its errors are those of [Get], and tensor.ErrDType if the tensor does
// not hold T.
func Slice[T tensor.Elem](td *TensorDict, key nestedkey.Key) ([]T, error) {
	t, err := Get[*tensor.Tensor](td, key)
	if err != nil {
		return nil, failed("slice", err)
	}
	if t.Lender() != nil {
		var s []T
		err := tensor.Read(t, func(own []T) { s = slices.Clone(own) })
		return s, failedKey("slice", key, err)
	}
	s, err := tensor.Of[T](t)
	if errors.Is(err, tensor.ErrLayout) { // strided, or not aligned for T
		if t, err = t.Clone(); err == nil {
			s, err = tensor.Of[T](t)
		}
	}
	return s, failedKey("slice", key, err)
}

// Item returns one element of the tensor under key: that at a position, one number for each batch
// dim and each dim after it, negative ones from the end; without a position, the only one. A value
// of [Data] is that of [Get] and [Data.At].
//
//	reward, err := tdict.Item[float32](td, "next/reward", -1)
//
// Its errors are those of [Get], tensor.ErrDType if the tensor does not hold T, shapeops.ErrIndex
// if there is no such position, and shapeops.ErrShape if there is no position and the tensor has
// more elements than one or none.
func Item[T tensor.Elem](td *TensorDict, key nestedkey.Key, pos ...int) (T, error) {
	var none T
	t, err := Get[*tensor.Tensor](td, key)
	if err != nil {
		return none, failed("item", err)
	}
	v, err := tensor.Item[T](t, pos...)
	return v, failedKey("item", key, err)
}

// Tensor returns the tensor under key: it is [Get] of one.
func (td *TensorDict) Tensor(key nestedkey.Key) (*tensor.Tensor, error) {
	return Get[*tensor.Tensor](td, key)
}

// Dict returns the dictionary under key itself: what is set in it is set in td. Its errors are
// those of [TensorDict.Get], and [ErrNotDict] if the value is a leaf.
func (td *TensorDict) Dict(key nestedkey.Key) (*TensorDict, error) {
	v, err := td.Get(key)
	if err != nil {
		return nil, err
	}
	d, ok := asDict(v)
	if !ok {
		return nil, &KeyError{"get", key, notDict(string(key), v)}
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
		if d, ok = asDict(v); !ok {
			return false
		}
		key = rest
	}
}

// Set puts v under key, in the place of what is there. Dictionaries that key needs and that are
// missing are created, with the batch shape of the one around them. A leaf is shared, not copied.
// So is a dictionary, unless its batch shape is shorter than the one it must begin with, or the one
// around it has names of dims that it lacks: then a copy with that batch shape, those names and the
// same leaves is set. Data and unbatched tensors are repeated in the same way.
//
// A "/" in key separates its parts: Set("km/h", v) sets h in a dictionary km. For a name that has a
// "/" itself, the key is nestedkey.Of("km/h").
//
// Set returns nestedkey.ErrKey, [ErrKind], [ErrNotDict] if key leads through a leaf, [ErrLocked],
// shapeops.ErrShape if v does not begin with the batch shape, [ErrCycle] if v holds the dictionary
// that it would become an entry of, and [ErrDepth] if dictionaries would be nested more than 256
// deep below td.
func (td *TensorDict) Set(key nestedkey.Key, v Value) error {
	p, err := td.place(key, v)
	if err != nil {
		return &KeyError{"set", key, err}
	}
	p.set()
	return nil
}

// place works out where v goes, and checks that it may.
func (td *TensorDict) place(key nestedkey.Key, v Value) (placement, error) {
	if err := key.Check(); err != nil {
		return placement{}, err
	}
	if err := checkValue(v); err != nil {
		return placement{}, err
	}
	if _, isDict := asDict(v); isDict || len(key) > MaxDepth {
		if err := checkDepth(strings.Count(string(key), "/"), v); err != nil {
			return placement{}, err
		}
	}
	d, whole := td, key
	for {
		first, rest, nested := key.Cut()
		there, ok := d.entries.get(first)
		if !ok || !nested {
			return d.placeHere(key, v, there)
		}
		inner, ok := asDict(there)
		if !ok {
			return placement{}, fmt.Errorf(`%w: for a name that contains "/", use %s`, notDict(string(first), there), spelled(whole, key))
		}
		d, key = inner, rest
	}
}

// placeHere is place in td, which has no entry under the first part of key, or was under all of it.
func (td *TensorDict) placeHere(key nestedkey.Key, v, was Value) (placement, error) {
	if td.Locked() {
		return placement{}, td.errLocked()
	}
	if d, ok := asDict(v); ok && d.reaches(td) {
		return placement{}, ErrCycle
	} else if ok && td.bond != nil {
		v = d.Copy()
	}
	v, err := opsOf(v).fitTo(v, td.batch)
	if err == nil {
		v, err = td.under(v)
	}
	if err == nil {
		err = td.checkPut(key, v, was)
	}
	if inner, ok := err.(*KeyError); ok {
		err = fmt.Errorf("%q: %w", string(inner.Key), inner.Err)
	}
	return placement{td, key, v}, err
}

// checkDepth returns ErrDepth if a value that has so many dictionaries above it would be nested too
// deep.
func checkDepth(above int, v Value) error {
	d, ok := asDict(v)
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

// checkDepth looks below td, which is at the given depth. A dictionary that was seen as deep is not
// entered again.
func (td *TensorDict) checkDepth(depth int, seen map[*TensorDict]int) error {
	if depth > MaxDepth {
		return errDepth
	}
	for _, v := range td.entries.all() {
		d, ok := asDict(v)
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

// reaches reports whether td is other or has it below it.
func (td *TensorDict) reaches(other *TensorDict) bool {
	return td == other || td.holdsDict(other, map[*TensorDict]bool{})
}

func (td *TensorDict) holdsDict(other *TensorDict, seen map[*TensorDict]bool) bool {
	for _, v := range td.entries.all() {
		d, ok := asDict(v)
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
// [ErrMissing], [ErrNotDict] or [ErrLocked].
func (td *TensorDict) Delete(key nestedkey.Key) error {
	_, err := td.remove("delete", key)
	return err
}

// Pop removes the entry under key and returns its value. It returns [ErrMissing], [ErrNotDict] or
// [ErrLocked].
func (td *TensorDict) Pop(key nestedkey.Key) (Value, error) { return td.remove("pop", key) }

func (td *TensorDict) remove(op string, key nestedkey.Key) (Value, error) {
	d, name, v, err := td.find(key)
	if err == nil {
		err = d.mayDrop(name)
	}
	if err != nil {
		return nil, &KeyError{op, key, err}
	}
	d.drop(name)
	return v, nil
}

// Rename moves the value under one key to another, which must not exist, and creates the
// dictionaries that it needs. It returns [ErrExists], [ErrMissing], [ErrCycle] if to lies below
// from, and the errors of [TensorDict.Set]. Within one dictionary the entry keeps its place in the
// order.
func (td *TensorDict) Rename(from, to nestedkey.Key) error {
	d, name, v, err := td.find(from)
	if err != nil || from == to {
		return failedKey("rename", from, err)
	}
	p, err := td.place(to, v)
	mayDrop := d.mayDrop(name)
	switch {
	case to.HasPrefix(from):
		err = fmt.Errorf("%w: %q lies below it", ErrCycle, string(to))
	case mayDrop != nil:
		err = mayDrop
	case td.Has(to):
		err = fmt.Errorf("%w: %q: Delete it first", ErrExists, string(to))
	case err != nil:
		err = fmt.Errorf("to %q: %w", string(to), err)
	}
	if err != nil {
		return &KeyError{"rename", from, err}
	}
	if _, _, nested := p.key.Cut(); !nested && p.in == d {
		d.entries.rename(name, p.key)
		if d.bond != nil {
			d.tie(p.key, nil, v)
		}
		return nil
	}
	d.drop(name)
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
