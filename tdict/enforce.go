package tdict

import (
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/nestedkey"
)

// A binding is the schema that a dictionary must fit, see Enforce.
type binding struct {
	root   *TensorDict // the dictionary that Enforce was called on
	schema Schema
	index  schemaIndex // the index of schema
	specs  specsByDict
	prefix nestedkey.Key           // the key of the dictionary in root and a slash; "" for root
	own    map[nestedkey.Key]*Spec // the specs of the dictionary's own entries
}

// specsByDict has the specs of a schema, by the prefix of a dictionary and the name of an entry.
type specsByDict map[nestedkey.Key]map[nestedkey.Key]*Spec

func (s Schema) byDict() specsByDict {
	all := specsByDict{}
	for i := range s {
		cut := strings.LastIndexByte(string(s[i].Key), '/') + 1
		prefix, name := s[i].Key[:cut], s[i].Key[cut:]
		if all[prefix] == nil {
			all[prefix] = map[nestedkey.Key]*Spec{}
		}
		all[prefix][name] = &s[i]
	}
	return all
}

// outer returns the key of the dictionary in root, or false if it is root itself.
func (b *binding) outer() (nestedkey.Key, bool) {
	return nestedkey.Key(strings.TrimSuffix(string(b.prefix), "/")), b.prefix != ""
}

// Enforce checks that td fits s, and binds td to s. Afterwards a change of td or of a dictionary in
// it that would break s returns [ErrSchema] and changes nothing. The error has the key, what was
// got and what was wanted. Enforce(nil) ends this. Elements can be written as before.
//
// Results of operations are not bound: a Copy can be changed freely. While td is bound, Set stores
// a Copy of a dictionary instead of sharing it, so that later changes of the caller's dictionary do
// not reach td. A dictionary that is taken out of td is not bound any more. A schema may allow some
// entries only together: an optional dictionary may be absent, but if it is present, it must have
// all its entries that are not optional. To add such a dictionary, call Set or Update with all of
// these entries in it.
//
// Enforce returns the errors of [Schema.Check], and ErrSchema if td is in a dictionary that is
// bound, holds a dictionary twice, or holds one that has another schema. On an error td is
// unchanged. Enforce is a write, like Set, but a locked dictionary allows it.
func (td *TensorDict) Enforce(s Schema) error {
	if td.binding != nil {
		if key, inner := td.binding.outer(); inner {
			return failed("enforce", fmt.Errorf("%w: %q is in a dictionary that has a schema: call Enforce on the outer one", ErrSchema, string(key)))
		}
	}
	if s == nil {
		td.unbind()
		return nil
	}
	s = s.clone()
	index, err := s.index()
	if err == nil {
		err = s.Check(td)
	}
	if err == nil {
		err = td.checkOwn(td, map[*TensorDict]bool{})
	}
	if err != nil {
		return err
	}
	specs := s.byDict()
	td.bind(&binding{root: td, schema: s, index: index, specs: specs, own: specs[""]})
	return nil
}

// checkOwn returns ErrSchema if a dictionary in td is in seen, or is bound by another root.
func (td *TensorDict) checkOwn(root *TensorDict, seen map[*TensorDict]bool) error {
	for name, v := range td.entries.all() {
		d, ok := asDict(v)
		if !ok {
			continue
		}
		var err error
		switch {
		case d.binding != nil && d.binding.root != root:
			err = fmt.Errorf("%w: got a dictionary that has another schema: Set a Copy", ErrSchema)
		case seen[d]:
			err = fmt.Errorf("%w: got a dictionary that is in there twice: Set a Copy", ErrSchema)
		default:
			seen[d] = true
			err = d.checkOwn(root, seen)
		}
		if err != nil {
			return within("enforce", name, err)
		}
	}
	return nil
}

// bind binds td and all dictionaries in it, or unbinds them if b is nil.
func (td *TensorDict) bind(b *binding) {
	td.binding = b
	for name, v := range td.entries.all() {
		if d, ok := asDict(v); ok {
			d.bind(b.below(name))
		}
	}
}

// unbind unbinds td and all dictionaries in it, if td is bound.
func (td *TensorDict) unbind() {
	if td.binding != nil {
		td.bind(nil)
	}
}

// below returns the binding of the dictionary under name, which has one part. It returns nil if b
// is nil.
func (b *binding) below(name nestedkey.Key) *binding {
	if b == nil {
		return nil
	}
	c := *b
	c.prefix = b.prefix + name + "/"
	c.own = b.specs[c.prefix]
	return &c
}

