// Package shapeops is the arithmetic of shapes: what an operation on a tensor, or on a dictionary
// of tensors that share leading dims, does to sizes, strides and positions. It holds numbers only
// and moves no element.
//
//   - A [Shape] is a list of sizes. Its methods check an operation against it and return a [Plan].
//   - A [View] locates the elements of a shape within a buffer: strides and an offset.
//   - A [Plan] is an operation that has been checked against a shape. It applies to every View
//     whose shape begins with that shape, so that a dictionary plans once, on its batch shape, and
//     executes on each leaf. It says that the result is a view, or which rows it picks ([Frame]),
//     or of which pieces it is laid together ([Piece]).
//   - A [Reduction] says what becomes of a shape, and which dim each dim of the result was, where
//     many elements make one, as in a sum; it locates none.
//   - A [Pass] carries a plan over the values of a collection, with room for their numbers and a
//     place for what they share.
//   - [Rows] arranges numbered rows in a shape, for values that follow a batch without being dense.
//   - [Stack], [Cat], [PadSequence], [Split], [SplitBy], [SplitAt], [TensorSplit], [Chunk] and
//     [Unbind] are written here once, over what they need of a value. Tensors and dictionaries
//     alike satisfy it: Split(td, 0, 1, 3) is a []*TensorDict. [Batched] is what every kind of
//     value implements.
//
// Package ix below this one spells index expressions; package tensor above moves elements.
//
// # Notation
//
// Shapes are written outermost dim first: [B... T F] is a batch shape B..., then T, then F.
// Capitals are sizes, "->" reads "gives": Unsqueeze(0) does [B...] -> [1 B...]. A negative dim
// counts from the last, -1.
//
// # Rules
//
// They are torch's. In an index expression positions, ranges and new dims apply first. What is
// left, lists and masks, is broadcast together; its dims stand where the first of them stood if
// they were neighbours and come first if a dim (a new one counts) separated them. A single position
// is not a list, unlike in NumPy. After a mask over several dims, dims must be kept whole.
//
// # Memory and concurrency
//
// Plans and Views are immutable once made, and own their numbers: changing a shape or a list that
// they were made from changes nothing. Treat the slices that they return as read-only. Everything
// here is safe for concurrent use, but for Pass, which serves one operation, and for writing to
// Rows.
package shapeops
