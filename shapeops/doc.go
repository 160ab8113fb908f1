// Package shapeops has operations on shape, such as Stack, Split and Flip. Each is one function for
// tensors, ragged tensors and dictionaries alike.
//
//	both, err := shapeops.Stack([]*tdict.TensorDict{a, b}, 0) // [2 B...]
//	all, err := shapeops.Cat([]*tensor.Tensor{x, y}, 0)       // [N+M F...]
//	parts, err := shapeops.Split(td, 0, 1, 3)                 // two dictionaries, of 1 and 3 rows
//	flipped, err := shapeops.Flip(td, 0)                      // a copy
//	err = shapeops.FlipInto(dst, td, 0)                       // into memory that the caller owns
//
// A function works on every type that satisfies its constraint:
//
//   - [Stack], [Cat] and [PadSequence] join values.
//   - [Split], [SplitBy], [SplitAt], [TensorSplit], [Chunk] and [Unbind] cut a value:
//     Split(td, 0, 1, 3) is a []*TensorDict.
//   - [Flip], [Roll], [Rot90], [Repeat], [Tile], [RepeatInterleave], [RepeatEach], [Unfold],
//     [Window] and [AtLeast] rearrange one value, or repeat or cut out parts of it; [SetWindow]
//     writes windows.
//
// A form with Into in its name fills a value that the caller owns. The common operations (Index,
// Reshape, Permute) are methods of the values. [Shape], [View] and their errors come from package
// shape; package ix, nested in this one, spells index expressions.
//
// # Notation
//
// Shapes are written outermost dim first: [B... T F] is a batch shape B..., then T, then F.
// Capitals are sizes, and "->" reads "gives": Unsqueeze(0) is [B...] -> [1 B...]. A negative dim
// counts from the last, -1.
//
// # Rules
//
// The rules are torch's. In an index expression positions, ranges and new dims apply first. Then
// lists and masks are broadcast together. Their dims replace them where they stood if they were
// neighbours; if another dim separated them (a new one counts), their dims come first. A single
// position is not a list, unlike in NumPy. After a mask over several dims, dims must be kept whole.
//
// # Concurrency
//
// Functions here are safe for concurrent use as readers of their operands are. Forms with Into in
// their names write to their first operand.
package shapeops
