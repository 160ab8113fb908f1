package forms

import (
	"strings"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// schemaOf returns the columns of td as a table.
func schemaOf(td *tdict.TensorDict) tdict.Schema {
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
	var columns tdict.Schema
	for _, s := range all {
		if isMask(byKey, s) {
			continue
		}
		s.Optional = isMask(byKey, byKey[s.Key+maskSuffix])
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

// isMask reports whether an entry is a mask: it says which values of another entry, which is not a
// mask, are missing.
func isMask(all map[nestedkey.Key]tdict.Spec, s tdict.Spec) bool {
	name, ok := strings.CutSuffix(string(s.Key), maskSuffix)
	of, there := all[nestedkey.Key(name)]
	if !ok || !there || s.Kind != tdict.KindTensor || s.DType != tensor.Bool || isMask(all, of) {
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
