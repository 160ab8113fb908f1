package tdict

import (
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tensor"
)

// Fold returns what fn makes of start and the first tensor among the leaves, then of that and the
// second, and so on, in the order of [TensorDict.Tensors]: start, if there is none.
//
//	elements, err := tdict.Fold(td, 0, func(n int, _ nestedkey.Key, x *tensor.Tensor) (int, error) {
//		return n + x.Size(), nil
//	})
//
// It returns fn's first error, or its panic, with the key, and [ErrKind] if td or fn is nil. td
// must not be changed meanwhile.
func Fold[A any](td *TensorDict, start A, fn func(acc A, key nestedkey.Key, x *tensor.Tensor) (A, error)) (A, error) {
	var none A
	switch {
	case td == nil:
		return none, failed("fold", errNil)
	case fn == nil:
		return none, failed("fold", errNoFunc)
	}
	acc := start
	for key, x := range td.Tensors() {
		if err := workers.Call(func() (err error) { acc, err = fn(acc, key, x); return err }); err != nil {
			return none, &KeyError{"fold", key, err}
		}
	}
	return acc, nil
}
