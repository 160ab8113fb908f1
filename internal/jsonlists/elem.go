package jsonlists

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/half"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
)

// elems writes and reads the elements of one dtype.
type elems interface {
	// appender returns a function that appends element i of data.
	appender(data []byte) func(b []byte, i int) []byte
	// read reads an element from s, and adds it to the result of collected.
	read(s *jsonscan.Scanner) error
	collected() []byte
}

// elemsOf returns new elems for a dtype, or nil if there is no such dtype.
func elemsOf(dtype string) elems {
	switch dtype {
	case "bool":
		return &elemsAs[bool]{append: strconv.AppendBool, parse: (*jsonscan.Scanner).Bool}
	case "uint8":
		return unsigned[uint8](8)
	case "uint16":
		return unsigned[uint16](16)
	case "uint32":
		return unsigned[uint32](32)
	case "uint64":
		return unsigned[uint64](64)
	case "int8":
		return signed[int8](8)
	case "int16":
		return signed[int16](16)
	case "int32":
		return signed[int32](32)
	case "int64":
		return signed[int64](64)
	case "float16":
		return halves(half.F16To32, half.F16From, half.F16Inf)
	case "bfloat16":
		return halves(half.BF16To32, half.BF16From, half.BF16Inf)
	case "float32":
		return floats[float32](32)
	case "float64":
		return floats[float64](64)
	case "complex64":
		return complexes[complex64](64)
	case "complex128":
		return complexes[complex128](128)
	}
	return nil
}

// elemsAs are elems of a Go type.
type elemsAs[T cast.Fixed] struct {
	append func(b []byte, v T) []byte
	parse  func(s *jsonscan.Scanner) (T, error)
	values []T
}

func (e *elemsAs[T]) appender(data []byte) func(b []byte, i int) []byte {
	values, ok := cast.Slice[T](data)
	if !ok { // not aligned
		values = make([]T, len(data)/cast.Size[T]())
		copy(cast.Bytes(values), data)
	}
	return func(b []byte, i int) []byte { return e.append(b, values[i]) }
}

func (e *elemsAs[T]) read(s *jsonscan.Scanner) error {
	v, err := e.parse(s)
	if err != nil {
		return fmt.Errorf("element %d: %w", len(e.values), err)
	}
	e.values = append(e.values, v)
	return nil
}

func (e *elemsAs[T]) collected() []byte { return cast.Bytes(slices.Clip(e.values)) }

func unsigned[T uint8 | uint16 | uint32 | uint64](bits int) elems {
	return &elemsAs[T]{
		append: func(b []byte, v T) []byte { return strconv.AppendUint(b, uint64(v), 10) },
		parse: func(s *jsonscan.Scanner) (T, error) {
			text, err := Number(s)
			if err != nil {
				return 0, err
			}
			v, err := strconv.ParseUint(string(text), 10, bits)
			return T(v), refused(text, err, "an integer from 0 to %d", uint64(1)<<bits-1)
		},
	}
}

func signed[T int8 | int16 | int32 | int64](bits int) elems {
	return &elemsAs[T]{
		append: func(b []byte, v T) []byte { return strconv.AppendInt(b, int64(v), 10) },
		parse: func(s *jsonscan.Scanner) (T, error) {
			text, err := Number(s)
			if err != nil {
				return 0, err
			}
			v, err := strconv.ParseInt(string(text), 10, bits)
			return T(v), refused(text, err, "an integer of %d bits", bits)
		},
	}
}

func floats[T float32 | float64](bits int) elems {
	return &elemsAs[T]{
		append: func(b []byte, v T) []byte { return appendFloat(b, float64(v), bits) },
		parse: func(s *jsonscan.Scanner) (T, error) {
			v, err := float(s, bits)
			return T(v), err
		},
	}
}

// halves returns elems for 16-bit floats, which are written as float32.
func halves(widen func(uint16) float32, narrow func(float64) uint16, inf uint16) elems {
	return &elemsAs[uint16]{
		append: func(b []byte, v uint16) []byte { return appendFloat(b, float64(widen(v)), 32) },
		parse: func(s *jsonscan.Scanner) (uint16, error) {
			v, err := float(s, 64)
			h := narrow(v)
			if h&0x7fff == inf && !math.IsInf(v, 0) {
				err = fmt.Errorf("%w: got %v, want a number of 16 bits", jsonscan.ErrSyntax, v)
			}
			return h, err
		},
	}
}

func complexes[T complex64 | complex128](bits int) elems {
	return &elemsAs[T]{
		append: func(b []byte, v T) []byte {
			b = append(b, '"')
			b = append(b, strconv.FormatComplex(complex128(v), 'g', -1, bits)...)
			return append(b, '"')
		},
		parse: func(s *jsonscan.Scanner) (T, error) {
			text, err := s.Text()
			if err != nil {
				return 0, err
			}
			v, err := strconv.ParseComplex(string(text), bits)
			return T(v), refused(text, err, `a complex number of %d bits such as "(1+2i)"`, bits)
		},
	}
}

// appendFloat appends a number, or a string for NaN and infinities.
func appendFloat(b []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(b, `"+Inf"`...)
	case math.IsInf(v, -1):
		return append(b, `"-Inf"`...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, bits)
}

// float reads the output of appendFloat, and infinities as Data writes them.
func float(s *jsonscan.Scanner, bits int) (float64, error) {
	if s.Next() == '"' {
		return notFinite(s)
	}
	text, err := Number(s)
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseFloat(string(text), bits)
	return v, refused(text, err, "a number of %d bits", bits)
}

func notFinite(s *jsonscan.Scanner) (float64, error) {
	text, err := s.Text()
	if err != nil {
		return 0, err
	}
	switch string(text) {
	case "NaN":
		return math.NaN(), nil
	case "+Inf", "Infinity":
		return math.Inf(1), nil
	case "-Inf", "-Infinity":
		return math.Inf(-1), nil
	}
	return 0, refused(text, strconv.ErrSyntax, `a number, "NaN", "+Inf" or "-Inf"`)
}

// Number reads the text of a number. It refuses the words NaN and Infinity, which are not JSON.
func Number(s *jsonscan.Scanner) ([]byte, error) {
	switch s.Next() {
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
	default:
		text, err := s.Raw()
		if err == nil {
			err = refused(text, strconv.ErrSyntax, "a number")
		}
		return nil, err
	}
	text, err := s.Raw()
	if err == nil && len(text) > 1 && text[1] == 'I' {
		err = refused(text, strconv.ErrSyntax, "a number")
	}
	return text, err
}

// refused returns an error for a text other than want, or nil if err is nil.
func refused(text []byte, err error, want string, args ...any) error {
	if err == nil {
		return nil
	}
	const most = 40
	return fmt.Errorf("%w: got %.*s, want "+want, append([]any{jsonscan.ErrSyntax, most, text}, args...)...)
}
