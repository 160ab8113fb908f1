package forms

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// storable returns an inferred schema with keys that a directory can have: a name of the format,
// such as "shape", gets a "_" after it, and a long name is cut. Columns keeps the name in the
// table. separator is between the parts of a key in a header. note is called with each.
func storable(f Form, schema tdict.Schema, separator string, note func(text string)) tdict.Schema {
	if !slices.ContainsFunc(schema, func(s tdict.Spec) bool { return renamedPart(s.Key) >= 0 }) {
		return schema
	}
	taken := map[nestedkey.Key]bool{}
	for _, s := range schema {
		taken[s.Key] = true
	}
	out := slices.Clone(schema)
	for i := 0; i < len(out); i++ { // out grows
		for at := renamedPart(out[i].Key); at >= 0; at = renamedPart(out[i].Key) {
			from, to := prefixed(out[i].Key, at), freeName(out[i].Key, at, taken)
			note(fmt.Sprintf("%s becomes the entry %s: no entry of a directory can have that name", errtext.Quote(from.Name()), errtext.Quote(string(to))))
			out = moved(f, out, separator, from, to)
		}
	}
	return out
}

// renamedPart returns the number of the first part of a key that no directory can have, or -1.
func renamedPart(key nestedkey.Key) int {
	i := 0
	for part := range key.Parts() {
		if memmap.CheckName(part) != nil {
			return i
		}
		i++
	}
	return -1
}

// prefixed returns the first parts of a key, up to number at.
func prefixed(key nestedkey.Key, at int) nestedkey.Key {
	parts := slices.Collect(key.Parts())
	return nestedkey.Of(parts[0], parts[1:at+1]...)
}

// freeName returns the prefix of a key up to part at, with another name for this part.
func freeName(key nestedkey.Key, at int, taken map[nestedkey.Key]bool) nestedkey.Key {
	const most = 80 // bytes of a cut name: each may take three in the name of a file
	parts := slices.Collect(key.Parts())[:at+1]
	name := parts[at]
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "")
	}
	for i := 1; ; i++ {
		if parts[at] = name + "_"; i > 1 {
			parts[at] += strconv.Itoa(i)
		}
		free := nestedkey.Of(parts[0], parts[1:]...)
		if !taken[free] && memmap.CheckName(parts[at]) == nil {
			taken[free] = true
			return free
		}
	}
}

// moved returns a schema in which the entry or dictionary from is to. Columns keeps the names.
func moved(f Form, schema tdict.Schema, separator string, from, to nestedkey.Key) tdict.Schema {
	first := slices.IndexFunc(schema, func(s tdict.Spec) bool { return s.Key.HasPrefix(from) })
	for i := range schema {
		s := &schema[i]
		if s.Mask.HasPrefix(from) {
			s.Mask = to + s.Mask[len(from):]
		}
		if !s.Key.HasPrefix(from) {
			continue
		}
		switch {
		case s.Columns != nil:
		case f == CSV:
			s.Columns = headers(s, separator)
		case s.Key == from:
			s.Columns = []string{from.Name()}
		}
		s.Key = to + s.Key[len(from):]
	}
	if f != CSV && schema[first].Key != to { // a dictionary that is not listed
		depth := levelsAround(to, specsOf(schema))
		schema = slices.Insert(schema, first, tdict.Spec{Key: to, Kind: tdict.KindDict, Depth: depth, Columns: []string{from.Name()}})
	}
	return schema
}

// headers returns the headers of the columns of an entry.
func headers(s *tdict.Spec, separator string) (names []string) {
	for i := range s.Shape.Size() {
		header := strings.Join(slices.Collect(s.Key.Parts()), separator)
		for _, at := range s.Shape.Position(i) {
			header += "." + strconv.Itoa(at)
		}
		names = append(names, header)
	}
	return names
}
