package tdict

import (
	"slices"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/nestedkey"
)

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
