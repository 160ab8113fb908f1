package tdict

import (
	"math"

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

// ByteSize returns how many bytes the elements of all tensors and ragged tensors take, as their
// ByteSize says, or math.MaxInt if that is more than an int holds. A value under several keys counts
// for each. Offsets, unbatched tensors and data do not count. (Python: bytes.)
func (td *TensorDict) ByteSize() int { return td.byteSize(map[*TensorDict]int{}) }

// byteSize is ByteSize; known holds the sizes of dictionaries seen before.
func (td *TensorDict) byteSize(known map[*TensorDict]int) int {
	size, ok := known[td]
	if ok {
		return size
	}
	for _, v := range td.entries.all() {
		n := 0
		if d, ok := asDict(v); ok {
			n = d.byteSize(known)
		} else if e := opsOf(v).elementwise(v); e != nil {
			n = e.ByteSize()
		}
		size += min(n, math.MaxInt-size)
	}
	known[td] = size
	return size
}
