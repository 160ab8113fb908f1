package npy

import "github.com/go-tensordict/tensordict/nestedkey"

// A choice is a selection of keys, or the zero choice for all keys. above holds the parents of the
// selected keys.
type choice struct{ wanted, above map[nestedkey.Key]bool }

func newChoice(keys []nestedkey.Key) choice {
	if keys == nil {
		return choice{}
	}
	c := choice{map[nestedkey.Key]bool{}, map[nestedkey.Key]bool{}}
	for _, key := range keys {
		c.wanted[key] = true
		for k, ok := key.Parent(); ok; k, ok = k.Parent() {
			c.above[k] = true
		}
	}
	return c
}

// covers reports whether key is selected, or nested in a selected key.
func (c choice) covers(key nestedkey.Key) bool {
	for k, ok := key, true; ok; k, ok = k.Parent() {
		if c.wanted[k] {
			return true
		}
	}
	return c.wanted == nil
}

// touches reports whether key, or a key nested in it, may be selected.
func (c choice) touches(key nestedkey.Key) bool { return c.covers(key) || c.above[key] }
