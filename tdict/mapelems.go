package tdict

import (
	"context"
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tensor"
)

// MapElems returns td with fn applied to the elements of each leaf of T's dtype, leaf after leaf,
// as tensor.Map does. Other leaves are shared. The result is not locked.
//
// MapElems returns tensor.ErrDType if td has tensors but none of T's dtype, the errors of
// tensor.Map with the key, fn's panic as a [PanicError] with the key and the position of the
// element, and [ErrKind] if td or fn is nil.
func MapElems[T, U tensor.Elem](td *TensorDict, fn func(T) U) (*TensorDict, error) {
	const op = "map elems"
	switch {
	case td == nil:
		return nil, failed(op, errNil)
	case fn == nil:
		return nil, failed(op, errNoFunc)
	}
	keys, err := td.keysOf(tensor.DTypeOf[T]())
	if err != nil {
		return nil, failed(op, err)
	}
	each := func(_ nestedkey.Key, xs []*tensor.Tensor) (*tensor.Tensor, error) { return tensor.Map(xs[0], fn) }
	out, err := Apply(context.Background(), []*TensorDict{td}, each, ApplyOptions{Keys: keys, Workers: 1})
	if err != nil {
		return nil, failed(op, err)
	}
	return out, nil
}

// keysOf returns the keys of the tensors of dtype d. It returns ErrDType if there are none but
// tensors of other dtypes.
func (td *TensorDict) keysOf(d tensor.DType) ([]nestedkey.Key, error) {
	keys, others := []nestedkey.Key{}, false
	for key, v := range td.Leaves() {
		switch e := elements(v); {
		case e == nil:
		case e.DType() == d:
			keys = append(keys, key)
		default:
			others = true
		}
	}
	if len(keys) == 0 && others {
		return nil, fmt.Errorf("%w: no leaf is %v", tensor.ErrDType, d)
	}
	return keys, nil
}
