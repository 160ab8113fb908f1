package mongowire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
)

// A filter is a list of conditions. A document matches if it meets all of them.
type filter []condition

// A condition is a condition on a field.
type condition struct {
	field  string
	meets  func(v bson.Value) bool
	listed bool    // values that meet it are listed
	ints   []int64 // the integers among these, sorted
}

const (
	maxFilter     = 1 * mib // bytes of a filter: the ids of 90,000 samples
	maxConditions = 64      // of a filter
)

// parseFilter reads a filter.
func parseFilter(doc bson.Doc) (f filter, err error) {
	if len(doc) > maxFilter {
		return nil, badValue.saying("filter: got %d bytes, want at most %d", len(doc), maxFilter)
	}
	f = filter{}
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
			if len(f) == maxConditions {
				return nil, badValue.saying("filter: got more than %d conditions", maxConditions)
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
		return c.among(list)
	case op == "$eq":
		return c.among(bson.Append(nil, bson.D{{"", operand}}))
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

// among makes c the condition that a value is in a list.
func (c condition) among(list bson.Doc) (condition, error) {
	others := map[string]bool{}
	for _, v := range list.All() {
		n, whole := v.Int()
		switch {
		case whole:
			c.ints = append(c.ints, n)
		case !canCompare(v):
			return c, badValue.saying("%s: got a value of kind %#02x, want a number, a string, an ObjectId or a bool", errtext.Quote(c.field), v.Kind)
		default:
			others[identity(v)] = true
		}
	}
	slices.Sort(c.ints)
	ints := slices.Compact(c.ints)
	c.listed, c.ints = true, ints
	c.meets = func(v bson.Value) bool {
		if n, whole := v.Int(); whole {
			_, found := slices.BinarySearch(ints, n)
			return found
		}
		return len(others) > 0 && others[identity(v)]
	}
	return c, nil
}

// canCompare reports whether values like v can be compared.
func canCompare(v bson.Value) bool {
	_, whole := v.Int()
	return whole || v.Kind == bson.String || v.Kind == bson.OID || v.Kind == bson.Bool
}

// identity returns a text that is equal for equal values other than integers.
func identity(v bson.Value) string {
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

// ids returns the ids that a matching document can have, sorted; ok is false if the filter does not
// list them.
func (f filter) ids() (ids []int64, ok bool) {
	for _, c := range f {
		if c.field == "id" && c.listed {
			return c.ints, true
		}
	}
	return nil, false
}
