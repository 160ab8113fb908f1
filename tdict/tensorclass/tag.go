package tensorclass

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// A tag is what the tags of a field say.
type tag struct {
	key      nestedkey.Key
	given    bool // there is a tag td
	out      bool // the field is no entry
	optional bool
	data     bool
	mask     nestedkey.Key // "" for none
	depth    int           // 0 for none
	shape    shapeops.Shape
	shaped   bool // there is a tag shape
}

// tagOf returns the tags of a field. Its key is the name of the field in lower case, unless they
// say otherwise.
func tagOf(f reflect.StructField) (t tag, err error) {
	text, given, err := lookup(f, "td")
	if err != nil {
		return t, err
	}
	t.given = given
	key, options, more := strings.Cut(text, ",")
	if key == "-" {
		if more {
			return t, fmt.Errorf(`got td:%q, want td:"-" without options`, text)
		}
		return tag{given: true, out: true}, nil
	}
	if t.key = nestedkey.Of(strings.ToLower(f.Name)); key != "" {
		t.key = nestedkey.Key(key)
	}
	if err := t.key.Check(); err != nil {
		return t, err
	}
	for more {
		var option string
		option, options, more = strings.Cut(options, ",")
		if err := t.add(option); err != nil {
			return t, err
		}
	}
	return t, t.addShape(f)
}

// lookup returns a tag, and whether there is one. A tag that is not spelled as reflect wants it,
// which would be overlooked, is an error.
func lookup(f reflect.StructField, name string) (string, bool, error) {
	text, ok := f.Tag.Lookup(name)
	if !ok && strings.Contains(" "+string(f.Tag), " "+name+":") {
		return "", false, fmt.Errorf("got the tag %s, want pairs such as %s:\"...\" with one space between them", f.Tag, name)
	}
	return text, ok, nil
}

// add adds an option.
func (t *tag) add(option string) (err error) {
	name, value, _ := strings.Cut(option, "=")
	switch {
	case option == "optional":
		t.optional = true
	case option == "data":
		t.data = true
	case name == "mask" && value != "":
		t.mask = nestedkey.Key(value)
		err = t.mask.Check()
	case name == "depth":
		if t.depth, err = strconv.Atoi(value); err != nil || t.depth < 1 || t.depth > tdict.MaxDepth {
			err = fmt.Errorf("got %q, want a depth from 1 to %d", option, tdict.MaxDepth)
		}
	default:
		err = fmt.Errorf("got the option %q, want optional, data, mask=KEY or depth=N", option)
	}
	return err
}

// addShape adds the tag shape, such as "3,?".
func (t *tag) addShape(f reflect.StructField) error {
	text, ok, err := lookup(f, "shape")
	if err != nil || !ok {
		return err
	}
	t.shaped = true
	for size := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(size)
		if size == "?" {
			n, err = tdict.Any, nil
		} else if n < 0 {
			err = strconv.ErrRange
		}
		if err != nil {
			return fmt.Errorf(`got shape:%q, want sizes such as "84,84", "?" for any`, text)
		}
		t.shape = append(t.shape, n)
	}
	return nil
}

// fits returns an error if a field has options that are of no use to it.
func (t *tag) fits(f *field) error {
	isColumn := f.role == column
	switch {
	case t.mask != "" && f.role != masked:
		return fmt.Errorf("got mask=%s of %v, want it of a pointer to elements", t.mask, f.typ)
	case t.mask != "" && t.optional:
		return fmt.Errorf("got optional and mask=%s, want one of them", t.mask)
	case t.depth != 0 && !(isColumn && f.spec.Kind == tdict.KindRagged):
		return fmt.Errorf("got depth=%d of %v, want it of a *ragged.Tensor", t.depth, f.typ)
	case t.shaped && !isColumn:
		return fmt.Errorf("got a tag shape of %v, whose type says its shape", f.typ)
	}
	return nil
}
