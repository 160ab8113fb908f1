package torchzip

import "github.com/go-tensordict/tensordict/tensor"

// untyped is the class of a storage whose tensor names the dtype. Torch uses it for dtypes without
// a class of storage.
const untyped = "torch.storage\nUntypedStorage\n"

// classes lists the class of storage of each dtype.
var classes = [...]string{
	tensor.Bool:       "torch\nBoolStorage\n",
	tensor.Uint8:      "torch\nByteStorage\n",
	tensor.Uint16:     untyped,
	tensor.Uint32:     untyped,
	tensor.Uint64:     untyped,
	tensor.Int8:       "torch\nCharStorage\n",
	tensor.Int16:      "torch\nShortStorage\n",
	tensor.Int32:      "torch\nIntStorage\n",
	tensor.Int64:      "torch\nLongStorage\n",
	tensor.Float16:    "torch\nHalfStorage\n",
	tensor.BFloat16:   "torch\nBFloat16Storage\n",
	tensor.Float32:    "torch\nFloatStorage\n",
	tensor.Float64:    "torch\nDoubleStorage\n",
	tensor.Complex64:  "torch\nComplexFloatStorage\n",
	tensor.Complex128: "torch\nComplexDoubleStorage\n",
}
