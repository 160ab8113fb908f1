package columns

import (
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// An entry is an entry of a schema that is a field of a record or of a struct.
type entry struct {
	name    string // of the field: the only one of Spec.Columns, or else of the key
	spec    tdict.Spec
	masks   []tdict.Spec // from the deepest one on
	inner   []*entry     // the entries of a dictionary
	implied bool         // a dictionary that the schema does not list
	names   map[string]bool
}

// entriesOf returns the entries of a schema that are not masks.
func entriesOf(schema tdict.Schema) []*entry {
	specs, masks := make(map[nestedkey.Key]tdict.Spec, len(schema)), masksOf(schema)
	for _, s := range schema {
		specs[s.Key] = s
	}
	all := map[nestedkey.Key]*entry{}
	root := &entry{}
	var add func(s tdict.Spec, implied bool)
	add = func(s tdict.Spec, implied bool) {
		in := root
		if outer, nested := s.Key.Parent(); nested {
			if all[outer] == nil {
				add(tdict.Spec{Key: outer, Kind: tdict.KindDict}, true)
			}
			in = all[outer]
		}
		if implied {
			s.Shape, s.Depth = in.spec.Shape, in.spec.Depth
		}
		e := &entry{name: s.Key.Name(), spec: s, implied: implied}
		if len(s.Columns) == 1 && !in.names[s.Columns[0]] {
			e.name = s.Columns[0]
		}
		for in.names[e.name] { // another entry has it as the name of its column
			e.name += "_"
		}
		for key := s.Mask; key != ""; key = e.masks[len(e.masks)-1].Mask {
			mask, ok := specs[key]
			if !ok {
				mask = tdict.Spec{Key: key, Depth: in.spec.Depth}
			}
			e.masks = append(e.masks, mask)
		}
		if in.names == nil {
			in.names = map[string]bool{}
		}
		all[s.Key], in.inner, in.names[e.name] = e, append(in.inner, e), true
	}
	for _, s := range schema {
		if !masks[s.Key] {
			add(s, false)
		}
	}
	return root.inner
}

// masksOf returns the keys of masks.
func masksOf(schema tdict.Schema) map[nestedkey.Key]bool {
	masks := map[nestedkey.Key]bool{}
	for i := range schema {
		masks[schema[i].Mask] = true
	}
	return masks
}
