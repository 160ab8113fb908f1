package safetensors

import (
	"slices"

	"github.com/go-tensordict/tensordict/internal/errtext"
)

// A dtype is a type of elements, by its name in the format.
type dtype struct {
	name string
	size int // bytes
}

// dtypes lists the dtypes in the order of the original, which writes tensors of the last dtype
// first. The original also has dtypes smaller than a byte: F4, F6_E2M3 and F6_E3M2, after BOOL.
var dtypes = []dtype{
	{"BOOL", 1},
	{"U8", 1},
	{"I8", 1},
	{"F8_E5M2", 1},
	{"F8_E4M3", 1},
	{"F8_E8M0", 1},
	{"F8_E4M3FNUZ", 1},
	{"F8_E5M2FNUZ", 1},
	{"I16", 2},
	{"U16", 2},
	{"F16", 2},
	{"BF16", 2},
	{"I32", 4},
	{"U32", 4},
	{"F32", 4},
	{"C64", 8},
	{"F64", 8},
	{"I64", 8},
	{"U64", 8},
}

// rank returns the position of a dtype in dtypes, or -1.
func rank(name string) int {
	return slices.IndexFunc(dtypes, func(d dtype) bool { return d.name == name })
}

// Size returns the size of an element in bytes. ok is false for a dtype that this package does not
// support.
func Size(dtype string) (bytes int, ok bool) {
	at := rank(dtype)
	if at < 0 {
		return 0, false
	}
	return dtypes[at].size, true
}

// unknown returns the error for a dtype that is not in dtypes.
func unknown(name string) error { return unsupported("got %s", errtext.Quote(name)) }
