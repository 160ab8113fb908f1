// Package half converts the bits of 16-bit floating-point numbers: IEEE 754 binary16, called f16
// here, and bfloat16, called bf16, the upper half of a float32.
//
//	x := half.F16To32(0x3c00)              // 1
//	half.NarrowBF16(bits, []float32{1, 2}) // bits: []uint16
//
// The formats are
//
//	format     sign  exponent  fraction  largest  smallest normal  smallest
//	binary16      1         5        10    65504            2^-14     2^-24
//	bfloat16      1         8         7  3.39e38           2^-126    2^-133
//
// Widening is exact. A NaN keeps its sign and its payload, in the upper bits of the wider fraction;
// a NaN of binary16 becomes quiet.
//
// Narrowing rounds once, to the nearest number, ties to even, from any type. A number that rounds
// beyond the largest number becomes infinite. A number below the smallest normal number is rounded
// to a subnormal number or to zero. Zero keeps its sign. A NaN keeps only its sign: it becomes
// [F16NaN] or [BF16NaN].
//
// The functions of one number are small enough to be inlined.
//
// Safe for concurrent use.
package half
