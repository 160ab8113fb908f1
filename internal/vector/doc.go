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
// multiplications, and rounded once: for each of the 2^32 float32 the result is that of package
// math, rounded. Only machines without FMA are slow at them.
//
// Arithmetic and widening write a dst larger than half of the last cache past the cache, unless it
// is an operand: memory is then not read to be written, and what is in the cache stays.
//
// # Adding a function
//
// Define it in plain.go, write its kernel in gen, with a line in the table of vector.go and that of
// vector_amd64.go, export it beside similar ones, and name it in the tables of setup_test.go, which
// the tests go through. Then
//
//	go generate ./internal/vector
//
// Safe for concurrent use on different slices.
package vector

//go:generate go run -C gen . -out ../vector_amd64.s -stubs ../stubs_amd64.go -pkg vector