// checkPut returns ErrSchema if v must not be set under key. If key has several parts, td lacks the
// first one. was is the value that v replaces, or nil if it is unknown.
func (td *TensorDict) checkPut(key nestedkey.Key, v, was Value) error {
	if td.binding == nil {
		return nil
	}
	first, rest, nested := key.Cut()
	if nested {
		made := td.newInner()
		placement{made, rest, v}.set()
		return td.binding.check(first, key, made)
	}
	if sameType(was, v) {
		return nil
	}
	if spec := td.binding.own[key]; spec != nil && spec.Kind != KindDict {
		return spec.checkValue(v, td.binding.root.batch)
	}
	return td.binding.check(key, key, v)
}

// sameType reports whether both values are tensors of the same dtype and shape.
func sameType(was, v Value) bool {
	a, ok := asTensor(was)
	b, both := asTensor(v)
	return ok && both && a.DType() == b.DType() && a.Shape().Equal(b.Shape())
}

// checkRemovable returns an error if the entry under name, of one part, must not be removed.
func (td *TensorDict) checkRemovable(name nestedkey.Key) error {
	if td.Locked() {
		return td.errLocked()
	}
	return td.checkDrop(name)
}

// checkDrop returns ErrSchema if the entry under name, of one part, must not be removed.
func (td *TensorDict) checkDrop(name nestedkey.Key) error {
	if td.binding == nil {
		return nil
	}
	return td.binding.check(name, name, nil)
}

// checkContent returns ErrSchema if the entries of td must not be replaced by the entries of d.
func (td *TensorDict) checkContent(d *TensorDict) error {
	if td.binding == nil {
		return nil
	}
	key, inner := td.binding.outer()
	if !inner {
		return td.binding.schema.Check(d)
	}
	root := *td.binding
	root.prefix = ""
	return root.check(key, key, d)
}

// check returns ErrSchema if the entry under key must not become v, or must not be removed if v is
// nil. The error starts with the key in root, unless that is asked.
func (b *binding) check(key, asked nestedkey.Key, v Value) (err error) {
	key, asked = b.prefix+key, b.prefix+asked
	refuse := func(at nestedkey.Key, refused error) {
		if err == nil && at != asked {
			refused = fmt.Errorf("%q: %w", string(at), refused)
		}
		if err == nil {
			err = refused
		}
	}
	if v != nil {
		b.index.checkOther(key, v, refuse)
	}
	tree := b.root.with(key, v)
	for i := range b.schema {
		if s := &b.schema[i]; err == nil && s.Key.HasPrefix(key) {
			if lacks := b.index.checkEntry(tree, s); lacks != nil {
				refuse(s.Key, lacks)
			}
		}
	}
	return err
}

// with returns a dictionary with td's batch shape that has only v, under key. If v is nil, it has
// only the dictionaries around key.
func (td *TensorDict) with(key nestedkey.Key, v Value) *TensorDict {
	tree := New(td.batch...)
	if v == nil {
		above, nested := key.Parent()
		if !nested {
			return tree
		}
		key, v = above, New(td.batch...)
	}
	placement{tree, key, v}.set()
	return tree
}

// put sets the value under name, which has one part.
func (td *TensorDict) put(name nestedkey.Key, v Value) {
	was := td.entries.put(name, v)
	if td.binding != nil {
		td.rebind(name, was, v)
	}
}

// drop removes the entry under name, which has one part and exists.
func (td *TensorDict) drop(name nestedkey.Key) {
	was := td.entries.drop(name)
	if td.binding != nil {
		td.rebind(name, was, nil)
	}
}

// rebind unbinds was and binds v, which replaces it under name in td. td is bound.
func (td *TensorDict) rebind(name nestedkey.Key, was, v Value) {
	if d, ok := asDict(was); ok {
		d.bind(nil)
	}
	if d, ok := asDict(v); ok {
		d.bind(td.binding.below(name))
	}
}

// replaceAll replaces the entries of td.
func (td *TensorDict) replaceAll(entries store) {
	b := td.binding
	td.unbind()
	td.entries = entries
	if b != nil {
		td.bind(b)
	}
}

// CheckSet returns the schema error that Set would return. The dictionary may be locked.
func (v *dictOps) CheckSet(key nestedkey.Key, value Value) error {
	td := (*TensorDict)(v)
	return failedKey("set", key, td.checkPut(key, value, nil))
}
