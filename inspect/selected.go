package inspect

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// A selection is a list of selected keys; empty means all.
type selection []nestedkey.Key

// check returns tdict.ErrMissing for a key that none of the dictionaries has.
func (s selection) check(op string, tds ...*tdict.TensorDict) error {
	for _, td := range tds {
		if td == nil {
			return fmt.Errorf("%s: %w: got a nil dictionary", op, tdict.ErrKind)
		}
	}
	for _, key := range s {
		if err := key.Check(); err != nil {
			return &tdict.KeyError{Op: op, Key: key, Err: err}
		}
		if slices.ContainsFunc(tds, func(td *tdict.TensorDict) bool { return td.Has(key) }) {
			continue
		}
		_, err := tds[0].Get(key) // the error lists the keys
		if bad, ok := errors.AsType[*tdict.KeyError](err); ok && errors.Is(err, tdict.ErrMissing) {
			return &tdict.KeyError{Op: op, Key: key, Err: bad.Err}
		}
		return &tdict.KeyError{Op: op, Key: key, Err: tdict.ErrMissing}
	}
	return nil
}

// has reports whether a key, or a dictionary around it, is selected.
func (s selection) has(key nestedkey.Key) bool {
	for _, k := range s {
		if key.HasPrefix(k) {
			return true
		}
	}
	return len(s) == 0
}

// within reports whether key, or a key below it, is selected.
func (s selection) within(key nestedkey.Key) bool {
	for _, k := range s {
		if k.HasPrefix(key) {
			return true
		}
	}
	return s.has(key)
}

// below returns the key of an entry of the dictionary under outer, which is "" for the outermost.
func below(outer, name nestedkey.Key) nestedkey.Key {
	if outer == "" {
		return name
	}
	return nestedkey.Join(outer, name)
}
