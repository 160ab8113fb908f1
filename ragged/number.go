package ragged

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
	whole int64
	large uint64 // beyond an int64; whole is 0 then
	float float64

	huge bool // an integer beyond 64 bits
	text bool // a float that was spelled: whole is its value, if it is an integer
	even bool // and it is one
}

type numberKind uint8

const (
	aBool numberKind = iota
	anInteger
	aFloat
)

// numberOf returns a value of a list, or false if it is none.
func numberOf(v any) (number, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return number{kind: aBool, whole: 1}, true
		}
		return number{kind: aBool}, true
	case float64:
		return number{kind: aFloat, float: v}, true
	case float32:
		return number{kind: aFloat, float: float64(v)}, true
	case string:
		f, ok := map[string]float64{"NaN": math.NaN(), "nan": math.NaN(), "+Inf": math.Inf(1), "-Inf": math.Inf(-1)}[v]
		return number{kind: aFloat, float: f}, ok
	case uint64:
		return unsigned(v), true
	case uint:
		return unsigned(uint64(v)), true
	}
	if text, ok := v.(json.Number); ok {
		return parsed(text)
	}
	whole, ok := signed(v)
	return number{kind: anInteger, whole: whole}, ok
}

// parsed returns a number of a JSON text as an integer, if it is spelled as one.
func parsed(text json.Number) (number, bool) {
	if whole, err := text.Int64(); err == nil {
		return number{kind: anInteger, whole: whole}, true
	}
	if large, err := strconv.ParseUint(text.String(), 10, 64); err == nil {
		return unsigned(large), true
	}
	s := text.String()
	f, err := text.Float64()
	if err != nil || s[0] == '+' || strings.Trim(s, "0123456789+-.eE") != "" {
		return number{}, false
	}
	if !strings.ContainsAny(s, ".eE") {
		return number{kind: anInteger, float: f, huge: true}, true
	}
	whole, even := wholeOf(s, f)
	return number{kind: aFloat, float: f, text: true, whole: whole, even: even}, true
}

// wholeOf returns the integer that a text spells with a fraction or an exponent, or false if that
// is none, or none of 64 bits. f is about its value, so that no exponent is large where it is
// exact.
func wholeOf(s string, f float64) (int64, bool) {
	const longest = 64
	if f == 0 {
		mantissa, _, _ := strings.Cut(strings.ToLower(s), "e")
		return 0, strings.Trim(mantissa, "-0.") == ""
	}
	if len(s) > longest || math.Abs(f) < 1 || math.Abs(f) > 1<<63 {
		return 0, false
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	return r.Num().Int64(), true
}

func unsigned(v uint64) number {
	if v > math.MaxInt64 {
		return number{kind: anInteger, large: v}
	}
	return number{kind: anInteger, whole: int64(v)}
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

// int64 returns the value as an integer, or false if it is not one or too large.
func (v number) int64() (int64, bool) {
	if v.text {
		return v.whole, v.even
	}
	if v.kind == aFloat {
		whole := int64(v.float)
		return whole, float64(whole) == v.float && v.float >= -1<<63 && v.float < 1<<63
	}
	return v.whole, v.large == 0 && !v.huge
}

// uint64 returns the value as an integer, or false if it is not one or negative.
func (v number) uint64() (uint64, bool) {
	if v.large > 0 {
		return v.large, true
	}
	whole, ok := v.int64()
	return uint64(whole), ok && whole >= 0
}

// float64 returns the value as a float, or false if it is an integer that none is equal to.
func (v number) float64() (float64, bool) {
	switch {
	case v.kind == aFloat || v.huge:
		return v.float, !v.huge
	case v.large > 0:
		f := float64(v.large)
		return f, f < 1<<64 && uint64(f) == v.large
	}
	f := float64(v.whole)
	return f, f < 1<<63 && int64(f) == v.whole
}

// refused returns the error of value i, which a dtype does not hold.
func (v number) refused(i int, dtype tensor.DType) error {
	return fmt.Errorf("value %d: %w: got %v, want one that %v holds", i, tensor.ErrDType, v, dtype)
}

// String returns the value as Go prints it.
func (v number) String() string {
	switch {
	case v.kind == aFloat || v.huge:
		return fmt.Sprint(v.float)
	case v.large > 0:
		return fmt.Sprint(v.large)
	}
	return fmt.Sprint(v.whole)
}
