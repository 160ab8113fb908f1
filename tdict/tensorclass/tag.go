package tensorclass

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// A tag is the parsed tags of a field.
type tag struct {
	key      nestedkey.Key
	given    bool // there is a tag td
	out      bool // the field is not an entry
	optional bool
	data     bool
	mask     nestedkey.Key // "" for none
	depth    int           // the number of levels in the tag shape
	shape    shapeops.Shape
}

// tagOf parses the tags of a field. The default key is the name of the field in lower case.
func tagOf(f reflect.StructField) (t tag, err error) {
	text, given, err := lookup(f, "td")
	if err != nil {
		return t, err
	}
	t.given = given
	key, options, more := strings.Cut(text, ",")
	if text == "-" {
		return tag{given: true, out: true}, nil
	}
	if t.key = nestedkey.Of(strings.ToLower(f.Name)); key != "" {
		t.key = nestedkey.Key(key)
	}
	if err := t.key.Check(); err != nil {
		return t, err
	}
	for option := range strings.SplitSeq(options, ",") {
		mask, isMask := strings.CutPrefix(option, "mask=")
		switch {
		case !more:
		case option == "optional" && !t.optional:
			t.optional = true
		case option == "data" && !t.data:
			t.data = true
		case isMask && mask != "" && t.mask == "":
			t.mask = nestedkey.Key(mask)
		default:
			return t, fmt.Errorf("got the option %q, want optional, data or mask=KEY, each once", option)
		}
	}
	if err := t.mask.Check(); err != nil {
		return t, err
	}
	return t, t.addShape(f)
}

var quoted = regexp.MustCompile(`"(\\.|[^"\\])*"`)

// lookup returns a tag of a field, and whether there is one. It returns an error for a tag that is
// given twice or malformed, which reflect would ignore.
func lookup(f reflect.StructField, name string) (string, bool, error) {
	text, ok := f.Tag.Lookup(name)
	times := 0
	for word := range strings.FieldsFuncSeq(quoted.ReplaceAllString(string(f.Tag), " "), isBetweenTags) {
		if word == name {
			times++
		}
	}
	if ok && times == 1 || times == 0 {
		return text, ok, nil
	}
	return "", false, fmt.Errorf("got the tag %q, want pairs such as %s:\"...\" with one space between them, each once", f.Tag, name)
}

func isBetweenTags(r rune) bool { return r <= ' ' || r == ':' || r == '=' }

// addShape parses the tag shape, such as "*,3,?".
func (t *tag) addShape(f reflect.StructField) error {
	text, given, err := lookup(f, "shape")
	for size := range strings.SplitSeq(text, ",") {
		n, failed := strconv.Atoi(size)
		switch {
		case !given:
			return err
		case size == "*" && t.shape == nil:
			t.depth++
			continue
		case size == "?":
			n = tdict.Any
		case failed != nil || n < 0:
			return fmt.Errorf(`got shape:%q, want sizes such as "84,?", ? for any, after a * for each level`, text)
		}
		t.shape = append(t.shape, n)
	}
	return nil
}

// fits returns an error if an option does not apply to the field.
func (t *tag) fits(f *field) error {
	switch {
	case t.mask != "" && f.role != masked:
		return fmt.Errorf("got mask=KEY for %v, want it for a pointer to an element", f.typ)
	case t.mask != "" && t.optional:
		return errors.New("got optional with mask=KEY, want one of them: a mask says where a value is missing")
	case t.mask != "" && t.mask == f.spec.Key:
		return fmt.Errorf("got mask=%s, which is the key of the field, want another one", t.mask)
	case t.optional && f.role == nested:
		return fmt.Errorf("got optional for the struct %v, want a pointer to it", f.typ)
	case t.depth+len(t.shape) > 0 && f.role != column:
		return fmt.Errorf("got a tag shape for %v, whose type determines the shape, want none", f.typ)
	case t.depth > 0 && f.spec.Kind != tdict.KindRagged:
		return fmt.Errorf("got a * in the tag shape of %v, want it for a *ragged.Tensor", f.typ)
	}
	return nil
}
