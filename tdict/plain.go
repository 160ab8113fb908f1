package tdict

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// plainTyped is plain for slices and maps with a type for their values.
func plainTyped(v any, depth int) (any, error) {
	for _, unpack := range unpackers {
		switch unpacked := unpack(v).(type) {
		case []any:
			return plainList(unpacked, depth)
		case []Field:
			return plainObject(unpacked, depth)
		}
	}
	return nil, fmt.Errorf("%w: got %T, want nil, bool, a number, string, a slice (not []byte) or map[string] of "+
		"one such type, []any, map[string]any, or a *tdict.Object that is not nil", ErrKind, v)
}

// unpackers convert the slices and maps that Data takes. []byte is not among them, since it may be
// text or numbers.
var unpackers = []func(any) any{
	unpacked[any], unpacked[string], unpacked[bool],
	unpacked[int], unpacked[int8], unpacked[int16], unpacked[int32], unpacked[int64],
	unpacked[uint], unpacked[uint16], unpacked[uint32], unpacked[uint64], unpacked[float32], unpacked[float64],
}

// unpacked returns a slice as a []any and a map as a []Field, if they hold T, or slices or maps of
// T. It returns nil for other types.
func unpacked[T any](v any) any {
	switch v := v.(type) {
	case []T:
		return listOf(v)
	case [][]T:
		return listOf(v)
	case []map[string]T:
		return listOf(v)
	case map[string]T:
		return fieldsOf(v)
	case map[string][]T:
		return fieldsOf(v)
	case map[string]map[string]T:
		return fieldsOf(v)
	}
	return nil
}

func listOf[T any](values []T) []any {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = v
	}
	return list
}

// fieldsOf returns the entries of a map, sorted by name.
func fieldsOf[T any](m map[string]T) []Field {
	fields := make([]Field, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		fields = append(fields, Field{name, m[name]})
	}
	return fields
}

// An insideError is an error with its place inside a value of Data.
type insideError struct {
	steps []string // such as ["a"] and [2], the innermost first
	err   error
}

// inside adds an outer step to the place of an error.
func inside(step string, err error) error {
	e, ok := err.(*insideError)
	if !ok {
		e = &insideError{err: err}
	}
	e.steps = append(e.steps, step)
	return e
}

func (e *insideError) Error() string {
	const ends = 4
	steps := slices.Clone(e.steps)
	slices.Reverse(steps)
	if n := len(steps); n > 2*ends {
		steps = slices.Concat(steps[:ends], []string{"..."}, steps[n-ends:])
	}
	return fmt.Sprintf("value%s: %v", strings.Join(steps, ""), e.err)
}

func (e *insideError) Unwrap() error { return e.err }
