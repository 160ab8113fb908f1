// Package plan says in numbers what an operation does to values, before any element moves. A user
// of the library meets none of it.
//
//	p, err := plan.Index(shape.Shape{4}, ix.Range(1, 4).Step(2)) // planned once
//	whole, err := shape.Contiguous(shape.Shape{4, 3})
//	part, ok, err := p.View(whole) // [2 3]: elements 3 4 5 and 9 10 11
//
// These are the types:
//
//   - A [Plan] is an operation that has been checked against a shape. Functions named after the
//     operation make it: [Index], [Reshape], [Flip]. It applies to every View whose shape begins
//     with that shape, so that a dictionary plans once, on its batch shape, and executes on each
//     leaf. It says that the result is a view, or which rows it picks ([Frame]), or of which pieces
//     it is laid together ([Piece]).
//   - A [Join] is a plan to lay several values side by side: [Stack], [Cat], [Padded].
//   - A [Reduction] says what becomes of a shape, and which dim each dim of the result was, where
//     many elements make one, as in a sum; it locates none.
//   - A [Pass] carries a plan over the values of a collection, with room for their numbers and a
//     place for what they share.
//   - [Rows] arranges numbered rows in a shape, for values that follow a batch without being dense.
//
// Notation and rules are those of package shapeops.
//
// Plans are immutable once made, and own their numbers: changing a shape or a list that they were
// made from changes nothing. Treat the slices that they return as read-only. Everything here is
// safe for concurrent use, but for Pass, which serves one operation, and for writing to Rows.
package plan
