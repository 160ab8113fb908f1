package tdict

import (
	"iter"
	"slices"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/nestedkey"
)

// A store holds the entries of a dictionary in order, under names that are keys of one part. The
// rest of the package accesses entries only by its methods.
type store struct {
	table  *table
	values []Value // by position in table; nil at gaps
}

// storeOf returns a store of values under names. If two names are equal, it returns their positions
// instead, which differ.
func storeOf(names []nestedkey.Key, values []Value) (s store, first, second int) {
	s = store{&table{names: names}, values}
	s.table.index()
	for i, name := range names {
		if j := s.table.find(name); j != i {
			return store{}, min(i, j), max(i, j)
		}
	}
	return s, 0, 0
}

// len returns the number of entries.
func (s *store) len() int { return s.table.count() }

// all yields the entries in order.
func (s *store) all() iter.Seq2[nestedkey.Key, Value] {
	return func(yield func(nestedkey.Key, Value) bool) {
		for i := 0; i < len(s.values); i++ {
			if v := s.values[i]; v == nil {
				i = s.table.skip[i]
			} else if !yield(s.table.names[i], v) {
				return
			}
		}
	}
}

// columns yields the entries in order, each with its column, which finds the entries of the same
// name in other dictionaries.
func (s *store) columns() iter.Seq2[column, Value] {
	return func(yield func(column, Value) bool) {
		for i, v := range s.values {
			if v != nil && !yield(column{s.table.names[i], i}, v) {
				return
			}
		}
	}
}

// get returns the value under a name.
func (s *store) get(name nestedkey.Key) (Value, bool) {
	if i := s.table.find(name); i >= 0 {
		return s.values[i], true
	}
	return nil, false
}

// has reports whether there is a value under a name.
func (s *store) has(name nestedkey.Key) bool { return s.table.find(name) >= 0 }

// put sets the value under name, and returns the value that it replaces, or nil.
func (s *store) put(name nestedkey.Key, v Value) (was Value) {
	if i := s.table.find(name); i >= 0 {
		was, s.values[i] = s.values[i], v
		return was
	}
	s.table = s.table.own()
	s.table.add(name)
	s.values = append(s.values, v)
	return nil
}

// drop removes the entry under name, which must exist, and returns its value.
func (s *store) drop(name nestedkey.Key) (was Value) {
	s.table = s.table.own()
	i := s.table.find(name)
	was, s.values[i] = s.values[i], nil
	if s.table.remove(i) {
		s.table.compact()
		s.values = slices.DeleteFunc(s.values, func(v Value) bool { return v == nil })
	}
	return was
}

// rename changes the name of an entry to a new one. The entry keeps its position.
func (s *store) rename(from, to nestedkey.Key) {
	s.table = s.table.own()
	s.table.rename(s.table.find(from), to)
}

// mapped returns a store with the same names and fn applied to each value. Names for which fn
// returns nil are left out. If fn fails, mapped returns its error unchanged, with the name.
func (s *store) mapped(fn func(c column, v Value) (Value, error)) (store, nestedkey.Key, error) {
	out, lacks := store{s.table.share(), make([]Value, len(s.values))}, false
	for i, v := range s.values {
		if v == nil {
			continue
		}
		c := column{s.table.names[i], i}
		w, err := fn(c, v)
		if err != nil {
			return store{}, c.name, err
		}
		out.values[i] = w
		lacks = lacks || w == nil
	}
	if !lacks {
		return out, "", nil
	}
	var fewer store
	for i, v := range out.values {
		if v != nil {
			fewer.put(out.table.names[i], v)
		}
	}
	return fewer, "", nil
}

// emptied returns a store with the same names, for set.
func (s *store) emptied() store { return store{s.table.share(), make([]Value, len(s.values))} }

// at returns the value at a position of the table, with its column, or nil for a gap.
func (s *store) at(i int) (column, Value) {
	if s.values[i] == nil {
		return column{}, nil
	}
	return column{s.table.names[i], i}, s.values[i]
}

// A column is a name and its position in one dictionary. Other dictionaries usually have the name
// at the same position.
type column struct {
	name nestedkey.Key
	at   int
}

// of returns the value that td has under the name.
func (c column) of(td *TensorDict) (Value, error) {
	s := &td.entries
	if s.table.has(c.at, c.name) {
		return s.values[c.at], nil
	}
	if v, ok := td.entries.get(c.name); ok {
		return v, nil
	}
	return nil, td.missing(c.name)
}

