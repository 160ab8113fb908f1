package table

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/tensor"
)

// ErrValue says that a text is not a value of its column.
var ErrValue = errors.New("value does not fit")

// refused returns ErrValue for a text. want describes the values of its column.
func refused(text []byte, want string, args ...any) error {
	return fmt.Errorf("%w: got %s, want "+want, append([]any{ErrValue, errtext.Quote(string(text))}, args...)...)
}

// An elem converts the elements of a dtype from and to texts.
type elem[T tensor.Elem] struct {
	parse  func(text []byte) (T, error)
	append func(b []byte, v T) []byte
}

// cellsOf returns the cells of a dtype, or nil for no dtype.
func cellsOf(d tensor.DType) cells {
	switch d {
	case tensor.Bool:
		return &cellsAs[bool]{elem: elem[bool]{parseBool, strconv.AppendBool}}
	case tensor.Uint8:
		return unsigned[uint8](8)
	case tensor.Uint16:
		return unsigned[uint16](16)
	case tensor.Uint32:
		return unsigned[uint32](32)
	case tensor.Uint64:
		return unsigned[uint64](64)
	case tensor.Int8:
		return signed[int8](8)
	case tensor.Int16:
		return signed[int16](16)
	case tensor.Int32:
		return signed[int32](32)
	case tensor.Int64:
		return signed[int64](64)
	case tensor.Float16:
		return halves(tensor.F16Of, tensor.F16.Float64, tensor.Float16)
	case tensor.BFloat16:
		return halves(tensor.BF16Of, tensor.BF16.Float64, tensor.BFloat16)
	case tensor.Float32:
		return floats[float32](32)
	case tensor.Float64:
		return floats[float64](64)
	case tensor.Complex64:
		return complexes[complex64](64)
	case tensor.Complex128:
		return complexes[complex128](128)
	}
	return nil
}

func parseBool(text []byte) (bool, error) {
	v, err := strconv.ParseBool(string(text))
	if err != nil {
		err = refused(text, "true or false")
	}
	return v, err
}

func unsigned[T uint8 | uint16 | uint32 | uint64](bits int) cells {
	return &cellsAs[T]{elem: elem[T]{
		parse: func(text []byte) (T, error) {
			v, err := strconv.ParseUint(string(text), 10, bits)
			if err != nil {
				err = refused(text, "an integer from 0 to %d", uint64(math.MaxUint64)>>(64-bits))
			}
			return T(v), err
		},
		append: func(b []byte, v T) []byte { return strconv.AppendUint(b, uint64(v), 10) },
	}}
}

func signed[T int8 | int16 | int32 | int64](bits int) cells {
	return &cellsAs[T]{elem: elem[T]{
		parse: func(text []byte) (T, error) {
			v, err := strconv.ParseInt(string(text), 10, bits)
			if err != nil {
				err = refused(text, "an integer from %d to %d", int64(math.MinInt64)>>(64-bits), int64(math.MaxInt64)>>(64-bits))
			}
			return T(v), err
		},
		append: func(b []byte, v T) []byte { return strconv.AppendInt(b, int64(v), 10) },
	}}
}

func floats[T float32 | float64](bits int) cells {
	return &cellsAs[T]{elem: elem[T]{
		parse: func(text []byte) (T, error) {
			v, err := strconv.ParseFloat(string(text), bits)
			if err != nil {
				err = refused(text, "a number that float%d holds", bits)
			}
			return T(v), err
		},
		append: func(b []byte, v T) []byte {
			return appendPoint(strconv.AppendFloat(b, float64(v), 'g', -1, bits), len(b))
		},
	}}
}

// appendPoint appends ".0" to the text of a float from an offset on, if it would read back as an
// integer.
func appendPoint(b []byte, from int) []byte {
	for _, c := range b[from:] {
		if c != '-' && (c < '0' || c > '9') { // a point, an exponent, NaN or Inf
			return b
		}
	}
	return append(b, ".0"...)
}

// halves returns cells of 16-bit floats.
func halves[T tensor.F16 | tensor.BF16](narrow func(float64) T, widen func(T) float64, d tensor.DType) cells {
	parse := func(text []byte) (T, error) {
		v, err := strconv.ParseFloat(string(text), 64)
		h := narrow(v)
		if err != nil || math.IsInf(widen(h), 0) && !math.IsInf(v, 0) {
			err = refused(text, "a number that %v holds", d)
		}
		return h, err
	}
	return &cellsAs[T]{elem: elem[T]{parse, func(b []byte, v T) []byte {
		text := appendShortest(b, widen(v), func(x float64) bool { return narrow(x) == v })
		return appendPoint(text, len(b))
	}}}
}

// appendShortest appends x with the fewest digits for which same is true after parsing; 5 digits
// are always enough for 16 bits.
func appendShortest(b []byte, x float64, same func(float64) bool) []byte {
	from := len(b)
	for digits := 1; ; digits++ {
		b = strconv.AppendFloat(b[:from], x, 'g', digits, 64)
		if v, _ := strconv.ParseFloat(string(b[from:]), 64); digits == 5 || same(v) {
			return b
		}
	}
}

func complexes[T complex64 | complex128](bits int) cells {
	return &cellsAs[T]{elem: elem[T]{
		parse: func(text []byte) (T, error) {
			v, err := strconv.ParseComplex(string(text), bits)
			if err != nil {
				err = refused(text, `a number such as "(1+2i)" that complex%d holds`, bits)
			}
			return T(v), err
		},
		append: func(b []byte, v T) []byte { return appendComplex(b, complex128(v), bits/2) },
	}}
}

// appendComplex appends v in the format of strconv.FormatComplex.
func appendComplex(b []byte, v complex128, bits int) []byte {
	b = strconv.AppendFloat(append(b, '('), real(v), 'g', -1, bits)
	from := len(b)
	b = strconv.AppendFloat(append(b, '+'), imag(v), 'g', -1, bits)
	if c := b[from+1]; c == '+' || c == '-' {
		b = append(b[:from], b[from+1:]...)
	}
	return append(b, "i)"...)
}
