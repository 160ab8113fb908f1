// Package elemtext has the text of an element of each dtype. Elements are bytes in the machine's
// byte order, so that the package lies below package tensor.
//
//	e := elemtext.Of("int16")
//	data, ok := e.Parse(nil, []byte("258")) // 2 bytes
//	text := e.Append(nil, data)             // 258
//
// Package strconv parses and writes numbers, integers in base 10. Floats have the fewest digits
// that read back as the same bits; 16-bit floats have the digits of the float32 with their value,
// or with [Elem.AppendFewest] the fewest for 16 bits. The payload of a NaN is lost. What a format
// asks besides, such as quotes around NaN, is up to its package.
//
// Safe for concurrent use.
package elemtext

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/half"
)

// A Kind says how the texts of a dtype look.
type Kind int

// The kinds.
const (
	Bool Kind = iota
	Integer
	Float   // besides numbers: NaN, +Inf and -Inf
	Complex // (1+2i)
)

// An Elem converts elements of one dtype from and to texts.
type Elem struct {
	Kind Kind
	// Size is the number of bytes of an element.
	Size int
	// Want describes the texts that Parse takes, for errors.
	Want string
	// Append appends the text of the element at the beginning of data.
	Append func(b, data []byte) []byte
	// Parse appends the element of a text to data. ok is false if the text has none; then data is
	// unchanged.
	Parse func(data, text []byte) (out []byte, ok bool)

	widen func(uint16) float32 // of 16-bit floats
}

var elems = map[string]*Elem{
	"bool": elem(Bool, "true or false",
		func(b []byte, v uint8) []byte { return strconv.AppendBool(b, v != 0) }, parseBool),
	"uint8":      unsigned[uint8](8),
	"uint16":     unsigned[uint16](16),
	"uint32":     unsigned[uint32](32),
	"uint64":     unsigned[uint64](64),
	"int8":       signed[int8](8),
	"int16":      signed[int16](16),
	"int32":      signed[int32](32),
	"int64":      signed[int64](64),
	"float16":    halves("float16", half.F16To32, half.F16From, half.F16Inf),
	"bfloat16":   halves("bfloat16", half.BF16To32, half.BF16From, half.BF16Inf),
	"float32":    floats[float32](32),
	"float64":    floats[float64](64),
	"complex64":  complexes[complex64](64),
	"complex128": complexes[complex128](128),
}

// Of returns the Elem of a dtype, or nil if there is no such dtype.
func Of(dtype string) *Elem { return elems[dtype] }

func elem[T cast.Fixed](kind Kind, want string, write func([]byte, T) []byte, parse func([]byte) (T, error)) *Elem {
	return &Elem{
		Kind: kind, Size: cast.Size[T](), Want: want,
		Append: func(b, data []byte) []byte { return write(b, at[T](data)) },
		Parse: func(data, text []byte) ([]byte, bool) {
			v, err := parse(text)
			if err != nil {
				return data, false
			}
			one := [1]T{v}
			return append(data, cast.Bytes(one[:])...), true
		},
	}
}

// at returns the element at the beginning of data, which need not be aligned.
func at[T cast.Fixed](data []byte) T {
	var one [1]T
	copy(cast.Bytes(one[:]), data)
	return one[0]
}

func parseBool(text []byte) (uint8, error) {
	v, err := strconv.ParseBool(string(text))
	if v {
		return 1, err
	}
	return 0, err
}

func unsigned[T uint8 | uint16 | uint32 | uint64](bits int) *Elem {
	return elem(Integer, fmt.Sprintf("an integer from 0 to %d", uint64(math.MaxUint64)>>(64-bits)),
		func(b []byte, v T) []byte { return strconv.AppendUint(b, uint64(v), 10) },
		func(text []byte) (T, error) {
			v, err := strconv.ParseUint(string(text), 10, bits)
			return T(v), err
		})
}

func signed[T int8 | int16 | int32 | int64](bits int) *Elem {
	return elem(Integer, fmt.Sprintf("an integer from %d to %d", int64(math.MinInt64)>>(64-bits), int64(math.MaxInt64)>>(64-bits)),
		func(b []byte, v T) []byte { return strconv.AppendInt(b, int64(v), 10) },
		func(text []byte) (T, error) {
			v, err := strconv.ParseInt(string(text), 10, bits)
			return T(v), err
		})
}

func floats[T float32 | float64](bits int) *Elem {
	return elem(Float, fmt.Sprintf("a number that float%d holds", bits),
		func(b []byte, v T) []byte { return strconv.AppendFloat(b, float64(v), 'g', -1, bits) },
		func(text []byte) (T, error) {
			v, err := strconv.ParseFloat(string(text), bits)
			return T(v), err
		})
}

// halves returns the Elem of 16-bit floats, which are rounded from the nearest float64.
func halves(dtype string, widen func(uint16) float32, narrow func(float64) uint16, inf uint16) *Elem {
	e := elem(Float, fmt.Sprintf("a number that %s holds", dtype),
		func(b []byte, v uint16) []byte { return strconv.AppendFloat(b, float64(widen(v)), 'g', -1, 32) },
		func(text []byte) (uint16, error) {
			v, err := strconv.ParseFloat(string(text), 64)
			h := narrow(v)
			if h&0x7fff == inf && !math.IsInf(v, 0) {
				err = strconv.ErrRange
			}
			return h, err
		})
	e.widen = widen
	return e
}

// AppendFewest is Append, but gives 16-bit floats the fewest digits that read back as the same
// bits, of which 5 are always enough. It takes several times as long.
func (e *Elem) AppendFewest(b, data []byte) []byte {
	if e.widen == nil {
		return e.Append(b, data)
	}
	v, from := float64(e.widen(at[uint16](data))), len(b)
	for digits := 1; ; digits++ {
		var memory [2]byte
		b = strconv.AppendFloat(b[:from], v, 'g', digits, 64)
		if got, _ := e.Parse(memory[:0], b[from:]); digits == 5 || bytes.Equal(got, data[:2]) {
			return b
		}
	}
}

// complexes returns the Elem of complex numbers in the format of strconv.FormatComplex.
func complexes[T complex64 | complex128](bits int) *Elem {
	return elem(Complex, fmt.Sprintf(`a number such as "(1+2i)" that complex%d holds`, bits),
		func(b []byte, v T) []byte {
			wide := complex128(v)
			b = strconv.AppendFloat(append(b, '('), real(wide), 'g', -1, bits/2)
			from := len(b)
			b = strconv.AppendFloat(append(b, '+'), imag(wide), 'g', -1, bits/2)
			if c := b[from+1]; c == '+' || c == '-' {
				b = append(b[:from], b[from+1:]...)
			}
			return append(b, "i)"...)
		},
		func(text []byte) (T, error) {
			v, err := strconv.ParseComplex(string(text), bits)
			return T(v), err
		})
}
