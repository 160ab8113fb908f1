// Package plan describes in numbers what an operation does to values, before any element moves.
// Users of the library do not need it.
//
//	p, err := plan.Index(shape.Shape{4}, ix.Range(1, 4).Step(2)) // planned once
//	whole, err := shape.Contiguous(shape.Shape{4, 3})
//	part, ok, err := p.View(whole) // [2 3]: elements 3 4 5 and 9 10 11
//
// These are the types:
//
//   - A [Plan] is an operation that has been checked against a shape. Functions named after the
//     operation make it: [Index], [Reshape], [Flip]. It applies to every View whose shape begins
//     with that shape, so a dictionary plans once, on its batch shape, and executes the plan on
//     each leaf. The result is a view, or rows that the plan picks ([Frame]), or it is composed
//     of pieces ([Piece]).
//   - A [Join] is a plan to join several values along a dim: [Stack], [Cat], [Padded].
//   - A [Reduction] is the shape that results if many elements are combined into one, as in a
//     sum, and the original dim of each of its dims. It locates no elements.
//   - A [Pass] carries a plan over the values of a collection. It holds memory for their numbers
//     and the results that they share.
//   - [Rows] arranges numbered rows in a shape, for values that have a batch shape but are not
//     dense.
//
// Notation and rules are the same as in package shapeops.
//
// Plans are immutable, and own their numbers: changing a shape or a list that a plan was made from
// does not change the plan. Treat the slices that they return as read-only. Everything here is safe
// for concurrent use, except a Pass, which serves one operation, and writes to Rows.
package plan
