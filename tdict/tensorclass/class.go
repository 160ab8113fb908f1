package tensorclass

import (
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Class as a blank field of a struct names the Python class that its dictionaries are of, see
// tdict.TensorDict.SetClass:
//
//	type Frame struct {
//		_ tensorclass.Class `td:"my.module.Frame"`
//		...
//	}
//
// [Dict] and [FromRows] set the name. [View] and [ToRows] take dictionaries of any class.
type Class struct{}

// A Leaf is a tensor whose dtype the compiler knows: a field of a struct that [View] fills. The
// zero Leaf holds no tensor, as that of an optional entry that a dictionary lacks. Its methods then
// return tensor.ErrKind, or panic if they are those of the Tensor. Safe for concurrent use as its
// Tensor is.
type Leaf[T tensor.Elem] struct{ *tensor.Tensor }

// dtype returns the dtype that the Tensor must have.
func (l Leaf[T]) dtype() tensor.DType { return tensor.DTypeOf[T]() }

// Slice returns the elements as tensor.Of does: in l's own memory, on loan.
func (l Leaf[T]) Slice() ([]T, error) { return tensor.Of[T](l.Tensor) }

// Read calls fn with the elements, row-major, as tensor.Read does.
func (l Leaf[T]) Read(fn func(s []T)) error { return tensor.Read(l.Tensor, fn) }

// Write calls fn with the elements, row-major, for it to change, as tensor.Write does.
func (l Leaf[T]) Write(fn func(s []T)) error { return tensor.Write(l.Tensor, fn) }

// At returns one element, as tensor.Item does: a position has one number for each dim.
func (l Leaf[T]) At(pos ...int) (T, error) { return tensor.Item[T](l.Tensor, pos...) }

// An Appender takes rows, as *memmap.Writer does.
type Appender interface {
	Append(rows *tdict.TensorDict) error
}
