package tdict

import (
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
)

// A TensorDict maps nested keys to values whose shapes all begin with its batch shape. The zero TensorDict is empty,
// with batch shape [], and ready for use. A TensorDict must not be copied by value.
//
// Safe for concurrent readers; a writer needs exclusive access, as with a map. Writing elements of a leaf is a write
// of that leaf, not of the dictionary.
type TensorDict struct {
	batch  shapeops.Shape
	table  *table
	values []Value // in the order of the table

	locked bool // by Lock
	holds  int  // how many locked dictionaries have this one as an entry
}

// New returns an empty dictionary with the given batch shape. Sizes from outside should pass Shape.Check first: a
// dictionary with a negative one has no values that fit.
func New(batch ...int) *TensorDict {
	return &TensorDict{batch: slices.Clone(batch)}
}

// FromMap returns a dictionary with the given batch shape and entries, in the order of their keys. Leaves are shared,
// dictionaries among the entries are copied. Its errors are those of [TensorDict.Set], and shapeops.ErrShape for a batch
// shape that fails its Check.
func FromMap(batch shapeops.Shape, entries map[nestedkey.Key]Value) (*TensorDict, error) {
	if err := batch.Check(); err != nil {
		return nil, err
	}
	keys := make([]nestedkey.Key, 0, len(entries))
	for key := range entries {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, nestedkey.Compare)
	td := New(batch...)
	for _, key := range keys {
		v := entries[key]
		if err := checkValue(v); err != nil {
			return nil, &KeyError{"set", key, err}
		}
		if err := td.Set(key, shallow(v)); err != nil {
			return nil, err
		}
	}
	return td, nil
}

// Shape returns the batch shape. The caller must not change it.
func (td *TensorDict) Shape() shapeops.Shape { return td.batch }

// NumEntries returns the number of entries, not counting those of nested dictionaries. (Python's len is the first batch size.)
func (td *TensorDict) NumEntries() int { return len(td.values) }

// like returns a dictionary with td's names and room for as many values.
func (td *TensorDict) like(batch shapeops.Shape) *TensorDict {
	return &TensorDict{batch: batch, table: td.table.share(), values: make([]Value, len(td.values))}
}

// put sets an entry that is known to fit.
func (td *TensorDict) put(name nestedkey.Key, v Value) {
	if i := td.table.find(name); i >= 0 {
		td.values[i] = v
		return
	}
	td.table = td.table.own()
	td.table.add(name)
	td.values = append(td.values, v)
}

// drop removes the entry at a position.
func (td *TensorDict) drop(i int) {
	td.table = td.table.own()
	td.table.remove(i)
	td.values = slices.Delete(td.values, i, i+1)
}
