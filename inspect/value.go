package inspect

import (
	"fmt"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// kindOf returns the kind of a value. Ragged uint8 without features is treated as text.
func kindOf(v tdict.Value) tdict.Kind {
	switch v := v.(type) {
	case *tdict.TensorDict:
		return tdict.KindDict
	case *tdict.Data:
		return tdict.KindData
	case *tdict.Unbatched:
		return tdict.KindUnbatched
	case *tdict.Stacked:
		return tdict.KindStacked
	case *ragged.Tensor:
		if v.DType() == tensor.Uint8 && v.Depth() > 0 && len(v.Features()) == 0 {
			return tdict.KindText
		}
		return tdict.KindRagged
	}
	return tdict.KindTensor
}

// dtypeOf returns the dtype of a value, 0 if it has none.
func dtypeOf(v tdict.Value) tensor.DType {
	switch v := v.(type) {
	case *tensor.Tensor:
		return v.DType()
	case *ragged.Tensor:
		return v.DType()
	case *tdict.Unbatched:
		return v.Tensor().DType()
	case *tdict.Stacked:
		return v.DType()
	}
	return 0
}

// described returns the kind, dtype and shape of a value: "float32 [2 3]", "ragged uint8 [5 *]".
func described(v tdict.Value) string {
	switch v := v.(type) {
	case *tensor.Tensor:
		return fmt.Sprintf("%v %v", v.DType(), v.Shape())
	case *ragged.Tensor:
		return v.Text()
	case *tdict.Stacked:
		return v.Text()
	case *tdict.Unbatched:
		return fmt.Sprintf("unbatched %v %v", v.Tensor().DType(), v.Tensor().Shape())
	}
	return fmt.Sprintf("%v %v", kindOf(v), v.Shape())
}
