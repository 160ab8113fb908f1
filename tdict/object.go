package tdict

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// An Object is a value of [Data] that maps names to values, in order, as an object in JSON does. It
// never changes. The zero Object is empty. Safe for concurrent use.
type Object struct {
	fields []Field
	at     map[string]int // the index of each field
}

// A Field is a name and a value of an [Object].
type Field struct {
	Name  string
	Value any
}

// NewObject returns an object with the given fields, in that order. It converts values as [NewData]
// does. It returns [ErrKind] for a value or a name that NewData refuses, [ErrExists] for a
// duplicate name, and [ErrDepth] if a value is nested more than 256 deep.
func NewObject(fields ...Field) (*Object, error) {
	v, err := plain(&Object{fields: fields}, 0)
	if err != nil {
		return nil, err
	}
	return v.(*Object), nil
}

// Len returns the number of fields.
func (o *Object) Len() int { return len(o.fields) }

// Get returns the value under name, and whether there is one.
func (o *Object) Get(name string) (any, bool) {
	if i, ok := o.at[name]; ok {
		return o.fields[i].Value, true
	}
	return nil, false
}

// All returns an iterator over the fields, in order.
func (o *Object) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, f := range o.fields {
			if !yield(f.Name, f.Value) {
				return
			}
		}
	}
}

// String returns o as JSON.
func (o *Object) String() string { return jsonText(o) }

// plain converts v to one of the types that Data holds. It copies lists and objects.
func plain(v any, depth int) (any, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("%w: lists and objects are nested more than %d deep", ErrDepth, MaxDepth)
	}
	switch v := v.(type) {
	case nil, bool, int64, float64:
		return v, nil
	case string:
		return v, checkText(v)
	case []any:
		return plainList(v, depth)
	case *Object:
		if v != nil {
			return plainObject(v.fields, depth)
		}
	case int:
		return int64(v), nil
	case int8:
		return int64(v), nil
	case int16:
		return int64(v), nil
	case int32:
		return int64(v), nil
	case uint8:
		return int64(v), nil
	case uint16:
		return int64(v), nil
	case uint32:
		return int64(v), nil
	case uint:
		return fromUint(uint64(v))
	case uint64:
		return fromUint(v)
	case float32:
		return float64(v), nil
	}
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

func fromUint(v uint64) (any, error) {
	if v > math.MaxInt64 {
		return nil, fmt.Errorf("%w: got %d, want an int64", ErrKind, v)
	}
	return int64(v), nil
}

func checkText(s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%w: got %q, want UTF-8", ErrKind, s)
	}
	return nil
}

func plainList(list []any, depth int) (any, error) {
	out := make([]any, len(list))
	for i, v := range list {
		var err error
		if out[i], err = plain(v, depth+1); err != nil {
			return nil, inside(fmt.Sprintf("[%d]", i), err)
		}
	}
	return out, nil
}

func plainObject(fields []Field, depth int) (any, error) {
	out := &Object{make([]Field, len(fields)), make(map[string]int, len(fields))}
	for i, f := range fields {
		if err := checkText(f.Name); err != nil {
			return nil, err
		}
		if _, ok := out.at[f.Name]; ok {
			return nil, fmt.Errorf("%w: duplicate field %q", ErrExists, f.Name)
		}
		out.at[f.Name] = i
		v, err := plain(f.Value, depth+1)
		if err != nil {
			return nil, inside(fmt.Sprintf("[%q]", shortened(f.Name)), err)
		}
		out.fields[i] = Field{f.Name, v}
	}
	return out, nil
}

// same reports whether two values of Data are equal: NaN differs from itself, an int64 from a
// float64, and the order of fields matters.
func same(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case *Object:
		b, ok := b.(*Object)
		return ok && slices.EqualFunc(a.fields, b.fields, func(f, g Field) bool {
			return f.Name == g.Name && same(f.Value, g.Value)
		})
	}
	switch b.(type) {
	case []any, *Object:
		return false
	}
	return a == b
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
