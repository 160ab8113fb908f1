package tensor

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/shape"
)

// What can be wrong with a tensor, besides its shape.
var (
	ErrDType    = errors.New("dtype mismatch")
	ErrLayout   = errors.New("unsuitable layout")
	ErrOverlap  = errors.New("source and destination overlap")
	ErrReadOnly = errors.New("read-only memory")
	ErrKind     = shape.ErrKind // an argument is nil or of the wrong type
)

// A DType is the type of a tensor's elements. The zero DType is invalid; only the zero Tensor has
// it.
type DType uint8

// The dtypes, each with the name that NumPy and torch give it.
const (
	Bool DType = iota + 1 // one byte, 0 or 1
	Uint8
	Uint16
	Uint32
	Uint64
	Int8
	Int16
	Int32
	Int64
	Float16  // float16: IEEE 754 binary16
	BFloat16 // bfloat16: the upper half of a float32
	Float32
	Float64
	Complex64  // two float32: real, imaginary
	Complex128 // two float64
)

// Elem is the closed set of Go types that a tensor holds. It has no ~: the exact type picks the
// dtype, so that an [F16] is never taken for a uint16. It has no int, whose size differs between
// machines, and no string, which holds a pointer.
type Elem interface {
	bool | uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 |
		F16 | BF16 | float32 | float64 | complex64 | complex128
}

var dtypes = [...]struct {
	name string
	size int
}{
	Bool: {"bool", 1}, Uint8: {"uint8", 1}, Uint16: {"uint16", 2}, Uint32: {"uint32", 4}, Uint64: {"uint64", 8},
	Int8: {"int8", 1}, Int16: {"int16", 2}, Int32: {"int32", 4}, Int64: {"int64", 8},
	Float16: {"float16", 2}, BFloat16: {"bfloat16", 2}, Float32: {"float32", 4}, Float64: {"float64", 8},
	Complex64: {"complex64", 8}, Complex128: {"complex128", 16},
}

// DTypes lists every dtype, in the order of their constants.
func DTypes() []DType {
	all := make([]DType, 0, len(dtypes)-1)
	for d := Bool; d.valid(); d++ {
		all = append(all, d)
	}
	return all
}

// ParseDType returns the dtype with the given name, such as "float32", or [ErrDType].
func ParseDType(name string) (DType, error) {
	for _, d := range DTypes() {
		if dtypes[d].name == name {
			return d, nil
		}
	}
	return 0, fmt.Errorf("%w: there is no dtype %q", ErrDType, name)
}

// DTypeOf returns the dtype of T.
func DTypeOf[T Elem]() DType {
	var v T
	switch any(v).(type) {
	case bool:
		return Bool
	case uint8:
		return Uint8
	case uint16:
		return Uint16
	case uint32:
		return Uint32
	case uint64:
		return Uint64
	case int8:
		return Int8
	case int16:
		return Int16
	case int32:
		return Int32
	case int64:
		return Int64
	case F16:
		return Float16
	case BF16:
		return BFloat16
	case float32:
		return Float32
	case float64:
		return Float64
	case complex64:
		return Complex64
	}
	return Complex128
}

// Size returns the size of one element in bytes.
func (d DType) Size() int {
	if !d.valid() {
		return 0
	}
	return dtypes[d].size
}

// String returns the name, such as "float32".
func (d DType) String() string {
	if !d.valid() {
		return "no dtype"
	}
	return dtypes[d].name
}

// IsFloat reports whether d is one of the four floating-point dtypes.
func (d DType) IsFloat() bool { return d >= Float16 && d <= Float64 }

// IsInteger reports whether d is an integer dtype. Bool is not.
func (d DType) IsInteger() bool { return d >= Uint8 && d <= Int64 }

// IsComplex reports whether d is a complex dtype.
func (d DType) IsComplex() bool { return d == Complex64 || d == Complex128 }

func (d DType) valid() bool { return d >= Bool && int(d) < len(dtypes) }

// checkElem returns ErrKind if t is nil, and ErrDType unless its elements have type T.
func checkElem[T Elem](t *Tensor) error {
	if t == nil {
		return errNil
	}
	if want := DTypeOf[T](); t.dtype != want {
		return fmt.Errorf("%w: got %v %v, want %v", ErrDType, t.dtype, t.view.Shape, want)
	}
	return nil
}

// errShape is shape.ErrShape, for functions whose parameter is called shape.
var errShape = shape.ErrShape

var errNil = fmt.Errorf("%w: got a nil tensor", ErrKind)

// Must returns v, and panics if err is not nil. It is for examples, tests and package variables.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
