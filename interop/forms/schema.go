package forms

import (
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// schemaOf returns the columns of td as a table. saved is the schema that was saved with td, or
// nil. It alone says which entries are masks.
func schemaOf(td *tdict.TensorDict, saved tdict.Schema) tdict.Schema {
	if len(td.Shape()) > 1 {
		if flat, err := td.WithBatch(td.Shape()[0]); err == nil {
			td = flat
		}
	}
	all := tdict.SchemaOf(td)
	byKey := map[nestedkey.Key]tdict.Spec{}
	for i, s := range all {
		all[i] = asText(s)
		byKey[s.Key] = all[i]
	}
	masks := map[nestedkey.Key]bool{}
	for _, s := range saved {
		mask, there := byKey[s.Key+maskSuffix]
		if of := byKey[s.Key]; s.Optional && there && of.Key == s.Key && isMask(mask, of) {
			masks[mask.Key] = true
		}
	}
	var columns tdict.Schema
	for _, s := range all {
		if masks[s.Key] {
			continue
		}
		if d, err := tdict.Get[*tdict.Data](td, s.Key); err == nil {
			if column, fits := columnOf(d); fits && !(column.Optional && td.Has(s.Key+maskSuffix)) {
				column.Key = s.Key
				columns = append(columns, column)
				continue
			}
		}
		s.Optional = masks[s.Key+maskSuffix]
		columns = append(columns, s)
	}
	return columns
}

// maskSuffix ends the key of a mask.
const maskSuffix = "_mask"

// asText changes ragged bytes with one level to text.
func asText(s tdict.Spec) tdict.Spec {
	if s.Kind != tdict.KindRagged || s.DType != tensor.Uint8 || s.Depth != 1 || len(s.Shape) > 0 {
		return s
	}
	return tdict.Spec{Key: s.Key, Kind: tdict.KindText, Shape: s.Batch, Optional: s.Optional, Doc: s.Doc}
}

// isMask reports whether an entry can be the mask of another one.
func isMask(s, of tdict.Spec) bool {
	if s.Kind != tdict.KindTensor || s.DType != tensor.Bool {
		return false
	}
	switch of.Kind {
	case tdict.KindTensor, tdict.KindText:
		return s.Shape.Equal(of.Shape)
	case tdict.KindRagged:
		return len(s.Shape) == 0 && len(of.Batch) == 0
	}
	return false
}

// lookalikes returns the keys of entries that have a mask by its name and shape.
func lookalikes(td *tdict.TensorDict) (keys []nestedkey.Key) {
	byKey := map[nestedkey.Key]tdict.Spec{}
	all := tdict.SchemaOf(td)
	for _, s := range all {
		byKey[s.Key] = asText(s)
	}
	for _, s := range all {
		if mask, there := byKey[s.Key+maskSuffix]; there && isMask(mask, byKey[s.Key]) {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// Guessed returns the keys of entries that other packages take to have a mask, by its name, since
// no schema was saved with the dataset that says it: Schema does not list them as Optional.
func (in *Input) Guessed() []nestedkey.Key {
	if in.Form.isTable() || in.saved() != nil {
		return nil
	}
	return lookalikes(in.Dict)
}
