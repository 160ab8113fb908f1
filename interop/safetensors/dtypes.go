package safetensors

import (
	"strings"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/tensor"
)

// dtypes lists the dtypes that tensors and the format have, and their names in the format.
var dtypes = []struct {
	name  string
	dtype tensor.DType
}{
	{"BOOL", tensor.Bool},
	{"U8", tensor.Uint8}, {"U16", tensor.Uint16}, {"U32", tensor.Uint32}, {"U64", tensor.Uint64},
	{"I8", tensor.Int8}, {"I16", tensor.Int16}, {"I32", tensor.Int32}, {"I64", tensor.Int64},
	{"F16", tensor.Float16}, {"BF16", tensor.BFloat16}, {"F32", tensor.Float32}, {"F64", tensor.Float64},
	{"C64", tensor.Complex64},
}

// dtypeOf returns the dtype of a tensor in a file. If rawFloat8 is set, it is uint8 for 8-bit
// floats.
func dtypeOf(name string, rawFloat8 bool) (tensor.DType, error) {
	for _, d := range dtypes {
		if d.name == name {
			return d.dtype, nil
		}
	}
	if !strings.HasPrefix(name, "F8_") {
		return 0, unsupported("got dtype %s", errtext.Quote(name))
	}
	if rawFloat8 {
		return tensor.Uint8, nil
	}
	return 0, unsupported("got dtype %s: set RawFloat8 to open its bytes as uint8, or leave the tensor out by Keys", name)
}

// spelled returns the name of a dtype in the format.
func spelled(dtype tensor.DType) (string, error) {
	for _, d := range dtypes {
		if d.dtype == dtype {
			return d.name, nil
		}
	}
	return "", unsupported("got %v, which the format lacks: Cast to complex64, or Reinterpret as float64", dtype)
}
