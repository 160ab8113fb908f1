package datajson

import (
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// IsLeftover reports whether data is a text such as "ragged float32 [3 *]". Earlier versions of this
// module saved a ragged tensor as data with that text for Python, and Python's copies of it have
// nothing else.
func IsLeftover(data any) bool {
	text, ok := data.(string)
	rest, isRagged := strings.CutPrefix(text, "ragged ")
	dtype, shape, hasShape := strings.Cut(strings.TrimSuffix(rest, "]"), " [")
	if !ok || !isRagged || !hasShape || !strings.HasSuffix(rest, "]") || !strings.Contains(shape, "*") {
		return false
	}
	if _, err := tensor.ParseDType(dtype); err != nil {
		return false
	}
	for dim := range strings.SplitSeq(shape, " ") {
		if _, err := strconv.ParseUint(dim, 10, 63); err != nil && dim != "*" {
			return false
		}
	}
	return true
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

// ErrLeftover is fileformat.ErrCorrupt for a text that [IsLeftover], and for a ragged leaf in the form
// of an earlier version.
var ErrLeftover = fileformat.Corrupt("a ragged leaf of an earlier version of this module, or the text that Python saves in the place of one, without its rows: save the original again, and copy that")

// ErrLeftoverSaved is fileformat.ErrUnsupported for a text that [IsLeftover], and is to be saved.
var ErrLeftoverSaved = fileformat.Unsupported("the text would be read as what an earlier version of this module saved in the place of a ragged leaf")
