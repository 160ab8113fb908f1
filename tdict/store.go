package tdict

import (
	"iter"
	"slices"

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

// namedAs reports whether s and other share their table of names.
func (s *store) namedAs(other *store) bool { return s.table == other.table }

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
