package ragged

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/go-tensordict/tensordict/tensor"
)

// A number is a value in a list: an integer, a float, or a bool.
type number struct {
	kind  numberKind
	whole int64
	large uint64 // beyond an int64; whole is 0 then
	float float64
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
	f, err := text.Float64()
	return number{kind: aFloat, float: f}, err == nil
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
	if v.kind == aFloat {
		whole := int64(v.float)
		return whole, float64(whole) == v.float && v.float >= -1<<63 && v.float < 1<<63
	}
	return v.whole, v.large == 0
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
	case v.kind == aFloat:
		return v.float, true
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
	case v.kind == aFloat:
		return fmt.Sprint(v.float)
	case v.large > 0:
		return fmt.Sprint(v.large)
	}
	return fmt.Sprint(v.whole)
}
