// Package naive does the work of other packages with nested loops instead of strides and plans.
// Tests compare with it. It is slow and obvious, and shares no code with the packages under test
// except the syntax of index expressions.
//
// An [Array] is a shape and a number for each element, row-major. In most tests the numbers are the
// positions of elements in some memory:
//
//	want, ok := naive.New(4, 3).Index(expr...) // want.At: which elements; want.Shape: their shape
//
// With a batch shape, the numbers can stand for whole rows: if an operation on the batch shape
// moves element 7 to position 2, it moves row 7 of everything that has this batch shape to row 2.
//
// No method changes its Array; each returns a new one. Safe for concurrent use.
package naive
