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
	"bool":       bools(),
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

// at returns the element at the beginning of data, which need not be aligned.
func at[T cast.Fixed](data []byte) T {
	var one [1]T
	copy(cast.Bytes(one[:]), data[:cast.Size[T]()])
	return one[0]
}

// put appends an element, unless there is an error.
func put[T cast.Fixed](data []byte, v T, err error) ([]byte, bool) {
	if err != nil {
		return data, false
	}
	one := [1]T{v}
	return append(data, cast.Bytes(one[:])...), true
}

func bools() *Elem {
	return &Elem{
		Kind: Bool, Size: 1, Want: "true or false",
		Append: func(b, data []byte) []byte { return strconv.AppendBool(b, data[0] != 0) },
		Parse: func(data, text []byte) ([]byte, bool) {
			v, err := strconv.ParseBool(string(text))
			return put(data, v, err)
		},
	}
}

func unsigned[T uint8 | uint16 | uint32 | uint64](bits int) *Elem {
	return &Elem{
		Kind: Integer, Size: bits / 8, Want: fmt.Sprintf("an integer from 0 to %d", uint64(math.MaxUint64)>>(64-bits)),
		Append: func(b, data []byte) []byte { return strconv.AppendUint(b, uint64(at[T](data)), 10) },
		Parse: func(data, text []byte) ([]byte, bool) {
			v, err := strconv.ParseUint(string(text), 10, bits)
			return put(data, T(v), err)
		},
	}
}

func signed[T int8 | int16 | int32 | int64](bits int) *Elem {
	return &Elem{
		Kind: Integer, Size: bits / 8,
		Want:   fmt.Sprintf("an integer from %d to %d", int64(math.MinInt64)>>(64-bits), int64(math.MaxInt64)>>(64-bits)),
		Append: func(b, data []byte) []byte { return strconv.AppendInt(b, int64(at[T](data)), 10) },
		Parse: func(data, text []byte) ([]byte, bool) {
			v, err := strconv.ParseInt(string(text), 10, bits)
			return put(data, T(v), err)
		},
	}
}

func floats[T float32 | float64](bits int) *Elem {
	return &Elem{
		Kind: Float, Size: bits / 8, Want: fmt.Sprintf("a number that float%d holds", bits),
		Append: func(b, data []byte) []byte { return strconv.AppendFloat(b, float64(at[T](data)), 'g', -1, bits) },
		Parse: func(data, text []byte) ([]byte, bool) {
			if v, ok := parseFloat[T](text); ok {
				return put(data, v, nil)
			}
			v, err := strconv.ParseFloat(string(text), bits)
			return put(data, T(v), err)
		},
	}
}

// parseFloat parses a text that [ParseDecimal] takes, and is exact.
func parseFloat[T float32 | float64](text []byte) (v T, ok bool) {
	d, ok := ParseDecimal(text)
	if !ok {
		return 0, false
	}
	if cast.Size[T]() == 4 {
		single, ok := d.Float32()
		return T(single), ok
	}
	return T(d.Float64()), true
}

// halves returns the Elem of 16-bit floats, which are rounded from the nearest float64.
func halves(dtype string, widen func(uint16) float32, narrow func(float64) uint16, inf uint16) *Elem {
	return &Elem{
		Kind: Float, Size: 2, Want: fmt.Sprintf("a number that %s holds", dtype), widen: widen,
		Append: func(b, data []byte) []byte {
			return strconv.AppendFloat(b, float64(widen(at[uint16](data))), 'g', -1, 32)
		},
		Parse: func(data, text []byte) ([]byte, bool) {
			v, err := strconv.ParseFloat(string(text), 64)
			h := narrow(v)
			if h&0x7fff == inf && !math.IsInf(v, 0) {
				err = strconv.ErrRange
			}
			return put(data, h, err)
		},
	}
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
	return &Elem{
		Kind: Complex, Size: bits / 8, Want: fmt.Sprintf(`a number such as "(1+2i)" that complex%d holds`, bits),
		Append: func(b, data []byte) []byte {
			v := complex128(at[T](data))
			b = strconv.AppendFloat(append(b, '('), real(v), 'g', -1, bits/2)
			from := len(b)
			b = strconv.AppendFloat(append(b, '+'), imag(v), 'g', -1, bits/2)
			if c := b[from+1]; c == '+' || c == '-' {
				b = append(b[:from], b[from+1:]...)
			}
			return append(b, "i)"...)
		},
		Parse: func(data, text []byte) ([]byte, bool) {
			v, err := strconv.ParseComplex(string(text), bits)
			return put(data, T(v), err)
		},
	}
}
