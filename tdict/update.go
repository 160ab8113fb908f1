package tdict

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Update sets every entry of other in td. Where both have a dictionary under a key, that of td is
// updated in turn; leaves are shared, not copied, and dictionaries that td lacks are new. It
// returns shapeops.ErrShape if the batch shapes differ, and the errors of [TensorDict.Set].
func (td *TensorDict) Update(other *TensorDict) error { return failed("update", td.update(other)) }

func (td *TensorDict) update(other *TensorDict) error {
	if err := td.checkLike(other); err != nil {
		return err
	}
	placements, err := td.merge(other, 0, nil)
	if err != nil {
		return err
	}
	for _, p := range placements {
		p.set()
	}
	return nil
}

// checkLike returns an error unless other is a dictionary with td's batch shape.
func (td *TensorDict) checkLike(other *TensorDict) error {
	if other == nil {
		return errNil
	}
	return other.batch.CheckEqual(td.batch)
}

// merge appends what it takes to set the entries of other in td, which is nested so deep.
func (td *TensorDict) merge(other *TensorDict, depth int, out []placement) (_ []placement, err error) {
	for name, v := range other.entries.all() {
		mine := td.innerDict(name)
		theirs, ok := asDict(v)
		if mine != nil && ok {
			out, err = mine.merge(theirs, depth+1, out)
		} else if err = checkDepth(depth, v); err == nil {
			var p placement
			p, err = td.placeHere(name, shallow(v), nil)
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
	v, _ := td.entries.get(name)
	d, _ := asDict(v)
	return d
}

// chosen returns what td has under the given keys, for reading: dictionaries that are chosen whole
// are td's own.
func (td *TensorDict) chosen(keys []nestedkey.Key) (*TensorDict, error) {
	if td == nil {
		return nil, errNil
	}
	for _, key := range keys {
		if _, _, _, err := td.find(key); err != nil {
			return nil, &KeyError{"choose", key, fmt.Errorf("source: %w", err)}
		}
	}
	return td.part(keys), nil
}

// part is chosen for keys that td has.
func (td *TensorDict) part(keys []nestedkey.Key) *TensorDict {
	out, chosen := td.emptied(), choose(keys)
	for name, v := range td.entries.all() {
		whole, inner := chosen.of(name)
		d, isDict := asDict(v)
		switch {
		case whole:
			out.entries.put(name, v)
		case isDict && len(inner) > 0:
			out.entries.put(name, d.part(inner))
		}
	}
	return out
}

// UpdateInPlace writes the elements of other's leaves to the leaves that td has under the same
// keys: of all leaves, or of those under the given keys, where a key of a dictionary chooses all of
// it. What shares td's memory sees them, and the structure of td, which may be locked, stays as it
// is. Leaves that are no tensors are written as [TensorDict.SetIndex] does.
//
// UpdateInPlace returns shapeops.ErrShape if the batch shapes or those of two leaves differ,
// [ErrMissing] if td lacks a key that other has, or other one that is given, [ErrKind] if a value
// is of another kind than the one that it is written to, and the errors of tensor.Transfer; on an
// error nothing has changed.
func (td *TensorDict) UpdateInPlace(other *TensorDict, keys ...nestedkey.Key) error {
	return failed("update in place", td.updateInPlace(other, keys))
}

func (td *TensorDict) updateInPlace(other *TensorDict, keys []nestedkey.Key) (err error) {
	if len(keys) > 0 {
		if other, err = other.chosen(keys); err != nil {
			return err
		}
	}
	if err := td.checkLike(other); err != nil {
		return err
	}
	p, err := plan.Index(td.batch)
	if err != nil {
		return err
	}
	var tr tensor.Transfer
	if err := td.Ops().AddWrite(&tr, other, plan.NewPass(p)); err != nil {
		return err
	}
	return tr.Run()
}

// MergeOptions say how [Merge] settles which value a key gets. The zero value is the default.
type MergeOptions struct {
	// Choose, if not nil, returns the value for a key, in full, that several dictionaries have,
	// unless all of them have a dictionary there. vs are their values, in order, which it must not
	// change. A dictionary that it returns is copied, leaves are shared. By default the value is
	// the first.
	Choose func(key nestedkey.Key, vs []Value) (Value, error)
}

// Merge returns a dictionary with all entries of several, in the order of their first appearance.
// Dictionaries under one key are merged in turn; of other values under one key the first stays,
// unless opt.Choose says otherwise. Leaves are shared; the structure is new and not locked.
//
// Merge returns [ErrKind] if there is no dictionary or one is nil, shapeops.ErrShape if the batch
// shapes differ, here or of dictionaries under one key, the errors of opt.Choose, and those of
// [TensorDict.Set] for what it returns.
func Merge(tds []*TensorDict, opt MergeOptions) (*TensorDict, error) {
	if len(tds) == 0 {
		return nil, failed("merge", fmt.Errorf("%w: got no dictionary", ErrKind))
	}
	for i, td := range tds {
		if err := tds[0].checkLike(td); err != nil {
			return nil, failed("merge", fmt.Errorf("dictionary %d: %w", i, err))
		}
	}
	return opt.merge(tds, "", 0)
}

// merge is Merge of dictionaries with one batch shape, which are nested so deep. path is their key,
// with a slash after it unless it is empty.
func (opt MergeOptions) merge(tds []*TensorDict, path nestedkey.Key, depth int) (*TensorDict, error) {
	out := tds[0].emptied()
	names, all := byName(tds)
	merged := make([]Value, len(all))
	for i, vs := range all {
		if len(vs) == 1 {
			v, err := out.under(shallow(vs[0]))
			if err != nil {
				return nil, &KeyError{"merge", path + names[i], err}
			}
			merged[i] = v
			continue
		}
		v, err := opt.settle(path+names[i], vs, out.batch, depth)
		if err != nil {
			return nil, err
		}
		merged[i] = v
	}
	out.entries, _, _ = storeOf(names, merged)
	return out, nil
}

// byName returns the names that dictionaries have, by their first appearance, and the values that
// they have under each.
func byName(tds []*TensorDict) (names []nestedkey.Key, values [][]Value) {
	at := map[nestedkey.Key]int{}
	for _, td := range tds {
		for name, v := range td.entries.all() {
			i, ok := at[name]
			if !ok {
				i = len(names)
				at[name] = i
				names, values = append(names, name), append(values, nil)
			}
			values[i] = append(values[i], v)
		}
	}
	return names, values
}

// settle returns the value for a key, in full, under which dictionaries with the given batch shape,
// which are nested so deep, have several.
func (opt MergeOptions) settle(key nestedkey.Key, vs []Value, batch shapeops.Shape, depth int) (Value, error) {
	if ds, ok := asDicts(vs); ok {
		for _, d := range ds {
			if err := ds[0].checkLike(d); err != nil {
				return nil, &KeyError{"merge", key, err}
			}
		}
		return some(opt.merge(ds, key+"/", depth+1))
	}
	if opt.Choose == nil {
		return shallow(vs[0]), nil
	}
	v, err := opt.Choose(key, vs)
	if err != nil {
		return nil, &KeyError{"merge", key, err}
	}
	if v, err = fitAt(depth, v, batch); err != nil {
		return nil, within("merge", key, err)
	}
	return v, nil
}

// asDicts returns values as dictionaries, or false if one is a leaf.
func asDicts(vs []Value) ([]*TensorDict, bool) {
	ds := make([]*TensorDict, len(vs))
	for i, v := range vs {
		var ok bool
		if ds[i], ok = asDict(v); !ok {
			return nil, false
		}
	}
	return ds, true
}

// fitAt returns any value, with a structure of its own, as an entry of a dictionary with the given
// batch shape, which is nested so deep.
func fitAt(depth int, v Value, batch shapeops.Shape) (Value, error) {
	if err := checkValue(v); err != nil {
		return nil, err
	}
	if err := checkDepth(depth, v); err != nil {
		return nil, err
	}
	return opsOf(v).fitTo(shallow(v), batch)
}
