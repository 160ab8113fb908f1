package datajson

import (
	"github.com/go-tensordict/tensordict/internal/jsonlists"
	"github.com/go-tensordict/tensordict/tdict"
)

// Append appends a value of tdict.Data as JSON. NaN and the infinities are spelled as Python does.
func Append(b []byte, v any) []byte {
	return jsonlists.Values{Text: jsonlists.AppendText[string], Python: true}.Append(b, v)
}

// Fixed returns d as data that keeps its values, as befits data beside a mapped file.
func Fixed(d *tdict.Data) *tdict.Data {
	return d.Plan().(interface{ Fixed() *tdict.Data }).Fixed()
}
