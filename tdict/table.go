package tdict

import (
	"slices"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/nestedkey"
)

// A table lists the names of a dictionary's entries, each a key of one part. Dictionaries made from one another have
// the same names and share one table; whoever changes a shared table takes a copy first. The nil table is empty.
type table struct {
	names  []nestedkey.Key
	at     map[nestedkey.Key]int // the position of each name, once there are many
	shared atomic.Bool           // set by readers, hence atomic; never unset
}

// scanUpTo is how many names are found faster by looking at each.
const scanUpTo = 8

func (t *table) list() []nestedkey.Key {
	if t == nil {
		return nil
	}
	return t.names
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

// share returns t for another dictionary.
func (t *table) share() *table {
	if t != nil && !t.shared.Load() {
		t.shared.Store(true)
	}
	return t
}

// own returns t, or a copy if it is shared, to be changed.
func (t *table) own() *table {
	if t != nil && !t.shared.Load() {
		return t
	}
	c := &table{names: slices.Clone(t.list())}
	c.index()
	return c
}

// index builds at, if there are names enough.
func (t *table) index() {
	if len(t.names) <= scanUpTo {
		t.at = nil
		return
	}
	t.at = make(map[nestedkey.Key]int, len(t.names))
	for i, name := range t.names {
		t.at[name] = i
	}
}

// add appends a name that is new.
func (t *table) add(name nestedkey.Key) {
	t.names = append(t.names, name)
	if t.at != nil {
		t.at[name] = len(t.names) - 1
	} else if len(t.names) > scanUpTo {
		t.index()
	}
}

// remove removes the name at a position; those behind it move up.
func (t *table) remove(i int) {
	t.names = slices.Delete(t.names, i, i+1)
	t.index()
}

// rename puts another name, which must be new, at a position.
func (t *table) rename(i int, name nestedkey.Key) {
	t.names[i] = name
	t.index()
}
