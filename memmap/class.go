package memmap

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/datajson"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// An instance of a Python class, a tensorclass, is a directory whose meta.json has the name of the
// class and its fields. Its dictionary is the directory classDir in it.
const (
	classDir    = "_tensordict"
	classPickle = "other.pickle"
)

// ownClass reports whether the last part of the name of a class is one that the format defines, so
// that a node of that class is not an instance.
func ownClass(last string) bool {
	return dictClasses[last] || slices.Contains([]string{lazyClass, viewClass, dataClass, metaDataClass, dataStackClass}, last)
}

// lastPart returns Frame for my.module.Frame.
func lastPart(class string) string { return class[strings.LastIndexByte(class, '.')+1:] }

// instance returns the dictionary of an instance, with its class. The fields beside it become Data.
func (r *reader) instance(n tree, m *meta, batch shapeops.Shape, depth int) (tdict.Value, error) {
	v, err := r.inner(n, &metaEntry{name: classDir, outer: m.instance}, batch, depth)
	if v == nil || err != nil {
		return nil, err
	}
	td, ok := v.(*tdict.TensorDict)
	if !ok || td.Class() != "" {
		return nil, r.fail(n, classDir, corrupt("got another kind of value, or one with a class, want a dictionary without a class"))
	}
	if n.has(classPickle) && !r.skips(n, classPickle) {
		return nil, r.fail(n, classPickle, unsupported("fields of a %s are pickled, and pickles are never executed: leave them out with SkipPickled", quote(m.class)))
	}
	if err := r.fields(td, m.instance); err != nil {
		return nil, r.fail(n, metaName, datajson.Failed(err))
	}
	return td, r.fail(n, metaName, asCorrupt(td.SetClass(m.fullClass)))
}

// fields sets the fields of a meta.json in td, as Data. If td has an entry of the same name, a
// field that is null is ignored, as in Python.
func (r *reader) fields(td *tdict.TensorDict, text []byte) error {
	scan, seen := datajson.New(text), map[string]bool{}
	return scan.Object(func(name []byte) error {
		if string(name) == fieldType {
			return scan.Skip()
		}
		if seen[string(name)] {
			return corrupt("duplicate field %s", quote(string(name)))
		}
		seen[string(name)] = true
		v, err := scan.Value()
		if err != nil {
			return err
		}
		if r.entries++; r.entries > r.maxEntries() {
			return tooMany(r.maxEntries())
		}
		key := nestedkey.Of(string(name))
		if td.Has(key) {
			if v == nil {
				return nil
			}
			return corrupt("field %s is also an entry of the dictionary", quote(string(name)))
		}
		d, err := tdict.NewData(v, td.Shape()...)
		if err != nil {
			return err
		}
		return asCorrupt(td.Set(key, datajson.Fixed(d)))
	})
}

// instance plans to save td, which has a class, as the node n. Data of null become fields beside
// the dictionary, as Python writes them.
func (s *saver) instance(n *savedNode, td *tdict.TensorDict, depth int) error {
	if ownClass(lastPart(td.Class())) {
		return s.fail(n.at, fmt.Errorf("%w: the format uses the class %s for another kind of value: rename the class", ErrName, quote(td.Class())))
	}
	n.text = appendText([]byte(`{"`+fieldType+`":`), "<class '"+td.Class()+"'>")
	var nulls []nestedkey.Key
	for key, v := range td.All() {
		d, ok := v.(*tdict.Data)
		if !ok || !d.Shape().Equal(td.Shape()) {
			continue
		}
		if one, same := datajson.Shared(d); one == nil && (same || d.Shape().Size() == 0) {
			if why := nameClash(key.Name(), fileName(key.Name()), nil); why != "" {
				return s.fail(n.at, fmt.Errorf("%w: %s: %s", ErrName, quote(key.Name()), why))
			}
			nulls = append(nulls, key)
			n.text = append(appendText(append(n.text, ','), key.Name()), ":null"...)
		}
	}
	n.text = append(n.text, '}')
	if nulls != nil {
		td = td.Exclude(nulls...)
	}
	s.nodes = append(s.nodes, n)
	inner := &savedNode{at: path.Join(n.at, classDir)}
	if err := s.classless(inner, td, depth+1); err != nil {
		return err
	}
	inner.meta.native.outer = textSum(n.text)
	return nil
}

// withoutClass removes the classes of td and of the dictionaries in it.
func withoutClass(td *tdict.TensorDict) error {
	for _, v := range td.All() {
		if inner, ok := v.(*tdict.TensorDict); ok {
			if err := withoutClass(inner); err != nil {
				return err
			}
		}
	}
	return td.SetClass("")
}

// entryClass returns the class in the entry of a dictionary.
func entryClass(td *tdict.TensorDict) string {
	if _, lazy := tdict.StackDim(td); lazy && td.Class() == "" {
		return lazyClass
	}
	return cmp.Or(lastPart(td.Class()), dictClass)
}
