// Package vector computes with slices of numbers as fast as memory delivers them: eight float32 at
// a time where the machine can.
//
// plain.go and plain_functions.go define every function in plain Go. On amd64 with AVX2, FMA and
// F16C, assembly computes the whole vectors of a slice, and plain Go the remaining elements.
// Elsewhere, with the build tag noasm, and under the race detector, which does not see memory
// accesses of assembly, plain Go computes everything. The results are the same bit for bit,
// whatever the length and alignment of a slice, except for the bits of a NaN. Products are rounded
// before they are added, except in the functions that say otherwise.
//
// Operands must be at least as long as dst. If one is shorter, a function panics before it sets
// anything; a function of rows may have set a part of dst. dst may be an operand; otherwise it must
// share no memory with one. Functions allocate nothing, but slices escape: an array that is passed
// as a slice is moved to the heap.
//
// [Exp], [Log], [Tanh] and [Sigmoid] are computed in float64, by polynomials and fused
// multiply-adds, and rounded once. For each of the 2^32 float32 the result equals the rounded
// result of package math. They are slow only on machines without FMA.
//
// Arithmetic and widening write a dst larger than half of the last-level cache past the cache,
// unless it is an operand. The old content of dst is then not read from memory, and the cache keeps
// its content.
//
// # Adding a function
//
//  1. Define it in plain.go or plain_functions.go.
//  2. Write its kernel in gen.
//  3. Add an [Op], or a field of the table in vector.go, and a line to the table in
//     vector_amd64.go.
//  4. Unless it is an Op, export it beside similar functions.
//  5. Name it in the tables of setup_test.go; the tests range over them.
//  6. Run go generate ./internal/vector.
//
// Safe for concurrent use on different slices.
package vector

//go:generate go run -C gen . -out ../vector_amd64.s -stubs ../stubs_amd64.go -pkg vector
