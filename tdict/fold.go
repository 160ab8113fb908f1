package tdict

import (
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tensor"
)

// Fold calls fn with start and the first tensor among the leaves, then with the result and the
// second tensor, and so on, in the order of [TensorDict.Tensors]. It returns the last result, or
// start if there is no tensor.
//
//	elements, err := tdict.Fold(td, 0, func(n int, _ nestedkey.Key, x *tensor.Tensor) (int, error) {
//		return n + x.Size(), nil
//	})
//
// Fold returns fn's first error, or its panic, with the key, and [ErrKind] if td or fn is nil. td
// must not be changed during the call.
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
