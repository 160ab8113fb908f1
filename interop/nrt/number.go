package nrt

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/tensor"
)

// A number is a value in a list: an integer, a float, or a bool.
type number struct {
	kind  numberKind
	float float64 // the value, or the nearest float to an integer

	whole    bool // the value is an integer that fits int64 or uint64, given by negative and size
	negative bool
	size     uint64 // the absolute value
}

type numberKind uint8

const (
	aBool numberKind = iota
	anInteger
	aFloat
)

// numberOf returns a value of a list as a number, or false if it is not one.
func numberOf(v any) (number, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return number{kind: aBool, float: 1, whole: true, size: 1}, true
		}
		return number{kind: aBool, whole: true}, true
	case float64:
		return floating(v), true
	case float32:
		return floating(float64(v)), true
	case string:
		f, ok := map[string]float64{"NaN": math.NaN(), "nan": math.NaN(), "+Inf": math.Inf(1), "-Inf": math.Inf(-1)}[v]
		return floating(f), ok
	case uint64:
		return unsigned(v), true
	case uint:
		return unsigned(uint64(v)), true
	case json.Number:
		return parsed(v)
	}
	whole, ok := signed(v)
	return integer(whole), ok
}

// floating returns a float as a number, which is whole if its value is an integer.
func floating(v float64) number {
	var n number
	if v >= -1<<63 && v < 1<<63 && v == math.Trunc(v) {
		n = integer(int64(v))
	}
	n.kind, n.float = aFloat, v
	return n
}

func integer(v int64) number {
	if v < 0 {
		return number{kind: anInteger, float: float64(v), whole: true, negative: true, size: -uint64(v)}
	}
	return unsigned(uint64(v))
}

func unsigned(v uint64) number {
	return number{kind: anInteger, float: float64(v), whole: true, size: v}
}

// parsed returns a number of a JSON text. It is an integer if it is spelled as one.
func parsed(text json.Number) (number, bool) {
	if whole, err := text.Int64(); err == nil {
		return integer(whole), true
	}
	s := text.String()
	if large, err := strconv.ParseUint(s, 10, 64); err == nil {
		return unsigned(large), true
	}
	f, err := text.Float64()
	if err != nil || s[0] == '+' || strings.Trim(s, "0123456789+-.eE") != "" {
		return number{}, false
	}
	if !strings.ContainsAny(s, ".eE") {
		return number{kind: anInteger, float: f}, true
	}
	n := wholeOf(s, f)
	n.kind, n.float = aFloat, f
	return n, true
}

// wholeOf returns the integer that a text with a fraction or an exponent spells. It returns the
// zero number, which is not whole, if the text does not spell a 64-bit integer. f is
// approximately the value: it bounds the exponent before the exact computation.
func wholeOf(s string, f float64) number {
	const longest = 64
	if f == 0 {
		mantissa, _, _ := strings.Cut(strings.ToLower(s), "e")
		return number{whole: strings.Trim(mantissa, "-0.") == ""}
	}
	if len(s) > longest || math.Abs(f) < 1 || math.Abs(f) > 1<<63 {
		return number{}
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return number{}
	}
	return integer(r.Num().Int64())
}

func signed(v any) (int64, bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case int64:
		return v, true
	case int32:
		return int64(v), true
	case int16:
		return int64(v), true
	case int8:
		return int64(v), true
	case uint32:
		return int64(v), true
	case uint16:
		return int64(v), true
	case uint8:
		return int64(v), true
	}
	return 0, false
}

// int64 returns the value as an int64, or false if that does not hold it.
func (v number) int64() (int64, bool) {
	if v.negative {
		return -int64(v.size), v.size <= 1<<63
	}
	return int64(v.size), v.whole && v.size <= math.MaxInt64
}

// uint64 returns the value as a uint64, or false if that does not hold it.
func (v number) uint64() (uint64, bool) { return v.size, v.whole && !v.negative }

// float64 returns the value as a float, or false if it is an integer that float64 does not hold
// exactly.
func (v number) float64() (float64, bool) {
	size := math.Abs(v.float)
	return v.float, v.kind == aFloat || v.whole && size < 1<<64 && uint64(size) == v.size
}

// refused returns the error for value i, which dtype does not hold.
func (v number) refused(i int, dtype tensor.DType) error {
	return fmt.Errorf("value %d: %w: got %v, want a value that %v holds", i, tensor.ErrDType, v, dtype)
}

// String formats the value as package fmt does.
func (v number) String() string {
	switch {
	case v.kind == aFloat || !v.whole:
		return fmt.Sprint(v.float)
	case v.negative:
		return fmt.Sprint(-int64(v.size))
	}
	return fmt.Sprint(v.size)
}
