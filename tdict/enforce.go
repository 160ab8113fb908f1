package tdict

import (
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/nestedkey"
)

// A bond ties a dictionary to a schema that holds.
type bond struct {
	root   *TensorDict // the dictionary that Enforce was called on
	schema Schema
	index  schemaIndex // of schema
	specs  specsByDict
	prefix nestedkey.Key           // "", or the key of the dictionary in root and a slash
	own    map[nestedkey.Key]*Spec // specs of the dictionary's own entries
}

// specsByDict has the specs of a schema by the prefix of a dictionary and the name of an entry.
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

// outer returns the key of the dictionary in root, or false if it is root.
func (b *bond) outer() (nestedkey.Key, bool) {
	return nestedkey.Key(strings.TrimSuffix(string(b.prefix), "/")), b.prefix != ""
}

// Enforce makes s hold for td: it checks td, and from then on every change of td, or of a
// dictionary in it, that would break s returns [ErrSchema], with the key, what was got and wanted,
// and changes nothing. Enforce(nil) ends that. Elements can be written as before.
//
// As with Lock, results of operations are not bound: a Copy can be changed freely. What is bound
// stays bound through td only: a dictionary that is set in td is set as a copy of its structure,
// and one that is taken out of td is free. Entries that must come together, as those of an optional
// dictionary, are set in one Set of a dictionary that has them all, or in one Update.
//
// Enforce returns what [Schema.Check] returns, and ErrSchema if td is itself in a dictionary that is
// bound, or holds a dictionary twice, or one that is bound by itself. On an error td stays as it
// was. Enforce is a write, like Set, which a locked dictionary allows.
func (td *TensorDict) Enforce(s Schema) error {
	if td.bond != nil {
		if key, inner := td.bond.outer(); inner {
			return failed("enforce", fmt.Errorf("%w: %q is in a dictionary that has a schema: call Enforce of that one", ErrSchema, string(key)))
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
	td.bind(&bond{root: td, schema: s, index: index, specs: specs, own: specs[""]})
	return nil
}

// checkOwn returns ErrSchema if a dictionary in td was seen, or is bound to another one than root.
func (td *TensorDict) checkOwn(root *TensorDict, seen map[*TensorDict]bool) error {
	for name, v := range td.entries.all() {
		d, ok := asDict(v)
		if !ok {
			continue
		}
		var err error
		switch {
		case d.bond != nil && d.bond.root != root:
			err = fmt.Errorf("%w: got a dictionary that has a schema of its own: Set a Copy", ErrSchema)
		case seen[d]:
			err = fmt.Errorf("%w: got a dictionary that is in it twice: Set a Copy", ErrSchema)
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

// bind ties td and all dictionaries in it to a schema, or frees them for nil.
func (td *TensorDict) bind(b *bond) {
	td.bond = b
	for name, v := range td.entries.all() {
		if d, ok := asDict(v); ok {
			d.bind(b.below(name))
		}
	}
}

// unbind frees td and all dictionaries in it, if td is bound.
func (td *TensorDict) unbind() {
	if td.bond != nil {
		td.bind(nil)
	}
}

// below returns the bond of a dictionary under a name of one part, in one that has the bond b.
func (b *bond) below(name nestedkey.Key) *bond {
	if b == nil {
		return nil
	}
	c := *b
	c.prefix = b.prefix + name + "/"
	c.own = b.specs[c.prefix]
	return &c
}

// checkPut returns ErrSchema if v must not be set under key, whose first part is missing if it has
// more. was is the value there, if it is known, which v replaces.
func (td *TensorDict) checkPut(key nestedkey.Key, v, was Value) error {
	if td.bond == nil {
		return nil
	}
	first, rest, nested := key.Cut()
	if nested {
		made := td.made()
		placement{made, rest, v}.set()
		return td.bond.check(first, key, made)
	}
	if sameType(was, v) {
		return nil
	}
	if spec := td.bond.own[key]; spec != nil && spec.Kind != KindDict {
		return spec.checkValue(v, td.bond.root.batch)
	}
	return td.bond.check(key, key, v)
}

// sameType reports whether v fits wherever was does: both are tensors of one dtype and shape.
func sameType(was, v Value) bool {
	a, ok := asTensor(was)
	b, both := asTensor(v)
	return ok && both && a.DType() == b.DType() && a.Shape().Equal(b.Shape())
}

// mayDrop returns an error if the entry under a name of one part must not be removed.
func (td *TensorDict) mayDrop(name nestedkey.Key) error {
	if td.Locked() {
		return td.errLocked()
	}
	return td.checkDrop(name)
}

// checkDrop returns ErrSchema if the entry under a name of one part must not be removed.
func (td *TensorDict) checkDrop(name nestedkey.Key) error {
	if td.bond == nil {
		return nil
	}
	return td.bond.check(name, name, nil)
}

// checkContent returns ErrSchema if td must not become a dictionary like d.
func (td *TensorDict) checkContent(d *TensorDict) error {
	if td.bond == nil {
		return nil
	}
	key, inner := td.bond.outer()
	if !inner {
		return td.bond.schema.Check(d)
	}
	root := *td.bond
	root.prefix = ""
	return root.check(key, key, d)
}

// check returns ErrSchema if the entry under a key of the dictionary must not become v, or nothing
// for nil. The error names keys of root, but for the one that was asked about.
func (b *bond) check(key, asked nestedkey.Key, v Value) (err error) {
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

// with returns a dictionary like td of v alone, under a key, or of what is around it for nil.
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

// put sets the value under a name of one part.
func (td *TensorDict) put(name nestedkey.Key, v Value) {
	was := td.entries.put(name, v)
	if td.bond != nil {
		td.tie(name, was, v)
	}
}

// drop removes the entry under a name of one part, which must be there.
func (td *TensorDict) drop(name nestedkey.Key) {
	was := td.entries.drop(name)
	if td.bond != nil {
		td.tie(name, was, nil)
	}
}

// tie frees a value that was under a name of one part of td, which is bound, and binds v.
func (td *TensorDict) tie(name nestedkey.Key, was, v Value) {
	if d, ok := asDict(was); ok {
		d.bind(nil)
	}
	if d, ok := asDict(v); ok {
		d.bind(td.bond.below(name))
	}
}

// replaceAll replaces the entries.
func (td *TensorDict) replaceAll(entries store) {
	b := td.bond
	td.unbind()
	td.entries = entries
	if b != nil {
		td.bind(b)
	}
}

// CheckSet returns the error that Set would return for the schema of v's dictionary, which may be
// locked.
func (v *dictOps) CheckSet(key nestedkey.Key, value Value) error {
	td := (*TensorDict)(v)
	return failedKey("set", key, td.checkPut(key, value, nil))
}
