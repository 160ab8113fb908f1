package tensorclass

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// toData returns a value as Data holds it: what its JSON says.
func toData(v reflect.Value) (any, error) {
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", tdict.ErrKind, err)
	}
	var d tdict.Data
	if err := d.UnmarshalJSON(fmt.Appendf(nil, `{"shape":[],"value":%s}`, text)); err != nil {
		return nil, err
	}
	return d.At()
}

// fromData sets a value to one that Data holds.
func fromData(v any, to reflect.Value) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%w: %w", tdict.ErrKind, err)
	}
	return json.Unmarshal(text, to.Addr().Interface())
}

// within puts the key of the dictionary that a field leads to before that of an error in it, or
// makes a KeyError of it.
func within(op string, f *field, err error) error {
	bad, ok := errors.AsType[*tdict.KeyError](err)
	switch {
	case !ok:
		return &tdict.KeyError{Op: op, Key: f.spec.Key, Err: fmt.Errorf("field %s: %w", f.name, err)}
	case f.role == inner && bad.Op == op:
		return &tdict.KeyError{Op: op, Key: nestedkey.Join(f.spec.Key, bad.Key), Err: bad.Err}
	}
	return &tdict.KeyError{Op: op, Key: bad.Key, Err: fmt.Errorf("field %s: %w", f.name, bad.Err)}
}
