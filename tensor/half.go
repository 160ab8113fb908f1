package tensor

import bits16 "github.com/go-tensordict/tensordict/internal/half"

// An F16 holds the bits of an IEEE 754 binary16 number: 1 sign, 5 exponent and 10 fraction bits.
type F16 uint16

// A BF16 holds the bits of a bfloat16 number, the upper half of a float32: 1 sign, 8 exponent and 7
// fraction bits.
type BF16 uint16

// F16Of rounds x to the nearest Float16, ties to even. A number that is too large becomes infinite.
func F16Of(x float64) F16 { return F16(bits16.F16From(x)) }

// BF16Of rounds x to the nearest BFloat16, ties to even. A number that is too large becomes
// infinite.
func BF16Of(x float64) BF16 { return BF16(bits16.BF16From(x)) }

// Float64 returns h as a float64, exactly.
func (h F16) Float64() float64 { return float64(bits16.F16To32(uint16(h))) }

// Float64 returns h as a float64, exactly.
func (h BF16) Float64() float64 { return float64(bits16.BF16To32(uint16(h))) }

// Float32 returns h as a float32, exactly.
func (h F16) Float32() float32 { return bits16.F16To32(uint16(h)) }

// Float32 returns h as a float32, exactly.
func (h BF16) Float32() float32 { return bits16.BF16To32(uint16(h)) }
