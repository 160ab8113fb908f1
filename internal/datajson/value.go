package datajson

import (
	"github.com/go-tensordict/tensordict/internal/jsonlists"
	"github.com/go-tensordict/tensordict/tdict"
)

// Append appends a value of tdict.Data as JSON. NaN and infinities have Python's spelling.
func Append(b []byte, v any) []byte {
	return jsonlists.Values{Text: jsonlists.AppendText[string], Python: true}.Append(b, v)
}

// Fixed returns d as data whose values cannot be changed, like data beside a mapped file.
func Fixed(d *tdict.Data) *tdict.Data {
	return d.Ops().Fixed()
}

// Shared returns the value of all rows of d or, if d has no rows, the value that it was made with.
// It returns false if rows differ, or if there is neither a row nor a value.
func Shared(d *tdict.Data) (any, bool) {
	return d.Ops().Shared()
}
