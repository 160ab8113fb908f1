// Package naive does with nested loops what the other packages do with strides and plans. It is
// what their tests compare with: slow, obvious, and sharing no code with them but the spelling of
// an index expression.
//
// An [Array] is a shape and, row-major, a number for each element. A test mostly lets the numbers
// say where in some memory an element lies:
//
//	want, ok := naive.New(4, 3).Index(expr...) // want.At: which elements, want.Shape: arranged how
//
// Numbers of a batch shape serve for whole rows as well: if an operation on the batch shape moves
// element 7 to position 2, it moves row 7 of everything that has the batch shape to row 2.
//
// Nothing here changes an Array; every method returns a new one. Safe for concurrent use.
package naive
