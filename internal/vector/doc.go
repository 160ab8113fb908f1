// Package vector has functions of slices of numbers that go as fast as memory does: eight float32 at
// a time, where the machine can.
//
// plain.go defines every function in plain Go. On amd64 with AVX2, FMA and F16C, assembly does the
// whole vectors of a slice, and plain Go the rest. Elsewhere plain Go does all; so it does with the
// build tag noasm, and under the race detector, which does not see into assembly. Both have the same
// results, bit for bit but for the bits of a NaN, whatever a slice's length and place in memory. No
// product is fused with a sum but in the functions that say so.
//
// Slices are as long as dst, or longer; where they are shorter, a function panics before anything is
// set; a function of rows may have set some of dst. dst may be an operand; otherwise it shares no
// memory with one. Nothing is allocated.
//
// [Exp], [Log], [Tanh] and [Sigmoid] of float32 are computed in float64 by polynomials and fused
// multiplications, and rounded once: of all 2^32 float32 each result is that of package math,
// rounded. Only machines without FMA are slow at them.
//
// Results of more than half of the last cache, whose operands lie elsewhere, are written past the
// cache: memory need not be read to be written, and the rest of the cache stays.
//
// # A function more
//
// Define it in plain.go, write its kernel in gen, with a line in the table of vector.go and that of
// vector_amd64.go, export it beside its like, and name it in the tables of setup_test.go, which the
// tests go through. Then
//
//	go generate ./internal/vector
//
// Safe for concurrent use on different slices.
package vector

//go:generate go run -C gen . -out ../vector_amd64.s -stubs ../stubs_amd64.go -pkg vector
