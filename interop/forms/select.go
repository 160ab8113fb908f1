package forms

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/where"
)

// A Selection says which rows and entries of the inputs are used, and under which keys. The zero
// Selection is all of them.
type Selection struct {
	// Where, if not nil, is the condition for the rows. The schema of the input says which entries
	// are masks.
	Where *where.Condition
	// Keys are patterns of the entries to use, see [Select]; nil means all. Drop are patterns of
	// entries to leave out, also if Keys has them. The mask of an entry goes with it.
	Keys, Drop []nestedkey.Key
	// Rename has new keys of entries and dictionaries, each after the key that it replaces. The
	// name in a table becomes the new key.
	Rename [][2]nestedkey.Key
}

// all reports whether sel selects everything and changes nothing.
func (sel Selection) all() bool {
	return sel.Where == nil && sel.Keys == nil && sel.Drop == nil && sel.Rename == nil
}

// Select returns the keys of td that fit a pattern: the key itself, also of a dictionary, or keys
// of the same number of parts in which * stands for any text within a part, ? for a character and
// [a-z] for a character of a range, as in path.Match. It returns tdict.ErrMissing if no key fits.
func Select(td *tdict.TensorDict, pattern nestedkey.Key) (keys []nestedkey.Key, err error) {
	if td.Has(pattern) {
		return []nestedkey.Key{pattern}, nil
	}
	if strings.ContainsAny(string(pattern), "*?[") {
		for key := range td.NestedKeys() {
			fits, err := path.Match(string(pattern), string(key))
			if err != nil {
				return nil, fmt.Errorf("%w: the pattern %q: %w", nestedkey.ErrKey, pattern, err)
			}
			if fits {
				keys = append(keys, key)
			}
		}
	}
	if len(keys) == 0 {
		_, err = td.Get(pattern)
	}
	return keys, err
}

// selectAll returns the keys that fit any of several patterns, each once.
func selectAll(td *tdict.TensorDict, patterns []nestedkey.Key) (all []nestedkey.Key, err error) {
	has := map[nestedkey.Key]bool{}
	for _, pattern := range patterns {
		keys, err := Select(td, pattern)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			if !has[key] {
				all, has[key] = append(all, key), true
			}
		}
	}
	return all, nil
}

// selected returns the rows and entries of r that a selection has.
func (s *saver) selected(r rows, sel Selection) (_ rows, err error) {
	if sel.Where != nil {
		r = s.filtered(r, keeping(sel.Where, r.says))
	}
	if sel.Keys != nil || sel.Drop != nil {
		before := r
		if r, err = narrowed(r, sel.Keys, sel.Drop); err != nil {
			return r, err
		}
		if sel.Where == nil && before.only != nil {
			*before.only = entriesOf(r.like)
		}
		for _, spec := range before.says {
			if spec.Mask != "" && before.like.Has(spec.Mask) && r.like.Has(spec.Key) && !r.like.Has(spec.Mask) {
				s.opt.Open.note(fmt.Sprintf("%s has no mask any more: its missing values are 0, or empty", errtext.Quote(string(spec.Key))))
			}
		}
	}
	if sel.Rename != nil {
		return renamed(r, sel.Rename)
	}
	return r, nil
}

// entriesOf returns the keys of the leaves of td and of its empty dictionaries.
func entriesOf(td *tdict.TensorDict) (keys []nestedkey.Key) {
	for key := range td.NestedKeys() {
		if inner, err := td.Dict(key); err != nil || inner.NumEntries() == 0 {
			keys = append(keys, key)
		}
	}
	return keys
}

// Narrow leaves out all entries of Dict and Schema but the entries that fit one of keys, or all if
// that is nil, and leaves out the entries that fit one of drop. Masks go with their entries, as in
// [Selection]. Narrow returns tdict.ErrMissing for a pattern that no key fits, and then changes
// nothing. The form must not be a table.
func (in *Input) Narrow(keys, drop []nestedkey.Key) error {
	if in.Dict == nil {
		return fmt.Errorf("%w: got %v, want a form that is mapped", ErrForm, in.Form)
	}
	r, err := narrowed(rows{like: in.Dict, says: in.saved()}, keys, drop)
	if err != nil {
		return failed("open", in.Path, err)
	}
	in.Dict, in.like, in.Schema = r.like, r.like, r.schema
	return nil
}

