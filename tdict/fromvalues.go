package tdict

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Values are the Go values of a dictionary, by key, for [FromValues].
type Values = map[nestedkey.Key]any

// FromValues is [FromMap] of Go values:
//
//   - A bool or a number (a tensor.Elem, so not an int) becomes a tensor of shape [].
//   - A slice of bools or numbers becomes a tensor of shape [len], which shares the memory of the
//     slice.
//   - A string becomes [Data] with the same value for all rows.
//   - A []string becomes Data of shape [len].
//   - A [Value] stays as it is, except that a dictionary is copied, with the same leaves.
//
// Every shape must begin with the batch shape, which is [] for one sample:
//
//	sample, err := tdict.FromValues(nil, tdict.Values{
//		"obs/pos": []float32{0.5, -1}, "reward": float32(1), "done": false, "task": "reach",
//	})
//
// The entries are in the order of their keys. FromValues returns the errors of FromMap, and
// [ErrKind] with the key for a value of any other type.
func FromValues(batch shapeops.Shape, values Values) (*TensorDict, error) {
	entries := make(Entries, len(values))
	for _, key := range slices.SortedFunc(maps.Keys(values), nestedkey.Compare) {
		v, err := valueOf(values[key])
		if err != nil {
			return nil, failedKey("set", key, err)
		}
		entries[key] = v
	}
	return FromMap(batch, entries)
}

// valueOf converts a Go value to a Value.
func valueOf(v any) (Value, error) {
	switch v := v.(type) {
	case Value:
		return v, nil
	case string:
		return asValue(NewData(v))
	case []string:
		return asValue(DataFrom(v, len(v)))
	case int, []int, uint, []uint:
		return nil, fmt.Errorf("%w: got %T, whose size differs between machines: use int64 or int32", ErrKind, v)
	}
	for _, try := range tensorsOf {
		if t := try(v); t != nil {
			return t, nil
		}
	}
	return nil, fmt.Errorf("%w: got %T, want a bool, a number, a slice of one of these, string, []string or a value "+
		"such as a *tensor.Tensor: see tensor.From for other shapes, NewData for other data", ErrKind, v)
}

// tensorsOf lists tensorOf for every tensor.Elem.
var tensorsOf = []func(any) *tensor.Tensor{
	tensorOf[float32], tensorOf[float64], tensorOf[bool],
	tensorOf[uint8], tensorOf[uint16], tensorOf[uint32], tensorOf[uint64],
	tensorOf[int8], tensorOf[int16], tensorOf[int32], tensorOf[int64],
	tensorOf[tensor.F16], tensorOf[tensor.BF16], tensorOf[complex64], tensorOf[complex128],
}

// tensorOf returns a T or a slice of T as a tensor. It returns nil for another type.
func tensorOf[T tensor.Elem](v any) *tensor.Tensor {
	switch v := v.(type) {
	case T:
		return tensor.Scalar(v)
	case []T:
		return tensor.Vector(v...)
	}
	return nil
}
