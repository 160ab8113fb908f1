package tdict

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Update sets every entry of other in td. If both have a dictionary under a key, the dictionary in
// td is updated in the same way. Leaves are shared, and dictionaries that td lacks are copied.
// Update returns shapeops.ErrShape if the batch shapes differ, and the errors of [TensorDict.Set].
// On an error nothing has changed.
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

// merge appends to out the placements that set the entries of other in td, which is nested depth
// deep.
func (td *TensorDict) merge(other *TensorDict, depth int, out []placement) (_ []placement, err error) {
	for name, v := range other.entries.all() {
		mine := td.innerDict(name)
		theirs, ok := v.(*TensorDict)
		if mine != nil && ok {
			out, err = mine.merge(theirs, depth+1, out)
		} else if err = checkDepth(depth, v); err == nil {
			var p placement
			p, err = td.placeHere(name, shallow(v))
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
	d, _ := v.(*TensorDict)
	return d
}

// UpdateInPlace writes the elements of other's leaves to the leaves that td has under the same
// keys. Without keys, it writes all leaves of other; otherwise only the leaves of Select(keys...).
// Tensors that share memory with td change too. The entries of td stay the same, so it may be
// locked. Leaves that are not tensors are written as by [TensorDict.SetIndex].
//
// UpdateInPlace returns shapeops.ErrShape if the batch shapes or the shapes of two leaves differ,
// [ErrMissing] if td lacks a key that other has or other lacks one of keys, [ErrKind] if a value is
// of another kind than the value that it is written to, and the errors of tensor.Transfer. On an
// error nothing has changed.
func (td *TensorDict) UpdateInPlace(other *TensorDict, keys ...nestedkey.Key) error {
	return failed("update in place", td.updateInPlace(other, keys))
}

func (td *TensorDict) updateInPlace(other *TensorDict, keys []nestedkey.Key) (err error) {
	if err := td.checkLike(other); err != nil {
		return err
	}
	if len(keys) > 0 {
		other, err = other.Select(keys...)
		if e, ok := err.(*KeyError); ok {
			return failedKey(e.Op, e.Key, fmt.Errorf("source: %w", e.Err))
		}
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

// MergeOptions are the options of [Merge]. The zero value is the default.
type MergeOptions struct {
	// Choose, if not nil, returns the value for a key that several dictionaries have, given the
	// full key and their values in order. It must not change vs. It is not called if all values are
	// dictionaries, which are merged. A dictionary that it returns is copied, a leaf is shared. By
	// default the first value is chosen.
	Choose func(key nestedkey.Key, vs []Value) (Value, error)
}

// Merge returns a dictionary with all entries of several dictionaries, in the order of their first
// appearance. Dictionaries under one key are merged in the same way. Of other values under one key,
// opt.Choose chooses one, by default the first. Leaves are shared; dictionaries are new and not
// locked.
//
// Merge returns [ErrKind] if there is no dictionary or one is nil, shapeops.ErrShape if the batch
// shapes of the dictionaries, or of dictionaries under one key, differ, the errors of opt.Choose,
// and the errors of [TensorDict.Set] for the value that it returns.
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

// merge is Merge of dictionaries with one batch shape, nested depth deep. path is their key,
// followed by a slash unless it is empty.
func (opt MergeOptions) merge(tds []*TensorDict, path nestedkey.Key, depth int) (*TensorDict, error) {
	out := tds[0].emptied()
	names, all, _ := byName(tds, false)
	merged := make([]Value, len(all))
	for i, vs := range all {
		if len(vs) == 1 {
			v, err := out.inheritNames(shallow(vs[0]))
			if err != nil {
				return nil, failedKey("merge", path+names[i], err)
			}
			merged[i] = v
			continue
		}
		v, err := opt.mergeValues(path+names[i], vs, out.batch, depth)
		if err != nil {
			return nil, err
		}
		merged[i] = v
	}
	out.entries, _, _ = storeOf(names, merged)
	return out, nil
}

// byName returns the names of the entries of dictionaries, in the order of their first appearance,
// and for each name the values under it and, if numbered is set, the numbers of the dictionaries
// that have them. Nil dictionaries are skipped.
func byName(tds []*TensorDict, numbered bool) (names []nestedkey.Key, values [][]Value, from [][]int) {
	at := map[nestedkey.Key]int{}
	for number, td := range tds {
		if td == nil {
			continue
		}
		for name, v := range td.entries.all() {
			i, ok := at[name]
			if !ok {
				i = len(names)
				at[name] = i
				names, values = append(names, name), append(values, nil)
				if numbered {
					from = append(from, nil)
				}
			}
			values[i] = append(values[i], v)
			if numbered {
				from[i] = append(from[i], number)
			}
		}
	}
	return names, values, from
}

// mergeValues returns the value for a key, in full, that several dictionaries have. batch is their
// batch shape and depth their nesting.
func (opt MergeOptions) mergeValues(key nestedkey.Key, vs []Value, batch shapeops.Shape, depth int) (Value, error) {
	var ds []*TensorDict
	for _, v := range vs {
		if d, ok := v.(*TensorDict); ok {
			ds = append(ds, d)
		}
	}
	if len(ds) == len(vs) {
		for _, d := range ds {
			if err := ds[0].checkLike(d); err != nil {
				return nil, failedKey("merge", key, err)
			}
		}
		return asValue(opt.merge(ds, key+"/", depth+1))
	}
	if opt.Choose == nil {
		return shallow(vs[0]), nil
	}
	v, err := opt.Choose(key, vs)
	if err != nil {
		return nil, failedKey("merge", key, err)
	}
	if err = checkValue(v); err == nil {
		err = checkDepth(depth, v)
	}
	if err == nil {
		v, err = opsOf(v).fitTo(shallow(v), batch)
	}
	if err != nil {
		return nil, within("merge", key, err)
	}
	return v, nil
}
