package memmap

import (
	"errors"

	"github.com/go-tensordict/tensordict/nestedkey"
)

// A collector takes down what is wrong in a tree, for [Verify]. A nil one collects nothing.
type collector struct {
	parts  []string // of the key of what is being read
	faults []Fault
}

// enter adds parts to the key of what is being read, until leave is called.
func (c *collector) enter(parts ...string) (leave func()) {
	if c == nil {
		return func() {}
	}
	n := len(c.parts)
	c.parts = append(c.parts, parts...)
	return func() { c.parts = c.parts[:n] }
}

// key returns the key of what is being read.
func (c *collector) key() nestedkey.Key {
	if c == nil {
		return ""
	}
	return keyOf(c.parts)
}

// number returns how many faults there are.
func (c *collector) number() int {
	if c == nil {
		return 0
	}
	return len(c.faults)
}

// add takes down a fault.
func (c *collector) add(err error) {
	f := Fault{Key: c.key(), Block: -1, Err: err}
	if e, ok := errors.AsType[*FileError](err); ok {
		f.File, f.Err = e.Path, e.Err
	}
	c.faults = append(c.faults, f)
}
