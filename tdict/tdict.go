package tdict

import (
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
)

// A TensorDict maps nested keys to values whose shapes all begin with its batch shape. The zero
// TensorDict is empty, with batch shape [], and ready for use. A TensorDict must not be copied by
// value.
//
// Safe for concurrent readers; a writer needs exclusive access, as with a map. Writing elements of
// a leaf is a write of that leaf, not of the dictionary.
type TensorDict struct {
	batch   shapeops.Shape
	entries store
	header

	locked        bool   // by Lock
	why           string // the reason for the lock, for errors
	lockedParents int    // number of locked dictionaries that have this one as an entry
}

// New returns an empty dictionary with the given batch shape. Check sizes from outside with
// Shape.Check first: no value fits a dictionary with a negative size.
func New(batch ...int) *TensorDict {
	return &TensorDict{batch: slices.Clone(batch)}
}

// Entries are the values of a dictionary, by key, for [FromMap].
type Entries = map[nestedkey.Key]Value

// FromMap returns a dictionary with the given batch shape and entries, in the order of their keys.
// Leaves are shared; nested dictionaries are copied. It returns the errors of [TensorDict.Set], and
// shapeops.ErrShape if the batch shape is invalid.
func FromMap(batch shapeops.Shape, entries Entries) (*TensorDict, error) {
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
			return nil, failedKey("set", key, err)
		}
		if err := td.Set(key, shallow(v)); err != nil {
			return nil, err
		}
	}
	return td, nil
}

// emptied returns a dictionary like td without entries.
func (td *TensorDict) emptied() *TensorDict {
	return &TensorDict{batch: td.batch.Clone(), header: td.header}
}

// Shape returns the batch shape. The caller must not change it.
func (td *TensorDict) Shape() shapeops.Shape { return td.batch }

// NumEntries returns the number of entries, not counting the entries of nested dictionaries.
// (Python's len is the first size of the batch shape.)
func (td *TensorDict) NumEntries() int { return td.entries.len() }

// Copy returns a copy of td that shares the leaves. Dictionaries are copied at every depth, and are
// not locked.
func (td *TensorDict) Copy() *TensorDict {
	out := &TensorDict{batch: td.batch, header: td.header}
	out.entries, _, _ = td.entries.mapped(func(_ column, v Value) (Value, error) { return shallow(v), nil })
	return out
}

// shallow returns a Copy of v if it is a dictionary, otherwise v.
func shallow(v Value) Value {
	if d, ok := v.(*TensorDict); ok {
		return d.Copy()
	}
	return v
}

// WithBatch returns a dictionary with the same leaves and the given batch shape, with which every
// value must begin. Nested dictionaries are copied; if their batch shape is shorter, they get the
// given one too, and so do the members of a lazy stack, without the stack dim. WithBatch returns
// shapeops.ErrShape, with the key, if a value does not fit.
func (td *TensorDict) WithBatch(shape ...int) (*TensorDict, error) {
	batch := shapeops.Shape(shape).Clone()
	if err := batch.Check(); err != nil {
		return nil, failed("with batch", err)
	}
	out, err := td.withBatch(batch)
	return out, failed("with batch", err)
}

func (td *TensorDict) withBatch(batch shapeops.Shape) (*TensorDict, error) {
	entries, name, err := td.entries.mapped(func(_ column, v Value) (Value, error) {
		return opsOf(v).fitTo(shallow(v), batch)
	})
	if err != nil {
		return nil, within("set", name, err)
	}
	out := &TensorDict{batch: batch, entries: entries, header: td.named(td.prefixNames(batch))}
	out.stack = td.stack.withBatch(batch)
	return out, nil
}

// Clone returns a copy of td and of its leaves, not locked. Ragged tensors that share a layout
// share one in the copy. Clone returns an error if the memory of a leaf cannot be read, as after
// Close of a dataset.
func (td *TensorDict) Clone() (*TensorDict, error) { return td.cloneIn(new(plan.Pass)) }

// cloneIn is Clone in a pass, which makes layouts that leaves share once.
func (td *TensorDict) cloneIn(p *plan.Pass) (*TensorDict, error) {
	entries, name, err := td.entries.mapped(func(_ column, v Value) (Value, error) { return opsOf(v).clone(v, p) })
	if err != nil {
		return nil, within("clone", name, err)
	}
	return &TensorDict{batch: td.batch, entries: entries, header: td.header}, nil
}

// Equal reports whether td and other have the same batch shape and equal values under the same
// keys, in any order. Tensors compare as in tensor.Tensor.Equal.
func (td *TensorDict) Equal(other *TensorDict) bool {
	if other == nil || !td.batch.Equal(other.batch) || td.entries.len() != other.entries.len() {
		return false
	}
	for name, v := range td.entries.all() {
		w, ok := other.entries.get(name)
		if !ok || !opsOf(v).equal(v, w) {
			return false
		}
	}
	return true
}
