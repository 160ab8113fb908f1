package forms

import (
	"errors"
	"slices"

	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// schemaOf returns the columns of td as a table. saved is the schema that was saved with td, or
// nil. Only the schema says which entries are masks, and what numbers mean.
func schemaOf(td *tdict.TensorDict, saved tdict.Schema) (columns tdict.Schema) {
	if len(td.Shape()) > 1 {
		if flat, err := td.WithBatch(td.Shape()[0]); err == nil {
			td = flat
		}
	}
	known := specsOf(saved)
	masks, deep := masksOf(td, saved), deepMasks(saved, known)
	listed := map[nestedkey.Key]bool{}
	for _, s := range tdict.SchemaOf(td) {
		columns = append(columns, around(s.Key, known, listed)...)
		if masks[s.Key] && !deep[s.Key] || listed[s.Key] {
			continue
		}
		if d, err := tdict.Get[*tdict.Data](td, s.Key); err == nil {
			if column, fits := columnOf(d); fits {
				column.Key = s.Key
				if column.Optional {
					column.Mask = table.FreeKey(s.Key+"_mask", td.Has)
				}
				columns = append(columns, column)
				continue
			}
		}
		s = meant(asText(s, known[s.Key]), known[s.Key])
		if s.Mask != "" && !masks[s.Mask] {
			s.Mask = ""
		}
		s.Optional = s.Mask != ""
		columns = append(columns, s)
	}
	return columns
}

// specsOf returns the specs of a schema by their keys.
func specsOf(schema tdict.Schema) map[nestedkey.Key]tdict.Spec {
	specs := make(map[nestedkey.Key]tdict.Spec, len(schema))
	for _, s := range schema {
		specs[s.Key] = s
	}
	return specs
}

// masksOf returns the keys of the entries of td that are masks of others by the saved schema.
func masksOf(td *tdict.TensorDict, saved tdict.Schema) map[nestedkey.Key]bool {
	masks := map[nestedkey.Key]bool{}
	for _, s := range saved {
		if s.Mask == "" || masks[s.Mask] {
			continue
		}
		mask, err := tdict.Schema{s}.MaskOf(td, s.Key)
		if err == nil && mask != nil {
			masks[s.Mask] = true
		}
	}
	return masks
}

// deepMasks returns the keys of the masks that a table must list, since it would not add them: the
// masks of values in lists, and the masks of masks.
func deepMasks(saved tdict.Schema, known map[nestedkey.Key]tdict.Spec) map[nestedkey.Key]bool {
	deep := map[nestedkey.Key]bool{}
	for _, s := range saved {
		mask := known[s.Mask]
		if s.Mask != "" && (mask.Mask != "" || mask.Depth != levelsAround(s.Key, known)) {
			for key := s.Mask; key != "" && !deep[key]; key = known[key].Mask {
				deep[key] = true
			}
		}
	}
	return deep
}

// levelsAround returns the levels of the dictionary around an entry.
func levelsAround(key nestedkey.Key, known map[nestedkey.Key]tdict.Spec) (levels int) {
	for at, nested := key.Parent(); nested && levels == 0; at, nested = at.Parent() {
		levels = known[at].Depth
	}
	return levels
}

// around returns the specs of the dictionaries around a key that say more than their entries do, as
// for lists of objects, unless they are listed.
func around(key nestedkey.Key, known map[nestedkey.Key]tdict.Spec, listed map[nestedkey.Key]bool) (outer tdict.Schema) {
	for at, nested := key.Parent(); nested; at, nested = at.Parent() {
		s, says := known[at]
		if says && s.Kind == tdict.KindDict && !listed[at] {
			listed[at] = true
			outer = append(outer, s)
		}
	}
	slices.Reverse(outer)
	return outer
}

// asText changes ragged bytes to text: with one level, or with the levels that the saved spec says.
// If that says that they are ragged numbers, such as pictures, they stay.
func asText(s, saved tdict.Spec) tdict.Spec {
	if saved.Kind == tdict.KindRagged {
		return s
	}
	depth := 1
	if saved.Kind == tdict.KindText {
		depth += saved.Depth
	}
	if s.Kind != tdict.KindRagged || s.DType != tensor.Uint8 || s.Depth != depth || len(s.Shape) > 0 || depth > 1 && len(s.Batch) > 0 {
		return s
	}
	return tdict.Spec{Key: s.Key, Kind: tdict.KindText, Shape: s.Batch, Depth: depth - 1}
}

// meant returns s with the meaning of the values from the saved spec of the entry.
func meant(s, saved tdict.Spec) tdict.Spec {
	with := s
	with.Mask, with.Unit, with.Time, with.Categories, with.Bare, with.Doc = saved.Mask, saved.Unit, saved.Time, saved.Categories, saved.Bare, saved.Doc
	if s.Shape.Equal(saved.Shape) {
		with.Columns = saved.Columns
	}
	if (tdict.Schema{with}).Validate() != nil { // the entry is of another type now
		return s
	}
	return with
}

// carried returns the schema for rows like td's: saved, without entries that td lacks, and with the
// types that td has. It returns nil if saved is nil.
func carried(saved tdict.Schema, td *tdict.TensorDict) tdict.Schema {
	if saved == nil {
		return nil
	}
	masks := masksOf(td, saved)
	has := specsOf(tdict.SchemaOf(td))
	var kept tdict.Schema
	for _, s := range saved {
		if s.Mask != "" && !masks[s.Mask] {
			s.Mask = ""
		}
		if s.Optional || td.Has(s.Key) {
			kept = append(kept, s)
		}
	}
	for _, key := range mismatched(kept, td) {
		at := slices.IndexFunc(kept, func(s tdict.Spec) bool { return s.Key == key })
		switch is, there := has[key]; {
		case !there:
			return nil
		case at < 0:
			kept = append(kept, is)
		default:
			kept[at] = meant(asText(is, kept[at]), kept[at])
		}
	}
	if kept.Check(td) != nil {
		return nil
	}
	return kept
}

// mismatched returns the keys of the entries in which td does not fit a schema, each once.
func mismatched(schema tdict.Schema, td *tdict.TensorDict) (keys []nestedkey.Key) {
	seen := map[nestedkey.Key]bool{}
	var all interface{ Unwrap() []error }
	if err := schema.Check(td); errors.As(err, &all) {
		for _, err := range all.Unwrap() {
			if wrong, ok := errors.AsType[*tdict.KeyError](err); ok && !seen[wrong.Key] {
				keys, seen[wrong.Key] = append(keys, wrong.Key), true
			}
		}
	}
	return keys
}