// A table lists the names of a dictionary's entries, each a key of one part. Dictionaries that are
// made from one another share one table while they have the same names; a shared table is copied
// before it is changed. Removing a name leaves a gap. Gaps are removed at once if the table
// is small, otherwise when they are more than half of it. The nil table is empty.
type table struct {
	names      []nestedkey.Key
	at         map[nestedkey.Key]int // the position of each name; nil for few names
	gaps       int
	skip       []int       // at the first gap of a run its end, at the last its start
	shared     atomic.Bool // readers set it, hence atomic; never unset
	inSnapshot atomic.Bool // an error has a snapshot of names; readers set it too
}

const (
	// scanUpTo is the largest number of names that a linear search finds faster than a map.
	scanUpTo = 8
	// gap replaces a name that was removed. It is not a key, since it is not UTF-8.
	gap nestedkey.Key = "\xff"
)

// count returns the number of names.
func (t *table) count() int {
	if t == nil {
		return 0
	}
	return len(t.names) - t.gaps
}

// find returns the position of name, or -1.
func (t *table) find(name nestedkey.Key) int {
	if t == nil {
		return -1
	}
	if t.at == nil {
		return slices.Index(t.names, name)
	}
	if i, ok := t.at[name]; ok {
		return i
	}
	return -1
}

// has reports whether name is at a position.
func (t *table) has(i int, name nestedkey.Key) bool {
	return t != nil && i < len(t.names) && t.names[i] == name
}

// share marks t as shared, and returns it for another dictionary.
func (t *table) share() *table {
	if t != nil && !t.shared.Load() {
		t.shared.Store(true)
	}
	return t
}

// snapshot returns the names, including gaps, for an error. Later changes of t do not change them.
func (t *table) snapshot() []nestedkey.Key {
	if t == nil {
		return nil
	}
	if !t.inSnapshot.Load() {
		t.inSnapshot.Store(true)
	}
	return slices.Clip(t.names)
}

// detach copies names if a snapshot has them, so that a name can be changed in place.
func (t *table) detach() {
	if t.inSnapshot.Load() {
		t.names = slices.Clone(t.names)
		t.inSnapshot.Store(false)
	}
}

// own returns a table that can be changed: t, or a copy if t is shared.
func (t *table) own() *table {
	switch {
	case t == nil:
		return &table{}
	case !t.shared.Load():
		return t
	}
	c := &table{names: slices.Clone(t.names), gaps: t.gaps, skip: slices.Clone(t.skip)}
	c.index()
	return c
}

// index builds at, if there are many names.
func (t *table) index() {
	t.at = nil
	if len(t.names) <= scanUpTo {
		return
	}
	t.at = make(map[nestedkey.Key]int, len(t.names))
	for i, name := range t.names {
		if name != gap {
			t.at[name] = i
		}
	}
}

// add appends a name that is new.
func (t *table) add(name nestedkey.Key) {
	t.names = append(t.names, name)
	if t.skip != nil {
		t.skip = append(t.skip, 0)
	}
	if t.at != nil {
		t.at[name] = len(t.names) - 1
	} else if len(t.names) > scanUpTo {
		t.index()
	}
}

// rename replaces the name at position i by a new one.
func (t *table) rename(i int, name nestedkey.Key) {
	t.detach()
	if t.at != nil {
		delete(t.at, t.names[i])
		t.at[name] = i
	}
	t.names[i] = name
}

// remove leaves a gap at position i. It reports whether the caller should call compact.
func (t *table) remove(i int) (compact bool) {
	t.detach()
	if t.at != nil {
		delete(t.at, t.names[i])
	}
	t.names[i] = gap
	t.gaps++
	if t.skip == nil {
		t.skip = make([]int, len(t.names))
	}
	first, last := i, i
	if i > 0 && t.names[i-1] == gap {
		first = t.skip[i-1]
	}
	if i+1 < len(t.names) && t.names[i+1] == gap {
		last = t.skip[i+1]
	}
	t.skip[first], t.skip[last] = last, first
	return len(t.names) <= scanUpTo || 2*t.gaps > len(t.names)
}

// compact removes the gaps.
func (t *table) compact() {
	t.names = slices.DeleteFunc(t.names, func(name nestedkey.Key) bool { return name == gap })
	t.gaps, t.skip = 0, nil
	t.index()
}
