// Package datajson reads the values of tdict.Data from JSON as Python writes it, in bounded memory.
//
//	r := datajson.New(text)
//	v, err := r.Value() // nil, bool, int64, float64, string, []any or *tdict.Object
//
// Its types are not safe for concurrent use.
package datajson
