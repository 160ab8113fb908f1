// Package shapeops is the arithmetic of shapes: what an operation on a tensor, or on a dictionary of tensors
// that share leading dims, does to sizes, strides and positions. It holds numbers only and moves no element.
//
//   - A [Shape] is a list of sizes. Its methods check an operation against it and return a [Plan].
//   - A [View] locates the elements of a shape within a buffer: strides and an offset.
//   - A [Plan] is an operation that has been checked against a shape. It applies to every View whose shape
//     begins with that shape, so that a dictionary plans once, on its batch shape, and executes on each leaf.
//   - [Stack], [Cat], [Split], [SplitBy], [Chunk] and [Unbind] are written here once, over what they need of a
//     value. Tensors and dictionaries alike satisfy it: Split(td, 0, 1, 3) is a []*TensorDict.
//
// Package ix below this one spells index expressions; package tensor above moves elements.
//
// # Notation
//
// Shapes are written outermost dim first: [B... T F] is a batch shape B..., then T, then F. Capitals are sizes,
// "->" reads "gives": Unsqueeze(0) does [B...] -> [1 B...]. A negative dim counts from the last, -1.
//
// # Rules
//
// They are torch's. In an index expression positions, ranges and new dims apply first. What is left, lists
// and masks, is broadcast together; its dims stand where the first of them stood if they were neighbours and
// come first if a dim (a new one counts) separated them. A single position is not a list, unlike in NumPy. Behind a
// mask over several dims, dims must be kept whole.
//
// # Memory and concurrency
//
// Plans and Views are immutable once made; treat the slices inside as read-only. Everything here is safe for
// concurrent use.
package shapeops
