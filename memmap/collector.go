package memmap

import (
	"errors"

	"github.com/go-tensordict/tensordict/nestedkey"
)

// A collector collects the damage in a tree for [Verify] and [Copy]. A nil collector collects
// nothing.
type collector struct {
	parts []string // of the key that is being read
	all   []Damage
}

// enter appends parts to the current key; leave removes them.
func (c *collector) enter(parts ...string) (leave func()) {
	if c == nil {
		return func() {}
	}
	n := len(c.parts)
	c.parts = append(c.parts, parts...)
	return func() { c.parts = c.parts[:n] }
}

// key returns the current key.
func (c *collector) key() nestedkey.Key {
	if c == nil {
		return ""
	}
	return keyOf(c.parts)
}

// number returns the number of Damage values.
func (c *collector) number() int {
	if c == nil {
		return 0
	}
	return len(c.all)
}

// add adds damage at the current key.
func (c *collector) add(err error) {
	f := Damage{Key: c.key(), Block: -1, Err: err}
	if e, ok := errors.AsType[*DatasetError](err); ok {
		f.File, f.Err = e.Path, e.Err
	}
	c.all = append(c.all, f)
}
