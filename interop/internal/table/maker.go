package table

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-tensordict/tensordict/internal/elemtext"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A maker makes a table from a schema.
type maker struct {
	table *Table
	specs map[nestedkey.Key]*tdict.Spec
	dicts map[nestedkey.Key]*Entry // that the schema lists
	masks map[nestedkey.Key]bool   // keys of masks
	taken map[nestedkey.Key]bool   // keys of masks, entries and dictionaries
	used  map[*Level]bool          // the levels of columns
}

func newMaker(schema tdict.Schema) *maker {
	m := &maker{
		table: &Table{schema: make(tdict.Schema, 0, len(schema)), columns: make([]*Column, 0, len(schema))},
		specs: make(map[nestedkey.Key]*tdict.Spec, len(schema)), dicts: map[nestedkey.Key]*Entry{},
		masks: map[nestedkey.Key]bool{}, taken: make(map[nestedkey.Key]bool, len(schema)), used: map[*Level]bool{},
	}
	for i := range schema {
		s := &schema[i]
		m.specs[s.Key] = s
		if s.Mask != "" {
			m.masks[s.Mask], m.taken[s.Mask] = true, true
		}
		for key, nested := s.Key, true; nested; key, nested = key.Parent() {
			m.taken[key] = true
		}
	}
	return m
}

// FreeKey returns key, or key with the first number from 2 on that makes it a key that is not
// taken.
func FreeKey(key nestedkey.Key, taken func(nestedkey.Key) bool) nestedkey.Key {
	free := key
	for i := 2; taken(free); i++ {
		free = key + nestedkey.Key(strconv.Itoa(i))
	}
	return free
}

// free returns a free key, and takes it.
func (m *maker) free(key nestedkey.Key) nestedkey.Key {
	key = FreeKey(key, func(key nestedkey.Key) bool { return m.taken[key] })
	m.taken[key] = true
	return key
}

// add adds the entry of a spec.
func (m *maker) add(s tdict.Spec, opt Options) error {
	if err := checkHolds(s); err != nil {
		return err
	}
	t := m.table
	if s.Kind == tdict.KindDict {
		e := &Entry{Spec: s}
		if err := m.setLevels(e); err != nil {
			return err
		}
		t.dicts, t.schema, m.dicts[s.Key] = append(t.dicts, e), append(t.schema, s), e
		return m.setMasks(e)
	}
	c, err := m.column(s)
	if err != nil {
		return err
	}
	t.columns, t.schema = append(t.columns, c), append(t.schema, s)
	if err := m.setMasks(&c.Entry); err != nil {
		return err
	}
	if !c.deep() {
		c.each = c.Mask(0)
	}
	return c.setFill(opt)
}

// column returns a column without rows, masks and fill.
func (m *maker) column(s tdict.Spec) (*Column, error) {
	c := &Column{Entry: Entry{Spec: s}, Width: s.Shape.Size(), elem: elemtext.Of(cmp.Or(s.DType, tensor.Uint8).String())}
	if err := m.setLevels(&c.Entry); err != nil {
		return nil, err
	}
	for _, l := range c.Levels {
		m.used[l] = true
	}
	if s.Kind == tdict.KindText {
		c.texts = &Level{}
		m.table.levels = append(m.table.levels, c.texts)
	}
	if unit, ok := s.TimeUnit(); ok {
		c.time = newClock(s.Time, unit)
	}
	return c, c.setCategories()
}

// setLevels sets the levels of an entry. The first are the levels of the dictionary around it.
func (m *maker) setLevels(e *Entry) error {
	for key, nested := e.Spec.Key.Parent(); nested; key, nested = key.Parent() {
		if d := m.dicts[key]; d != nil {
			if e.Spec.Depth < len(d.Levels) {
				return fmt.Errorf("got kind %v with Depth %d, want at least Depth %d, the levels of %q", e.Spec.Kind, e.Spec.Depth, len(d.Levels), key)
			}
			e.Levels, e.outer = d.Levels[:len(d.Levels):len(d.Levels)], len(d.Levels)
			break
		}
	}
	for len(e.Levels) < e.Spec.Depth {
		l := &Level{}
		e.Levels, m.table.levels = append(e.Levels, l), append(m.table.levels, l)
	}
	return nil
}

// setMasks adds the mask of an entry, the mask of that mask, and so on.
func (m *maker) setMasks(e *Entry) error {
	e.masks = make([]*Mask, len(e.Levels)+1)
	var last *Mask
	for key := e.Spec.Mask; key != ""; {
		x := &Mask{key: key, of: e, depth: e.outer}
		s := m.specs[key]
		if s != nil {
			x.depth = s.Depth
		}
		switch {
		case x.depth < e.outer:
			return fmt.Errorf("got the mask %q of Depth %d, want at least Depth %d, the levels of the dictionary around it", key, x.depth, e.outer)
		case last != nil && x.depth >= last.depth:
			return fmt.Errorf("got the mask %q of Depth %d for %q, which has Depth %d, want fewer levels", key, x.depth, last.key, last.depth)
		case last != nil:
			last.next = x
		}
		x.level = e.at(x.depth)
		e.masks[x.depth], last = x, x
		m.table.masks = append(m.table.masks, x)
		if key = ""; s != nil {
			key = s.Mask
		}
	}
	for _, x := range slices.Backward(e.masks) {
		if x != nil {
			m.table.schema = append(m.table.schema, x.spec())
		}
	}
	return nil
}

// checkLevels returns ErrSchema for a dictionary with a level that no column has: its lists would
// be lost.
func (m *maker) checkLevels() error {
	for _, d := range m.table.dicts {
		for _, l := range d.Levels {
			if !m.used[l] {
				return refusedKey(d.Spec.Key, "got a dictionary with Depth %d without entries that have its levels, want some", d.Spec.Depth)
			}
		}
	}
	return nil
}
