package inspect

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// A selection has the selected keys, read as [tdict.TensorDict.Select] reads them: a key with
// another one below it selects nothing by itself. Without keys, all are selected.
type selection struct {
	chosen, around map[nestedkey.Key]bool // around has the keys of the dictionaries around chosen ones
}

// newSelection returns the selection of keys. It returns tdict.ErrMissing for a key that none of
// the dictionaries has.
func newSelection(op string, keys []nestedkey.Key, tds ...*tdict.TensorDict) (s selection, err error) {
	for _, td := range tds {
		if td == nil {
			return s, fmt.Errorf("%s: %w: got a nil dictionary", op, tdict.ErrKind)
		}
	}
	s = selection{map[nestedkey.Key]bool{}, map[nestedkey.Key]bool{}}
	for _, key := range keys {
		if err := key.Check(); err != nil {
			return s, &tdict.KeyError{Op: op, Key: key, Err: err}
		}
		if !slices.ContainsFunc(tds, func(td *tdict.TensorDict) bool { return td.Has(key) }) {
			_, err := tds[0].Get(key) // the error lists the keys
			if bad, ok := errors.AsType[*tdict.KeyError](err); ok && errors.Is(err, tdict.ErrMissing) {
				return s, &tdict.KeyError{Op: op, Key: key, Err: bad.Err}
			}
			return s, &tdict.KeyError{Op: op, Key: key, Err: tdict.ErrMissing}
		}
		s.chosen[key] = true
		for outer, ok := key.Parent(); ok && !s.around[outer]; outer, ok = outer.Parent() {
			s.around[outer] = true
		}
	}
	return s, nil
}

// has reports whether a key, or a dictionary around it, is selected.
func (s selection) has(key nestedkey.Key) bool {
	for ok := true; ok; key, ok = key.Parent() {
		if s.chosen[key] && !s.around[key] {
			return true
		}
	}
	return len(s.chosen) == 0
}

// within reports whether key, or a key below it, is selected.
func (s selection) within(key nestedkey.Key) bool { return s.around[key] || s.has(key) }

// below returns the key of an entry of the dictionary under outer, which is "" for the outermost.
func below(outer, name nestedkey.Key) nestedkey.Key {
	if outer == "" {
		return name
	}
	return nestedkey.Join(outer, name)
}
