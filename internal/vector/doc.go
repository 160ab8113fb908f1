// Package vector computes with slices of numbers as fast as memory delivers them: eight float32 at
// a time, where the machine can.
//
// plain.go defines every function in plain Go. On amd64 with AVX2, FMA and F16C, assembly does the
// whole vectors of a slice, and plain Go the rest. Elsewhere, with the build tag noasm, and under
// the race detector, which does not see into assembly, plain Go does everything. Results are the
// same, bit for bit but for the bits of a NaN, whatever the length and the alignment of a slice. No
// product is fused with a sum but in the functions that say so.
//
// Operands are at least as long as dst. If one is shorter, a function panics before it sets
// anything; a function of rows may have set some of dst. dst may be an operand; otherwise it shares
// no memory with one. Nothing is allocated, but slices escape: an array that is passed lies on the
// heap.
//
// [Exp], [Log], [Tanh] and [Sigmoid] are computed in float64, by polynomials and fused
// multiplications, and rounded once. For each of the 2^32 float32 the result equals the rounded
// result of package math. Only machines without FMA are slow at them.
//
// Arithmetic and widening write a dst larger than half of the last cache past the cache, unless it
// is an operand. So memory is not read before it is written, and the cache keeps its content.
//
// # Adding a function
//
//  1. Define it in plain.go.
//  2. Write its kernel in gen.
//  3. Add a line to the table in vector.go, and one to the table in vector_amd64.go.
//  4. Export it beside similar functions.
//  5. Name it in the tables of setup_test.go. The tests go through them.
//  6. Run go generate ./internal/vector.
//
// Safe for concurrent use on different slices.
package vector

//go:generate go run -C gen . -out ../vector_amd64.s -stubs ../stubs_amd64.go -pkg vector
