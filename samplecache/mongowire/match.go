package mongowire

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/internal/bson"
	"github.com/go-tensordict/tensordict/internal/errtext"
)

// A filter is a list of conditions. A document matches if it meets all of them.
type filter []condition

// A condition is a condition on a field.
type condition struct {
	field string
	meets func(v bson.Value) bool
	only  []bson.Value // values that meet it; nil if others may
}

// maxFilter is the maximum number of bytes of a filter: the ids of 90,000 samples.
const maxFilter = 1 * mib

// filter reads the filter of a command.
func (r *request) filter() (f filter, err error) {
	doc, err := r.object("filter")
	if err != nil {
		return nil, err
	}
	if len(doc) > maxFilter {
		return nil, badValue.saying("filter: got %d bytes, want at most %d", len(doc), maxFilter)
	}
	doc = bytes.Clone(doc) // a cursor keeps it longer than the message
	for field, v := range doc.All() {
		if strings.HasPrefix(field, "$") {
			return nil, badValue.saying("operator %s is not supported", errtext.Quote(field))
		}
		ops, isDoc := v.Doc()
		if first, _ := ops.First(); v.Kind != bson.Object || !isDoc || !strings.HasPrefix(first, "$") {
			ops = bson.Append(nil, bson.D{{"$eq", v}})
		}
		for op, operand := range ops.All() {
			c, err := newCondition(field, op, operand)
			if err != nil {
				return nil, err
			}
			f = append(f, c)
		}
	}
	return f, nil
}

// signs reports for each operator whether the sign of a comparison meets it.
var signs = map[string]func(sign int) bool{
	"$gt":  func(sign int) bool { return sign > 0 },
	"$gte": func(sign int) bool { return sign >= 0 },
	"$lt":  func(sign int) bool { return sign < 0 },
	"$lte": func(sign int) bool { return sign <= 0 },
}

func newCondition(field, op string, operand bson.Value) (condition, error) {
	c := condition{field: field}
	sign := signs[op]
	switch {
	case op == "$exists":
		c.meets = func(v bson.Value) bool { return (v.Kind != 0) == operand.True() }
	case op == "$in":
		list, isList := operand.Doc()
		if operand.Kind != bson.Array || !isList {
			return c, badValue.saying("%s: $in wants an array", errtext.Quote(field))
		}
		c.only = []bson.Value{}
		for _, v := range list.All() {
			c.only = append(c.only, v)
		}
		return c.among()
	case op == "$eq":
		c.only = []bson.Value{operand}
		return c.among()
	case sign != nil && canCompare(operand):
		c.meets = func(v bson.Value) bool {
			n, ok := v.Compare(operand)
			return ok && sign(n)
		}
	default:
		return c, badValue.saying("%s: operator %s is not supported with a value of kind %#02x", errtext.Quote(field), errtext.Quote(op), operand.Kind)
	}
	return c, nil
}

// among makes c the condition that a value is one of only.
func (c condition) among() (condition, error) {
	set := map[string]bool{}
	for _, v := range c.only {
		if !canCompare(v) {
			return c, badValue.saying("%s: got a value of kind %#02x, want a number, a string, an ObjectId or a bool", errtext.Quote(c.field), v.Kind)
		}
		set[identity(v)] = true
	}
	c.meets = func(v bson.Value) bool { return set[identity(v)] }
	return c, nil
}

// canCompare reports whether values like v can be compared.
func canCompare(v bson.Value) bool {
	_, whole := v.Int()
	return whole || v.Kind == bson.String || v.Kind == bson.OID || v.Kind == bson.Bool
}

// identity returns a text that is equal for equal values.
func identity(v bson.Value) string {
	if n, ok := v.Int(); ok {
		return fmt.Sprint(n)
	}
	if text, ok := v.Text(); ok {
		return "text " + text
	}
	if b, ok := v.Bytes(); ok {
		return "bytes " + string(b)
	}
	return fmt.Sprint(v.Kind, v.True())
}

// match reports whether a document meets all conditions.
func (f filter) match(doc bson.Doc) bool {
	for _, c := range f {
		if !c.meets(doc.Get(c.field)) {
			return false
		}
	}
	return true
}

// ids returns the ids that a matching document can have; ok is false if the filter does not list
// them.
func (f filter) ids() (ids []int, ok bool) {
	for _, c := range f {
		if c.field != "id" || c.only == nil {
			continue
		}
		for _, v := range c.only {
			if n, whole := v.Int(); whole {
				ids = append(ids, int(n))
			}
		}
		return ids, true
	}
	return nil, false
}
