package datajson

import (
	"regexp"
	"strings"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var leftover = regexp.MustCompile(`^ragged (\w+) \[(?:\d+ )*\*(?: (?:\d+|\*))*\]$`)

// IsLeftover reports whether data is a text such as "ragged float32 [3 *]". Earlier versions of
// this module saved a ragged tensor as data with that text for Python, and Python's copies of it
// have nothing else.
func IsLeftover(data any) bool {
	text, _ := data.(string)
	if !strings.HasPrefix(text, "ragged ") { // most texts
		return false
	}
	m := leftover.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	_, err := tensor.ParseDType(m[1])
	return err == nil
}

// HasLeftover reports whether a row of d is a text that [IsLeftover].
func HasLeftover(d *tdict.Data) bool {
	if one, ok := Shared(d); ok {
		return IsLeftover(one)
	}
	for v := range d.All() {
		if IsLeftover(v) {
			return true
		}
	}
	return false
}

// Errors about what an earlier version of this module has saved, or Python has made of it.
var (
	// ErrLeftover is fileformat.ErrCorrupt for a text that [IsLeftover].
	ErrLeftover = fileformat.Corrupt("the text that Python saves in the place of a ragged leaf of an earlier version of this module, without its rows: make the dataset again from its source")
	// ErrLeftoverSaved is fileformat.ErrUnsupported for such a text that is to be saved.
	ErrLeftoverSaved = fileformat.Unsupported("the text would be read as what Python saves in the place of a ragged leaf of an earlier version: change it")
	// ErrOldRagged is fileformat.ErrCorrupt for a ragged leaf in an earlier form.
	ErrOldRagged = fileformat.Corrupt("a ragged leaf in the form of an earlier version of this module, which cannot be read any more: make the dataset again from its source")
)