// narrowed returns r with the entries that fit one of keys, all if that is nil, and none of drop.
func narrowed(r rows, keys, drop []nestedkey.Key) (rows, error) {
	kept, err := selectAll(r.like, keys)
	if err != nil {
		return r, err
	}
	dropped, err := selectAll(r.like, drop)
	if err != nil {
		return r, err
	}
	kept, dropped = withMasks(r.like, r.says, kept, true), withMasks(r.like, r.says, dropped, false)
	had := r.like
	r, err = r.each(func(td *tdict.TensorDict) (_ *tdict.TensorDict, err error) {
		if keys != nil {
			if td, err = td.Select(kept...); err != nil {
				return nil, err
			}
		}
		return td.Exclude(dropped...), nil
	})
	if err != nil {
		return r, err
	}
	r.says = slices.DeleteFunc(slices.Clone(r.says), func(s tdict.Spec) bool { return had.Has(s.Key) && !r.like.Has(s.Key) })
	r.says = carried(r.says, r.like)
	r.schema = schemaOf(r.like, r.says)
	return r, nil
}

// withMasks returns keys, the masks of their entries, and the masks of these masks. Unless shared
// is set, it leaves out a mask that an entry without one of the keys has too.
func withMasks(td *tdict.TensorDict, says tdict.Schema, keys []nestedkey.Key, shared bool) []nestedkey.Key {
	all, has := slices.Clone(keys), map[nestedkey.Key]bool{}
	for _, key := range keys {
		has[key] = true
	}
	within := func(key nestedkey.Key) bool {
		for outer := true; outer && !has[key]; {
			if key, outer = key.Parent(); !outer {
				return false
			}
		}
		return true
	}
	for more := true; more; {
		more = false
		needed := map[nestedkey.Key]bool{}
		for _, s := range says {
			needed[s.Mask] = needed[s.Mask] || !within(s.Key)
		}
		for _, s := range says {
			if s.Mask != "" && within(s.Key) && td.Has(s.Mask) && !within(s.Mask) && (shared || !needed[s.Mask]) {
				all, has[s.Mask], more = append(all, s.Mask), true, true
			}
		}
	}
	return all
}

// renamed returns r with new keys.
func renamed(r rows, names [][2]nestedkey.Key) (rows, error) {
	r, err := r.each(func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
		out := td.Copy()
		for _, name := range names {
			if err := out.Rename(name[0], name[1]); err != nil {
				return nil, err
			}
		}
		return out, nil
	})
	if err != nil {
		return r, err
	}
	known := specsOf(r.says)
	r.schema = slices.Clone(r.schema)
	for i, s := range r.schema {
		if s.Optional && s.Mask == "" { // a table finds its mask by its key
			r.schema[i].Mask = known[s.Key].Mask
		}
	}
	r.says = renameSpecs(r.says, names)
	r.schema = renameSpecs(r.schema, names)
	return r, nil
}

// renameSpecs returns a schema with new keys.
func renameSpecs(schema tdict.Schema, names [][2]nestedkey.Key) tdict.Schema {
	out := slices.Clone(schema)
	for _, name := range names {
		// an optional entry of that key, which the rows lack
		out = slices.DeleteFunc(out, func(s tdict.Spec) bool { return s.Key == name[1] })
		for i := range out {
			s := &out[i]
			if s.Key == name[0] {
				s.Columns = nil
			}
			s.Key = renameKey(s.Key, name)
			if s.Mask != "" {
				s.Mask = renameKey(s.Mask, name)
			}
		}
	}
	return out
}

// renameKey returns the new name of a key, or of a key in a dictionary with a new name.
func renameKey(key nestedkey.Key, name [2]nestedkey.Key) nestedkey.Key {
	if key.HasPrefix(name[0]) {
		return name[1] + key[len(name[0]):]
	}
	return key
}
