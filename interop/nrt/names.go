package nrt

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/tensor"
)

const (
	boundsName  = "bounds"  // name of the array with the ends of the rows of a level
	lengthsName = "lengths" // name of an array that old writers added
	boundsDType = "I64"
)

// dtypes lists the dtypes of the format, and their names in it.
var dtypes = []struct {
	name  string
	dtype tensor.DType
}{
	{"BOOL", tensor.Bool},
	{"U8", tensor.Uint8}, {"U16", tensor.Uint16}, {"U32", tensor.Uint32}, {"U64", tensor.Uint64},
	{"I8", tensor.Int8}, {"I16", tensor.Int16}, {"I32", tensor.Int32}, {"I64", tensor.Int64},
	{"F16", tensor.Float16}, {"F32", tensor.Float32}, {"F64", tensor.Float64},
}

// dtypeOf returns the dtype with a name in the format.
func dtypeOf(name string) (tensor.DType, error) {
	for _, d := range dtypes {
		if d.name == name {
			return d.dtype, nil
		}
	}
	return 0, unsupported("got dtype %s, want bools, integers, or IEEE floats", errtext.Quote(name))
}

// spelled returns the name of a dtype in the format.
func spelled(dtype tensor.DType) (string, error) {
	for _, d := range dtypes {
		if d.dtype == dtype {
			return d.name, nil
		}
	}
	return "", unsupported("got dtype %v, want bools, integers, or IEEE floats: the format has no other", dtype)
}

// nameOf returns the name of the array of a key at a depth.
func nameOf(depth int, key string) string { return fmt.Sprintf("dim%d/%s", depth, key) }

// parseName reverses nameOf.
func parseName(name string) (depth int, key string, ok bool) {
	number, key, ok := strings.Cut(strings.TrimPrefix(name, "dim"), "/")
	depth, err := strconv.Atoi(number)
	return depth, key, ok && err == nil && nameOf(depth, key) == name
}

// checkKey returns ErrUnsupported for a key that is invalid for a field.
func checkKey(key string) error {
	switch {
	case key == "" || strings.Contains(key, "/"):
		return unsupported("got the key %s, want a key that is not empty and has no \"/\"", errtext.Quote(key))
	case key == "mask":
		return unsupported("got the key %s, which nested_ragged_tensors reserves", errtext.Quote(key))
	}
	return nil
}
