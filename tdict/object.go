package tdict

import (
	"fmt"
	"iter"
	"math"
	"slices"
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
	}
	return plainNumber(v, depth)
}

func plainNumber(v any, depth int) (any, error) {
	switch v := v.(type) {
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
	return plainTyped(v, depth)
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
